// SPDX-License-Identifier: Apache-2.0
// How the first core has the others wait until the page tables are made: flags.c, or a board's own.
#ifndef CORTEX_A9_SECONDARY_H
#define CORTEX_A9_SECONDARY_H

/// Holds the other cores, also after a reset of the first alone.
///
/// Context: the first core, with the MMU off and without private memory, as for all of these.
void secondary_hold(void);

/// Has them begin at _start, or go on from there.
void secondary_release(void);

/// Returns when the first core has released this one.
void secondary_wait(void);

#endif
