// SPDX-License-Identifier: Apache-2.0
// The global timer of an MPCore, which is the clock of all cores, and the frequency at which it and
// the cores' own timers count: fixed_clock.c, or a file of the board.
#ifndef CORTEX_A9_MPCORE_CLOCK_H
#define CORTEX_A9_MPCORE_CLOCK_H

#include <stdint.h>

#include "map.h"

/// The frequency in Hz, a multiple of a MHz.
///
/// Context: any, after clock_begin(). Never blocks.
uint32_t clock_hz(void);

/// Finds the frequency out. Called again, it does nothing.
///
/// Context: the first core, after the clock was started and before any kernel. Blocks for some
/// milliseconds where it has to measure.
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
