// SPDX-License-Identifier: Apache-2.0
// Heaps as they lie in globally visible memory: each task's own, and the pool that tasks share.
//
// Applications see wb/memory.h. A heap is used by its owner, a task or the launcher, and by nobody
// else but for what says so; a task runs on one core at a time, so nothing here needs a lock.
#ifndef WB_HEAP_H
#define WB_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/status.h"
#include "wb/word.h"

struct wb_system;

enum {
    WB_LINE_BYTES = 64,         // coherence granule that separates writers
    WB_HEAP_CLASSES = 26,       // 32 B to 1 GiB
    WB_POOL_PAGE_BYTES = 4096,  // what the pool is cut into
};

struct wb_heap {                       // used by its owner only, but for `returned`
    unsigned char *base, *next, *end;  // of a task's own heap: [base, next) was ever in use
    void *free[WB_HEAP_CLASSES];
    WB_SWAPPED(void *) returned;  // pushed by those who free a foreign block, taken by the owner
    size_t used_bytes, peak_bytes;
    size_t refused_bytes;  // of the last block that there was no room for
    uint32_t generation;   // restarts of the owner; the launcher
    bool is_private;       // fixed: elsewhere there is other memory at its addresses
};

enum { WB_SHARED_MAX = 1 << 30 };  // bytes of a pool

// Some pages in a row that hold blocks of one class. Kept at the first of them.
struct wb_extent {
    // NULL: no extent begins here; whoever has claimed the pages.
    _Alignas(WB_LINE_BYTES) WB_STORED(struct wb_shared *) owner;
    struct wb_extent *following;  // the owner's: the next of those that it is about to give back
    uint32_t size_class;          // the owner
    uint32_t block_bytes;         // the owner
    uint32_t epoch;               // the owner: that in which it was last counted as spare
    struct wb_compared used;      // blocks that are not free: the owner; after its end, anyone
};

struct wb_pool {
    // Fixed at the start.
    unsigned char *base;
    size_t bytes;
    uint32_t pages, n_words;
    struct wb_extent *extents;  // one per page
    struct wb_swapped *words;   // a bit per page, 1: claimed; any core, by compare-and-swap
};

// What one task, or the launcher, has of the pool.
struct wb_shared {
    struct wb_heap heap;
    struct wb_pool *pool;           // fixed; NULL: there is none
    size_t spare_bytes;             // of small runs that had no block in use, at some time of this
    uint32_t epoch;                 // epoch: from one look at them to the next, counted from 1
    uint32_t hint;                  // the word of the pool where it last found something
    struct wb_compared left_bytes;  // in use since before its end or its last restart; the owner;
                                    // after its end, anyone
};

/// How large the block was that an access to `address` can be meant for, as the heap had no room
/// for it and gave NULL; 0: none was.
static inline size_t wb_heap_missed(const struct wb_heap *heap, uintptr_t address)
{
    return address / WB_POOL_PAGE_BYTES <= heap->refused_bytes / WB_POOL_PAGE_BYTES
               ? heap->refused_bytes
               : 0;
}

/// An empty heap over memory that every kernel sees.
void wb_heap_init(struct wb_heap *heap, void *memory, size_t bytes);

/// Allocates from a given heap, for callers that are no task. wb_free() takes the block back.
///
/// Context: one caller at a time. Never blocks.
void *wb_heap_malloc(struct wb_heap *heap, size_t bytes);

/// The same three for memory that is shared, and for a launcher.
///
/// Context: the launcher, while no other thread of it does. Never blocks.
/// Returns: as those of wb/memory.h.
void *wb_system_shared_malloc(struct wb_system *system, size_t bytes);
void *wb_system_shared_realloc(struct wb_system *system, void *block, size_t bytes);
void wb_system_shared_free(struct wb_system *system, void *block);

/// How many bytes of what a task allocated are in use, and how many of them were left behind by
/// its end or by a life before its restart.
///
/// Context: any. Never blocks. Exact once the task is over or does not run.
size_t wb_shared_used_bytes(const struct wb_shared *shared);
size_t wb_shared_left_bytes(const struct wb_shared *shared);

#endif
