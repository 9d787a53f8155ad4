// SPDX-License-Identifier: Apache-2.0
// Lines of words from the command (docs/kernels-linux-protocol.md).
#ifndef WB_LINES_H
#define WB_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines {
    int fd;
    char *buffer;
    size_t used, room, next;  // next: where the unread part begins
    bool closed;              // the other side has gone, or a line was too long
};

struct words {
    char **word;
    uint32_t count, room;
};

/// Reads what is there; blocks only if `fd` does. Sets `closed` at the end of the stream.
void lines_read(struct lines *lines);

/// The next complete line, without its end; NULL when there is none yet. Valid until lines_read().
char *lines_next(struct lines *lines);

/// Splits a line at its spaces, in place, and undoes %XX. False when an escape is malformed.
bool words_split(struct words *words, char *line);

/// Parses a whole word as an unsigned number; WB_FOREVER for "forever".
bool words_number(const char *word, uint64_t *number);

void lines_free(struct lines *lines);
void words_free(struct words *words);

#endif
