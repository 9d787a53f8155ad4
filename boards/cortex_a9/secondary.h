// SPDX-License-Identifier: Apache-2.0
// How the first core makes the others wait until the page tables are there: flags.c, or a file of
// the board. All of these run with the MMU off, and without private memory.
#ifndef CORTEX_A9_SECONDARY_H
#define CORTEX_A9_SECONDARY_H

/// Holds the other cores, also after a reset of the first alone, unless the board's file excludes
/// that.
///
/// Context: the first core. Never blocks.
void secondary_hold(void);

/// Lets the other cores begin at _start, or return from secondary_wait().
///
/// Context: the first core. Never blocks.
void secondary_release(void);

/// Returns when the first core has released this one.
///
/// Context: any core except the first. Blocks.
void secondary_wait(void);

#endif
