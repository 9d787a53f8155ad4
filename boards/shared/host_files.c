// SPDX-License-Identifier: Apache-2.0
// Files of the host, by semihosting. Where nothing answers there are none, and the board's line
// shows what is printed.

#include <errno.h>
#include <fcntl.h>

#include "arm_board.h"
#include "host_files.h"
#include "semihosting.h"
#include "wb/word.h"

// Globally visible. `handle`: the host's + 1, 0: not open.
static struct {
    struct wb_compared holder;  // core + 1, 0: nobody; who holds it stores it
    uint32_t handle[HOST_FILES];
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

void files_let_go(uint32_t core)
{
    if (wb_word_load(&files.holder, WB_RELAXED) == core + 1)
        wb_word_store(&files.holder, 0, WB_RELEASE);
}

static void unlock(uint32_t irq_state)
{
    wb_word_store(&files.holder, 0, WB_RELEASE);
    board_irq_restore(irq_state);
}

// ---- Their numbers ------------------------------------------------------------------------------

// The host's handle; -1: there is none.
static int handle_of(int file)
{
    return file >= 0 && file < HOST_FILES ? (int)files.handle[file] - 1 : -1;
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
    for (int i = 0; i < HOST_FILES; i++)
        if (files.handle[i] == 0) {
            files.handle[i] = (uint32_t)handle + 1;
            return i;
        }
    semihosting_close(handle);
    return -EMFILE;
}

int host_open(const char *path, int flags)
{
    const uint32_t irq_state = lock();
    const int handle = semihosting_open(path, mode_of(flags));
    const int file = handle >= 0 ? enter(handle) : -semihosting_errno();

    unlock(irq_state);
    return file;
}

int host_close(int file)
{
    const int handle = handle_of(file);

    if (handle < 0)
        return -EBADF;
    files.handle[file] = 0;
    return semihosting_close(handle);
}

// ---- Reading and writing ------------------------------------------------------------------------

static int transfer(int file, bool writes, void *bytes, size_t n, uint32_t place)
{
    const int handle = handle_of(file);
    int done = -EINVAL;

    if (handle < 0)
        return -EBADF;
    const uint32_t irq_state = place != HOST_POSITION ? lock() : 0;
    if (place == HOST_POSITION || semihosting_seek(handle, (int)place) == 0)
        done = writes ? semihosting_write(handle, bytes, (int)n)
                      : semihosting_read(handle, bytes, (int)n);
    if (place != HOST_POSITION)
        unlock(irq_state);
    return done;
}

int host_read(int file, void *to, size_t bytes, uint32_t place)
{
    return transfer(file, false, to, bytes, place);
}

int host_write(int file, const void *from, size_t bytes, uint32_t place)
{
    return transfer(file, true, (void *)(uintptr_t)from, bytes, place);
}

int host_seek(int file, int place)
{
    const int handle = handle_of(file);

    return handle < 0 ? -EBADF : semihosting_seek(handle, place);
}

int host_bytes(int file)
{
    const int handle = handle_of(file);

    return handle < 0 ? -EBADF : semihosting_bytes(handle);
}

int host_print(int file, const char *from, size_t bytes)
{
    if (semihosting_answers())
        return semihosting_print(file, from, (int)bytes);
    const uint32_t irq_state = lock();
    uart_print(from, bytes);
    unlock(irq_state);
    return (int)bytes;
}
