// SPDX-License-Identifier: Apache-2.0
// Files that are created on the machine that simulates the board, by their numbers there.
#ifndef HOST_FILES_H
#define HOST_FILES_H

#include <stdint.h>

/// What the host answers: a number of a file, of bytes, or 0; a negative one is an errno, -EROFS
/// where it has no files for the board.
///
/// Context: any. Never blocks. What is written lies in the RAM.
int host_create(const char *path);
int host_write(int file, const void *from, uint32_t bytes, uint32_t place);
int host_close(int file);

#endif
