// SPDX-License-Identifier: Apache-2.0
// Files of the machine that emulates or simulates the board, by numbers from 0 to HOST_FILES - 1.
// Each board realises these functions for files.c.
#ifndef WB_HOST_FILES_H
#define WB_HOST_FILES_H

#include <stddef.h>
#include <stdint.h>

enum { HOST_FILES = 64 };

#define HOST_POSITION UINT32_MAX  // as a place: where the last one ended, or host_seek() went

/// Every function takes any number, and answers with the number of a file or of bytes, or 0; a
/// negative answer is an errno: -EBADF if no file has this number, or a file cannot do this.
///
/// Context: any. Never blocks.
int host_open(const char *path, int flags);
int host_close(int file);
int host_read(int file, void *to, size_t bytes, uint32_t place);
int host_write(int file, const void *from, size_t bytes, uint32_t place);
int host_seek(int file, int place);
int host_bytes(int file);  // how long it is

/// Writes to the host's standard output (1) or error (2).
int host_print(int file, const char *from, size_t bytes);

#endif
