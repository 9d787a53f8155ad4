// SPDX-License-Identifier: Apache-2.0
// The global timer of an MPCore, which is the clock of all cores, and the frequency at which it and
// the cores' own timers count: fixed_clock.c, or found_clock.c with a file of the board.
#ifndef CORTEX_A9_MPCORE_CLOCK_H
#define CORTEX_A9_MPCORE_CLOCK_H

#include <stdint.h>

#include "map.h"

/// The frequency in Hz.
///
/// Context: any, after clock_begin(). Never blocks.
uint32_t clock_hz(void);

/// Of the board, for found_clock.c: finds the frequency out. If it cannot, `*wrong` becomes a
/// sentence that says why, for whose printing the usual frequency serves.
///
/// Context: that of clock_begin().
uint32_t clock_find_hz(const char **wrong);

/// Finds the frequency out. Called again, it does nothing.
///
/// Context: the first core, after the clock was started and before any kernel. Blocks for some
/// milliseconds where it has to measure. Where it cannot be found out, the board fails.
void clock_begin(void);

static inline uint32_t clock_high(void)
{
    return *(volatile uint32_t *)(MAP_GLOBAL_TIMER + 4);
}

static inline uint64_t clock_counts(void)
{
    uint32_t high, low;

    do {
        high = clock_high();
        low = *(volatile uint32_t *)MAP_GLOBAL_TIMER;
    } while (high != clock_high());
    return (uint64_t)high << 32 | low;
}

#endif
