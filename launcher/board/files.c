// SPDX-License-Identifier: Apache-2.0
// What the C library calls for files: those that are linked into the image, which only are read;
// those of the host; the line to the command; and what is printed. A descriptor is the same on all
// cores, as is the file's position: tasks that use pread() and pwrite() may move freely.

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host_files.h"
#include "line.h"
#include "linked_files.h"

enum { HOST_FIRST = 128 };  // descriptors below are of others

static int answered(int answer)
{
    if (answer >= 0)
        return answer;
    errno = -answer;
    return -1;
}

int open(const char *path, int flags, ...)
{
    const int linked = (flags & O_ACCMODE) == O_RDONLY ? linked_open(path) : -1;

    if (linked >= 0)
        return linked;
    const int file = answered(host_open(path, flags));
    return file >= 0 ? HOST_FIRST + file : file;
}

int close(int file)
{
    return linked_is(file) ? 0 : answered(host_close(file - HOST_FIRST));
}

ssize_t read(int file, void *to, size_t bytes)
{
    if (file == LINE)
        return line_read(to, bytes);
    return linked_is(file) ? linked_read(file, to, bytes)
                           : answered(host_read(file - HOST_FIRST, to, bytes, HOST_POSITION));
}

ssize_t write(int file, const void *from, size_t bytes)
{
    if (file == LINE)
        return line_write(from, bytes);
    if (file == STDOUT_FILENO || file == STDERR_FILENO)
        return host_print(file, from, bytes);
    return answered(host_write(file - HOST_FIRST, from, bytes, HOST_POSITION));
}

ssize_t pread(int file, void *to, size_t bytes, off_t place)
{
    return linked_is(file) ? linked_pread(file, to, bytes, (uint32_t)place)
                           : answered(host_read(file - HOST_FIRST, to, bytes, (uint32_t)place));
}

ssize_t pwrite(int file, const void *from, size_t bytes, off_t place)
{
    return answered(host_write(file - HOST_FIRST, from, bytes, (uint32_t)place));
}

static int bytes_of(int file)
{
    return linked_is(file) ? (int)linked_bytes(file) : answered(host_bytes(file - HOST_FIRST));
}

static bool seek(int file, int place)
{
    if (!linked_is(file))
        return host_seek(file - HOST_FIRST, place) == 0;
    linked_seek(file, (uint32_t)place);
    return place >= 0;
}

// A host tells no position: only the end can be found.
off_t lseek(int file, off_t offset, int from)
{
    if (file <= LINE)
        return 0;
    const int bytes = from == SEEK_END ? bytes_of(file) : 0, place = bytes + (int)offset;
    if (bytes < 0)
        return -1;
    if (from != SEEK_CUR && seek(file, place))
        return place;
    errno = EINVAL;
    return -1;
}

int fstat(int file, struct stat *out)
{
    const int bytes = file > LINE ? bytes_of(file) : 0;

    if (bytes < 0)
        return -1;
    memset(out, 0, sizeof *out);
    out->st_mode = file > LINE ? S_IFREG : S_IFCHR;
    out->st_size = bytes;
    return 0;
}

int isatty(int file)
{
    return file <= STDERR_FILENO;
}
