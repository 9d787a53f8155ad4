// SPDX-License-Identifier: Apache-2.0
// What the tests of the filters share: numbers that look random, and levels in decibels.
#ifndef FM_SIGNALS_H
#define FM_SIGNALS_H

#include <math.h>
#include <stdint.h>

static const double pi = 3.14159265358979323846;

static inline uint32_t random_next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

// A piece of a stream: 1 to 300 samples, but never more than are left.
static inline uint32_t piece_length(uint32_t *seed, uint32_t left)
{
    const uint32_t n = 1 + random_next(seed) % 300;

    return n < left ? n : left;
}

static inline double decibels(double power)
{
    return 10 * log10(power + 1e-30);
}

#endif
