// SPDX-License-Identifier: Apache-2.0
#include "line.h"

#include <errno.h>

#include "board.h"
#include "outside.h"

int line_read(void *to, size_t bytes)
{
    const size_t n = board_line_read(to, bytes);

    if (n != 0)
        return (int)n;
    errno = EAGAIN;
    return -1;
}

int line_write(const char *from, size_t bytes)
{
    for (size_t sent = 0; sent < bytes;) {
        const size_t n = board_line_write(from + sent, bytes - sent);
        if (n == 0)
            outside_rest();
        sent += n;
    }
    return (int)bytes;
}
