// SPDX-License-Identifier: Apache-2.0
// Times are counted in buckets, each a thirty-second part of a power of two wide, with their sum:
// so times that are all alike are told exactly.
#ifndef WB_BUCKETS_H
#define WB_BUCKETS_H

#include <stdint.h>

enum { PART_BITS = 5, PARTS = 1 << PART_BITS, BUCKETS = (64 - PART_BITS + 1) * PARTS };

struct wb_bucket {
    uint64_t n, sum_ns;
};

static inline uint32_t bucket_of(uint64_t ns)
{
    if (ns < PARTS)
        return (uint32_t)ns;
    const uint32_t shift = 63 - PART_BITS - (uint32_t)__builtin_clzll(ns);
    return (shift << PART_BITS) + (uint32_t)(ns >> shift);
}

/// The shortest time of a bucket.
static inline uint64_t bucket_from(uint32_t bucket)
{
    if (bucket >= BUCKETS)
        return UINT64_MAX;
    return bucket < PARTS ? bucket : (uint64_t)(bucket % PARTS + PARTS) << (bucket / PARTS - 1);
}

static inline void bucket_add(struct wb_bucket *to, uint64_t n, uint64_t sum_ns)
{
    to->n += n;
    to->sum_ns += sum_ns;
}

#endif
