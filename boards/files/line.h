// SPDX-License-Identifier: Apache-2.0
// The line to the command, as a file.
#ifndef WB_LINE_FILE_H
#define WB_LINE_FILE_H

#include <stddef.h>

enum { LINE = 3 };  // its descriptor, on each board

/// Reads what has come; writes all of it, and lets the first core's kernel run until there is room.
///
/// Context: outside of the kernels. Writing blocks.
/// Returns: how many bytes; of reading -1, with EAGAIN, when none has come.
int line_read(void *to, size_t bytes);
int line_write(const char *from, size_t bytes);

#endif
