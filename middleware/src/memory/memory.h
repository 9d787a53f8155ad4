// SPDX-License-Identifier: Apache-2.0
// Heaps and the pool, for each other and for the floors above.
#ifndef WB_MEMORY_H
#define WB_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/system.h"

/// Frees all that a task has in its own heap, at its end. May be repeated.
void wb_heap_close(struct wb_heap *heap);

// ---- kingsley.c ---------------------------------------------------------------------------------

// Power-of-two size classes (Kingsley, 4.2BSD, 1983), for heaps of any kind: the arithmetic, the
// header of a block, the lists of free blocks.
//
// A list is changed by one store at a time, and a block is taken off it before it is handed out: a
// kernel that is killed in between loses a block at most, and none is ever in two places. The
// signal fences keep the compiler from changing that order; for the processor no order is needed,
// because what another core sees of a killed one is all that it did.

enum { KINGSLEY_HEADER_BYTES = 16, KINGSLEY_FIRST_LOG2 = 5 };

// What marks a block, so that a foreign pointer or a second free is found out.
enum {
    KINGSLEY_IN_HEAP = 0x57b10c8,    // in use, of a task's own heap
    KINGSLEY_IN_SHARED = 0x57b10c9,  // in use, of the pool
    KINGSLEY_FREED = 0x57bdead,
    KINGSLEY_SHIFTED = 0x57b5417,
};

struct header {
    union {
        struct wb_heap *home;  // whose block it is
        struct header *block;  // SHIFTED: the block that this aligned pointer lies in
    };
    struct wb_compared mark;
    uint16_t generation;  // of its owner when it was allocated
    uint16_t size_class;
};

_Static_assert(sizeof(struct header) <= KINGSLEY_HEADER_BYTES, "a header must fit before a block");

static inline size_t kingsley_bytes(uint32_t size_class)
{
    return (size_t)1 << (KINGSLEY_FIRST_LOG2 + size_class);
}

// The smallest class with room for so many bytes behind its header; WB_HEAP_CLASSES: none has.
static inline uint32_t kingsley_class(size_t bytes)
{
    if (bytes > kingsley_bytes(WB_HEAP_CLASSES - 1) - KINGSLEY_HEADER_BYTES)
        return WB_HEAP_CLASSES;
    // The last byte of the block, and at least that of the first class: its highest bit decides.
    const unsigned long long last =
        (bytes + KINGSLEY_HEADER_BYTES - 1) | ((1u << KINGSLEY_FIRST_LOG2) - 1);
    return (63 ^ (uint32_t)__builtin_clzll(last)) - (KINGSLEY_FIRST_LOG2 - 1);
}

static inline struct header *kingsley_header(const void *block)
{
    return (struct header *)((uintptr_t)block - KINGSLEY_HEADER_BYTES);
}

static inline void *kingsley_block(struct header *header)
{
    return (unsigned char *)header + KINGSLEY_HEADER_BYTES;
}

// The next block of the list that a free one is in.
static inline struct header **kingsley_link(struct header *header)
{
    return kingsley_block(header);
}

static inline uint32_t kingsley_mark(const struct header *header)
{
    // Relaxed: whoever may free the block got it in order with its allocation.
    return wb_word_load(&header->mark, WB_RELAXED);
}

// Each of the two is one step of a list, and comes before all that follows in the program.
static inline void kingsley_push(struct wb_heap *heap, uint32_t size_class, struct header *header)
{
    *kingsley_link(header) = heap->free[size_class];
    wb_word_order();
    heap->free[size_class] = header;
    wb_word_order();
}

// Takes the first block, which is `header`, off its list.
static inline void kingsley_pop(struct wb_heap *heap, uint32_t size_class, struct header *header)
{
    heap->free[size_class] = *kingsley_link(header);
    wb_word_order();
}

// Makes a block of `bytes`, which is in no list, one in use.
static inline void *kingsley_stamp(struct wb_heap *heap, struct header *header, uint32_t size_class,
                                   size_t bytes, uint32_t mark)
{
    header->home = heap;
    header->generation = (uint16_t)heap->generation;
    header->size_class = (uint16_t)size_class;
    wb_word_store(&header->mark, mark, WB_RELAXED);
    heap->used_bytes += bytes;
    if (heap->used_bytes > heap->peak_bytes)
        heap->peak_bytes = heap->used_bytes;
    return kingsley_block(header);
}

/// Marks a block in use as freed by somebody who is not its owner: false if another was faster.
bool kingsley_take_from(struct header *header, uint32_t mark);

/// Sends a freed block home. Returns false when the heap is closed, and then nothing was done.
bool kingsley_return(struct wb_heap *home, struct header *header);

/// Takes all that was sent home; the list goes by kingsley_link().
struct header *kingsley_take_returned(struct wb_heap *heap);

/// The same for the last time: from now on kingsley_return() is refused.
struct header *kingsley_close(struct wb_heap *heap);

/// True once kingsley_close() was called.
bool kingsley_is_closed(const struct wb_heap *heap);

/// Whether a block of `usable` bytes stays where it is when `bytes` are asked for.
static inline bool kingsley_fits(size_t usable, size_t bytes)
{
    return bytes <= usable && bytes >= usable / 4;
}

/// Ends the run because of what the calling task did to a block. Asserts that there is one: the
/// hooks of an application free only what they allocated.
_Noreturn void kingsley_fault(const char *text);

// ---- pool.c -------------------------------------------------------------------------------------

// The pool of shared memory: pages, claimed in extents of 2^order, aligned to their length.
//
// Who has what is one bit per page. Extents of up to 32 are claimed by one compare-and-swap on one
// word, so a bit that is set again by another means just what it says and the ABA problem does not
// arise; neighbours that are given back are one again without a step for it. Longer runs take their
// words one by one, in ascending order: of two that overlap, the first at their first common word
// goes on, and the other puts back what it had.

/// How many bytes of the arena a pool takes.
size_t wb_pool_bytes(size_t shared_bytes);

/// Lays out the pool of a system and the launcher's share of it. False without memory.
bool wb_pool_init(struct wb_system *system);

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
