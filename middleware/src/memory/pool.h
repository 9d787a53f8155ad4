// SPDX-License-Identifier: Apache-2.0
// The pool of shared memory: pages, claimed in extents of 2^order, aligned to their length.
//
// Who has what is one bit per page. Extents of up to 32 are claimed by one compare-and-swap on one
// word, so a bit that is set again by another means just what it says and the ABA problem does not
// arise; neighbours that are given back are one again without a step for it. Longer runs take their
// words one by one, in ascending order: of two that overlap, the first at their first common word
// goes on, and the other puts back what it had.
#ifndef WB_POOL_H
#define WB_POOL_H

#include "kingsley.h"

enum { POOL_WORD_ORDER = 5, POOL_NONE = -1, POOL_PAGE_CLASS = 7 };

_Static_assert(WB_POOL_PAGE_BYTES == 1 << (KINGSLEY_FIRST_LOG2 + POOL_PAGE_CLASS),
               "a block of this class fills a granule");

// How many pages an extent of a class has, as a power of two.
static inline uint32_t pool_order(uint32_t size_class)
{
    return size_class > POOL_PAGE_CLASS ? size_class - POOL_PAGE_CLASS : 0;
}

static inline size_t pool_extent_bytes(uint32_t size_class)
{
    return (size_t)WB_POOL_PAGE_BYTES << pool_order(size_class);
}

// The bits of 2^order pages from `at`; order at most 5.
static inline uint32_t pool_mask(uint32_t order, uint32_t at)
{
    return (uint32_t)((UINT64_C(1) << (1u << order)) - 1) << at;
}

// The lowest place in a word where 2^order aligned bits are all clear, or POOL_NONE.
static inline int pool_find(uint32_t word, uint32_t order)
{
    static const uint32_t aligned[] = { 0xffffffff, 0x55555555, 0x11111111,
                                        0x01010101, 0x00010001, 0x00000001 };
    uint32_t clear = ~word;

    // Bit i stays if the bits from i to i + 2^(o + 1) - 1 were clear.
    for (uint32_t o = 0; o < order; o++)
        clear &= clear >> (1u << o);
    clear &= aligned[order];
    return clear != 0 ? __builtin_ctz(clear) : POOL_NONE;
}

// What is kept of the page at an address of the pool: of an extent if one begins there.
static inline struct wb_extent *pool_extent(const struct wb_pool *pool, const void *address)
{
    return &pool->extents[((uintptr_t)address - (uintptr_t)pool->base) / WB_POOL_PAGE_BYTES];
}

static inline bool pool_contains(const struct wb_pool *pool, const void *address)
{
    return (uintptr_t)address - (uintptr_t)pool->base < pool->bytes;
}

static inline unsigned char *pool_memory(const struct wb_pool *pool, const struct wb_extent *extent)
{
    return pool->base + (size_t)(extent - pool->extents) * WB_POOL_PAGE_BYTES;
}

/// Claims 2^order pages, searching from the word `*hint`, which it sets to where they are.
///
/// Returns: the first of them, nobody's yet; NULL when no such run is free, or, of more than 32
///          pages, when others were claiming a part of it.
struct wb_extent *pool_claim(struct wb_pool *pool, uint32_t order, uint32_t *hint);

/// Gives an extent of its class back. It has no block in use, and none in a list.
void pool_give_back(struct wb_pool *pool, struct wb_extent *extent);

#endif
