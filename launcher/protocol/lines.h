// SPDX-License-Identifier: Apache-2.0
// Lines from the command (docs/kernels-linux-protocol.md).
#ifndef WB_LINES_H
#define WB_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines {
    int fd;
    size_t most;  // bytes of a line
    char *buffer;
    size_t used, room, next;  // next: where the unread part begins
    size_t looked;            // up to where that has no end of a line
    bool closed;              // the other side has gone, or a line was too long
};

/// Reads what is there; blocks only if `fd` does. Sets `closed` at the end of the stream.
void lines_read(struct lines *lines);

/// The next complete line, without its end; NULL when there is none yet. Valid until lines_read().
char *lines_next(struct lines *lines, size_t *bytes);

/// Gives back the memory of lines that were read: those after them are shorter.
void lines_shrink(struct lines *lines);

/// Passes over what is there: a line that was too long has closed them.
void lines_forget(struct lines *lines);

void lines_free(struct lines *lines);

#endif
