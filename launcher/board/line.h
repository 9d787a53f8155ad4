// SPDX-License-Identifier: Apache-2.0
// The line to the command, as a file.
#ifndef WB_LINE_FILE_H
#define WB_LINE_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { LINE = 3 };  // its descriptor, on each board

/// Reads what has come; writes all of it, and lets the first core's kernel run until there is room.
///
/// Context: outside of the kernels. Writing blocks.
/// Returns: how many bytes; of reading -1, with EAGAIN, when none has come.
int line_read(void *to, size_t bytes);
int line_write(const char *from, size_t bytes);

/// How many bytes it takes without waiting.
size_t line_room(void);

/// Waits until the command has all that was written, or counts as gone: a command that has not
/// spoken yet after 5 s, any other one after 15 s of silence. `may_sleep`: interrupts come.
///
/// Context: outside of the kernels. Blocks for as long as the command takes.
void line_drain(bool may_sleep);

/// True when another command has begun to speak: this run is nobody's any more.
bool line_is_replaced(void);

/// True when a command has asked to start that does not know the line's checksums; once for each
/// time that it asks.
bool line_has_old_command(void);

/// Sends bytes as they are, to a command that does not know the line's checksums.
void line_write_plainly(const char *from, size_t bytes);

#endif
