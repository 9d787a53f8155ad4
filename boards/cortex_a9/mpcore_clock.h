// SPDX-License-Identifier: Apache-2.0
// The clock of an MPCore, and at which frequency it counts, as its timers do: fixed_clock.c, or a
// board's own.
#ifndef CORTEX_A9_MPCORE_CLOCK_H
#define CORTEX_A9_MPCORE_CLOCK_H

#include <stdint.h>

#include "map.h"

/// The frequency in Hz, a multiple of a MHz.
///
/// Context: any, after clock_begin().
uint32_t clock_hz(void);

/// Finds it out.
///
/// Context: the first core; the clock counts, and no kernel has begun.
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
