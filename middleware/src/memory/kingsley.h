// SPDX-License-Identifier: Apache-2.0
// Power-of-two size classes (Kingsley, 4.2BSD, 1983), for heaps of any kind: the arithmetic, the
// header of a block, the lists of free blocks.
//
// A list is changed by one store at a time, and a block is taken off it before it is handed out: a
// kernel that is killed in between loses a block at most, and none is ever in two places. The
// signal fences keep the compiler from changing that order; for the processor no order is needed,
// because what another core sees of a killed one is all that it did.
#ifndef WB_KINGSLEY_H
#define WB_KINGSLEY_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/channel.h"

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

#endif
