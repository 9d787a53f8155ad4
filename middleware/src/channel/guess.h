// SPDX-License-Identifier: Apache-2.0
// What is expected of a time, by those that were seen: RFC 6298, in integers that lose nothing.
// Needs no floating point, and has the same bits on every machine.
#ifndef WB_GUESS_H
#define WB_GUESS_H

#include "wb/bell.h"

enum { GUESS_SEEN_MAX = 1 << 20 };

static inline uint64_t guess_mean(const struct wb_guess *guess)
{
    return guess->mean_8th_ns >> 3;
}

static inline uint64_t guess_spread(const struct wb_guess *guess)
{
    return guess->spread_4th_ns >> 2;
}

/// Takes one more time that was seen into account.
static inline void guess_learn(struct wb_guess *guess, uint64_t ns)
{
    const uint64_t mean = guess_mean(guess);
    const uint64_t off = ns > mean ? ns - mean : mean - ns;

    if (guess->n == 0) {
        guess->mean_8th_ns = ns << 3;
        guess->spread_4th_ns = ns << 1;  // half of it, as nothing is known yet
    } else {
        // An eighth and a quarter of what they are off.
        guess->mean_8th_ns = ns > mean ? guess->mean_8th_ns + off : guess->mean_8th_ns - off;
        guess->spread_4th_ns += off - guess_spread(guess);
    }
    guess->n += guess->n < GUESS_SEEN_MAX;
}

/// How long after it is expected to look for something that is off by `spread_ns` in the mean: by
/// then it should be there, unless it is later than nearly ever. Never more than half of
/// `bound_ns`: then as much comes up to that bound before the look as can.
static inline uint64_t guess_margin(uint64_t spread_ns, uint64_t bound_ns)
{
    const uint64_t margin_ns = 2 * spread_ns + bound_ns / 32;

    return margin_ns < bound_ns / 2 ? margin_ns : bound_ns / 2;
}

#endif
