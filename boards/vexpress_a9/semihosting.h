// SPDX-License-Identifier: Apache-2.0
// Input, output and the end of a program by the debugger or emulator (Arm semihosting 2.0).
#ifndef SEMIHOSTING_H
#define SEMIHOSTING_H

#include <stddef.h>

/// The words of the command line, in `words`: how many.
int semihosting_arguments(char *words, size_t bytes, char **argv, int most);

#endif
