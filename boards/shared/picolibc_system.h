// SPDX-License-Identifier: Apache-2.0
// What picolibc asks of a board besides files, and a board of what gives it to picolibc.
#ifndef PICOLIBC_SYSTEM_H
#define PICOLIBC_SYSTEM_H

#include <stdint.h>

// What has been printed of a line that has not ended.
struct line {
    char text[200];
    uint32_t bytes;
};

// ---- The board provides -------------------------------------------------------------------------

/// The line of whoever prints: nobody else writes there meanwhile.
struct line *library_line(void);

/// Which core this is.
uint32_t library_core(void);

// ---- The board may call -------------------------------------------------------------------------

/// Frees the lock of the C library of a core that has been stopped.
void library_let_go(uint32_t core);

#endif
