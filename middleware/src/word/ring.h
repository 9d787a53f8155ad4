// SPDX-License-Identifier: Apache-2.0
// Index arithmetic of a ring of `n` slots whose indices run through 0 .. 2n - 1.
#ifndef WB_RING_H
#define WB_RING_H

#include <stdint.h>

static inline uint32_t ring_next(uint32_t index, uint32_t n)
{
    return index + 1 == 2 * n ? 0 : index + 1;
}

static inline uint32_t ring_slot(uint32_t index, uint32_t n)
{
    return index < n ? index : index - n;
}

// How many steps lead from one index to another.
static inline uint32_t ring_distance(uint32_t from, uint32_t to, uint32_t n)
{
    return to >= from ? to - from : to + 2 * n - from;
}

#endif
