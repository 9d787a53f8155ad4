// SPDX-License-Identifier: Apache-2.0
// How a file is read at a place, whatever interrupts it.
#ifndef APPS_READ_AT_H
#define APPS_READ_AT_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

/// Reads up to `bytes` at `place`, without moving the file's position.
///
/// Context: any thread; blocks as a file does.
/// Returns: how many, fewer only where the file ends; -1 with errno.
static inline int64_t read_at(int fd, void *data, size_t bytes, uint64_t place)
{
    size_t got = 0;

    while (got < bytes) {
        const ssize_t n = pread(fd, (char *)data + got, bytes - got, (off_t)(place + got));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (int64_t)got;
}

#endif
