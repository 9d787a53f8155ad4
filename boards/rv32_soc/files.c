// SPDX-License-Identifier: Apache-2.0
// Files: those that are linked into the image, which only are read; those of the host that are
// created and written; the line to the command; and what is printed. A descriptor is the same on
// all cores.

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_files.h"
#include "line.h"
#include "linked_files.h"
#include "rv32_soc.h"

// Descriptors below HOST_FIRST are of others.
enum { HOST_FIRST = 128, HOST_FILES = 64 };

// Globally visible: where write() goes on. A file that is written so has one writer at a time.
static uint32_t position[HOST_FILES] __attribute__((section(".gvm")));

static int fail(int number)
{
    errno = number;
    return -1;
}

static bool host_is(int file)
{
    return file >= HOST_FIRST && file < HOST_FIRST + HOST_FILES;
}

static int answered(int answer)
{
    return answer >= 0 ? answer : fail(-answer);
}

// The host makes a file anew, and nothing of it can be read.
static int create(const char *path, int flags)
{
    const int made = O_CREAT | O_TRUNC;

    if ((flags & O_ACCMODE) != O_WRONLY || (flags & made) != made)
        return fail(EROFS);
    const int file = answered(host_create(path));
    if (file < 0)
        return file;
    position[file] = 0;
    return HOST_FIRST + file;
}

int open(const char *path, int flags, ...)
{
    if ((flags & O_ACCMODE) != O_RDONLY)
        return create(path, flags);
    const int file = linked_open(path);
    return file >= 0 ? file : fail(ENOENT);
}

int close(int file)
{
    if (host_is(file))
        return answered(host_close(file - HOST_FIRST));
    return linked_is(file) ? 0 : fail(EBADF);
}

static ssize_t print(const char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        REGISTER(SOC_SYSTEM_BASE + SYSTEM_CONSOLE) = (unsigned char)from[i];
    return (ssize_t)bytes;
}

ssize_t read(int file, void *to, size_t bytes)
{
    if (file == LINE)
        return line_read(to, bytes);
    return linked_is(file) ? linked_read(file, to, bytes) : fail(EBADF);
}

ssize_t write(int file, const void *from, size_t bytes)
{
    if (file == LINE)
        return line_write(from, bytes);
    if (file == STDOUT_FILENO || file == STDERR_FILENO)
        return print(from, bytes);
    if (!host_is(file))
        return fail(EBADF);
    const int n = answered(host_write(file - HOST_FIRST, from, bytes, position[file - HOST_FIRST]));
    if (n > 0)
        position[file - HOST_FIRST] += (uint32_t)n;
    return n;
}

ssize_t pread(int file, void *to, size_t bytes, off_t place)
{
    return linked_is(file) ? linked_pread(file, to, bytes, (uint32_t)place) : fail(EBADF);
}

ssize_t pwrite(int file, const void *from, size_t bytes, off_t place)
{
    if (!host_is(file))
        return fail(EBADF);
    return answered(host_write(file - HOST_FIRST, from, bytes, (uint32_t)place));
}

off_t lseek(int file, off_t offset, int from)
{
    if (!linked_is(file))
        return file <= LINE ? 0 : fail(EBADF);
    const off_t place = from == SEEK_END ? (off_t)linked_bytes(file) + offset : offset;
    if (from == SEEK_CUR || place < 0)
        return fail(EINVAL);
    linked_seek(file, (uint32_t)place);
    return place;
}

int fstat(int file, struct stat *out)
{
    if (!linked_is(file) && file > LINE)
        return fail(EBADF);
    memset(out, 0, sizeof *out);
    out->st_mode = linked_is(file) ? S_IFREG : S_IFCHR;
    out->st_size = linked_is(file) ? (off_t)linked_bytes(file) : 0;
    return 0;
}

int isatty(int file)
{
    return file <= STDERR_FILENO;
}
