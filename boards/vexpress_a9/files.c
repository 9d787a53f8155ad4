// SPDX-License-Identifier: Apache-2.0
// Files of the host, by semihosting, and those that are linked into the image, which only are read.
// A descriptor is the same on all cores, as is the file's position: tasks that use pread() and
// pwrite() may move freely.

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board_a9.h"
#include "line.h"
#include "linked_files.h"
#include "semihosting.h"
#include "wb/word.h"

enum { FIRST = LINE + 1, FILES = 32 };

// Globally visible. `handle`: the host's + 1, 0: not open.
static struct {
    struct wb_compared holder;  // core + 1, 0: nobody; who holds it stores it
    uint32_t handle[FILES];
} files __attribute__((section(".gvm")));

// ---- Between cores ------------------------------------------------------------------------------

// One core at a time, and no other task of it: a position is set, and then used. Whoever is fenced
// off holds nothing any more.
static uint32_t lock(void)
{
    const uint32_t irq_state = board_irq_save(), self = board_core() + 1;

    // What the last holder did to the file's position is seen here.
    for (uint32_t holder = 0;
         !wb_word_compare_swap(&files.holder, &holder, self, WB_ACQUIRE, WB_RELAXED);)
        if (holder != 0 && !mmu_is_fenced(holder - 1)) {
            board_relax();
            holder = 0;
        }
    return irq_state;
}

// A core that was killed inside holds the lock still, and would no longer be fenced off.
void files_reset(void)
{
    wb_word_store(&files.holder, 0, WB_RELEASE);
}

static void unlock(uint32_t irq_state)
{
    wb_word_store(&files.holder, 0, WB_RELEASE);
    board_irq_restore(irq_state);
}

// ---- Descriptors --------------------------------------------------------------------------------

static int fail(int number)
{
    errno = number;
    return -1;
}

// The host's handle; -1: there is none.
static int handle_of(int file)
{
    return file >= FIRST && file < FIRST + FILES ? (int)files.handle[file - FIRST] - 1 : -1;
}

// As fopen() calls them: "rb", "r+b", "wb", "w+b", "ab", "a+b".
static int mode_of(int flags)
{
    const int base = (flags & O_APPEND) != 0  ? SEMIHOSTING_APPEND
                     : (flags & O_TRUNC) != 0 ? SEMIHOSTING_WRITE
                                              : SEMIHOSTING_READ;

    return base + ((flags & O_ACCMODE) == O_RDWR ? SEMIHOSTING_BOTH : 0);
}

static int enter(int handle)
{
    for (int i = 0; i < FILES; i++)
        if (files.handle[i] == 0) {
            files.handle[i] = (uint32_t)handle + 1;
            return FIRST + i;
        }
    semihosting_close(handle);
    return fail(EMFILE);
}

int _open(const char *path, int flags, int mode)
{
    (void)mode;
    const int linked = (flags & O_ACCMODE) == O_RDONLY ? linked_open(path) : -1;

    if (linked >= 0)
        return linked;
    const uint32_t irq_state = lock();
    const int handle = semihosting_open(path, mode_of(flags));
    const int file = handle >= 0 ? enter(handle) : fail(semihosting_errno());

    unlock(irq_state);
    return file;
}

int _close(int file)
{
    const int handle = handle_of(file);

    if (linked_is(file))
        return 0;
    if (handle < 0)
        return fail(EBADF);
    files.handle[file - FIRST] = 0;
    return semihosting_close(handle);
}

// ---- Reading and writing ------------------------------------------------------------------------

int _read(int file, char *to, int bytes)
{
    const int handle = handle_of(file);

    if (file == LINE)
        return line_read(to, (size_t)bytes);
    if (linked_is(file))
        return linked_read(file, to, (size_t)bytes);
    return handle >= 0 ? semihosting_read(handle, to, bytes) : fail(EBADF);
}

int _write(int file, const char *from, int bytes)
{
    const int handle = handle_of(file);

    if (file == LINE)
        return line_write(from, (size_t)bytes);
    if (file == STDOUT_FILENO || file == STDERR_FILENO)
        return semihosting_print(file, from, bytes);
    return handle >= 0 ? semihosting_write(handle, from, bytes) : fail(EBADF);
}

ssize_t pread(int file, void *to, size_t bytes, off_t place)
{
    const int handle = handle_of(file);

    if (linked_is(file))
        return linked_pread(file, to, bytes, (uint32_t)place);
    if (handle < 0)
        return fail(EBADF);
    const uint32_t irq_state = lock();
    const int n = semihosting_seek(handle, place) == 0 ? semihosting_read(handle, to, (int)bytes)
                                                       : fail(EINVAL);
    unlock(irq_state);
    return n;
}

ssize_t pwrite(int file, const void *from, size_t bytes, off_t place)
{
    const int handle = handle_of(file);

    if (handle < 0)
        return fail(EBADF);
    const uint32_t irq_state = lock();
    const int n = semihosting_seek(handle, place) == 0 ? semihosting_write(handle, from, (int)bytes)
                                                       : fail(EINVAL);
    unlock(irq_state);
    return n;
}

// ---- What is known of one -----------------------------------------------------------------------

static int bytes_of(int file)
{
    return linked_is(file) ? (int)linked_bytes(file) : semihosting_bytes(handle_of(file));
}

static bool seek(int file, int place)
{
    if (!linked_is(file))
        return semihosting_seek(handle_of(file), place) == 0;
    linked_seek(file, (uint32_t)place);
    return place >= 0;
}

// The host tells no position: only the end can be found.
int _lseek(int file, int offset, int from)
{
    if (handle_of(file) < 0 && !linked_is(file))
        return file <= LINE ? 0 : fail(EBADF);
    const int place = from == SEEK_END ? bytes_of(file) + offset : offset;
    if (from == SEEK_CUR || !seek(file, place))
        return fail(EINVAL);
    return place;
}

int _fstat(int file, struct stat *out)
{
    const bool is_file = handle_of(file) >= 0 || linked_is(file);

    if (!is_file && file > LINE)
        return fail(EBADF);
    memset(out, 0, sizeof *out);
    out->st_mode = is_file ? S_IFREG : S_IFCHR;
    out->st_size = is_file ? bytes_of(file) : 0;
    return 0;
}

int _isatty(int file)
{
    return file <= STDERR_FILENO;
}
