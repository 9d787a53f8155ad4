// SPDX-License-Identifier: Apache-2.0
// Input, output and the end of a program by the debugger or emulator (Arm semihosting 2.0). Where
// nothing answers, every function fails.
#ifndef SEMIHOSTING_H
#define SEMIHOSTING_H

#include <stdbool.h>
#include <stddef.h>

// How a file is opened; SEMIHOSTING_BOTH more: to read and to write.
enum {
    SEMIHOSTING_READ = 1,
    SEMIHOSTING_WRITE = 5,
    SEMIHOSTING_APPEND = 9,
    SEMIHOSTING_BOTH = 2,
};

/// Finds out whether a debugger or emulator answers; true from then on, on all cores, if so.
///
/// Context: the first core, with interrupts off, before any other function of these.
void semihosting_begin(void);
bool semihosting_answers(void);

/// The words of the command line, in `words`: how many.
int semihosting_arguments(char *words, size_t bytes, char **argv, int most);

/// Ends the program, and the emulator. Where nothing answers, all cores sleep (board_halt()).
_Noreturn void semihosting_exit(int status);

/// Files of the host. Handles are the same on all cores. Reading and writing return how many bytes
/// it was, at the file's position; the others 0 or -1.
int semihosting_open(const char *path, int mode);
int semihosting_close(int handle);
int semihosting_read(int handle, void *to, int bytes);
int semihosting_write(int handle, const void *from, int bytes);
int semihosting_seek(int handle, int place);

/// How long a file is; -1: it is not known.
int semihosting_bytes(int handle);

/// Why the last one failed, as the host says.
int semihosting_errno(void);

/// Writes to the host's standard output (1) or error (2).
int semihosting_print(int file, const char *from, int bytes);

#endif
