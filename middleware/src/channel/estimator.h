// SPDX-License-Identifier: Apache-2.0
// What is expected of a time, by those that were seen: RFC 6298, in integers that lose nothing.
// Needs no floating point, and has the same bits on every machine.
#ifndef WB_ESTIMATOR_H
#define WB_ESTIMATOR_H

#include "wb/channel.h"

enum { ESTIMATOR_SEEN_MAX = 1 << 20 };

static inline uint64_t estimator_mean(const struct wb_estimator *estimator)
{
    return estimator->mean_8th_ns >> 3;
}

static inline uint64_t estimator_spread(const struct wb_estimator *estimator)
{
    return estimator->spread_4th_ns >> 2;
}

/// Takes one more time that was seen into account.
static inline void estimator_learn(struct wb_estimator *estimator, uint64_t ns)
{
    const uint64_t mean = estimator_mean(estimator);
    const uint64_t off = ns > mean ? ns - mean : mean - ns;

    if (estimator->n == 0) {
        estimator->mean_8th_ns = ns << 3;
        estimator->spread_4th_ns = ns << 1;  // half of it, as nothing is known yet
    } else {
        // An eighth and a quarter of what they are off.
        estimator->mean_8th_ns =
            ns > mean ? estimator->mean_8th_ns + off : estimator->mean_8th_ns - off;
        estimator->spread_4th_ns += off - estimator_spread(estimator);
    }
    estimator->n += estimator->n < ESTIMATOR_SEEN_MAX;
}

/// How long after it is expected to look for something that is off by `spread_ns` in the mean: by
/// then it should be there, unless it is later than nearly ever. Never more than half of
/// `bound_ns`: then as much comes up to that bound before the look as can.
static inline uint64_t estimator_margin(uint64_t spread_ns, uint64_t bound_ns)
{
    const uint64_t margin_ns = 2 * spread_ns + bound_ns / 32;

    return margin_ns < bound_ns / 2 ? margin_ns : bound_ns / 2;
}

#endif
