// SPDX-License-Identifier: Apache-2.0
// Memory for tasks, in globally visible memory: a heap for each, and a pool that they share.
//
// Blocks move with the task because they never move at all: every kernel sees them at the same
// address. A block may be freed by any task on any core; it goes home to where it came from. What
// is in a task's heap is gone with its end; a shared block stays until somebody frees it, so it can
// be handed on through a channel. Sizes are rounded up to a power of two less a header of 16 bytes.
#ifndef WB_MEMORY_H
#define WB_MEMORY_H

#include <stddef.h>

#include "wb/status.h"

WB_BEGIN_C

/// Allocates from the calling task's heap, aligned to 16 bytes.
///
/// Context: a task. Never blocks, takes no lock.
/// Returns: the block, or NULL when `heap` of the task's TOML is used up.
void *wb_malloc(size_t bytes);
void *wb_calloc(size_t count, size_t bytes);
void *wb_realloc(void *block, size_t bytes);

/// The same, aligned to `align`, a power of two.
void *wb_memalign(size_t align, size_t bytes);

/// The bytes that may be used behind `block`.
size_t wb_malloc_size(const void *block);

/// Gives a block back to the heap it came from. NULL is ignored.
///
/// Context: any task on any core. Never blocks.
void wb_free(void *block);

/// Allocates from the memory that all tasks share, aligned to 16 bytes. A block from a page on is a
/// power of two of pages. A task keeps up to 32 KiB of what it has freed for itself.
///
/// Context: a task; through the kernel's launcher also the application's hooks. Never blocks, takes
///          no lock.
/// Memory:  whoever holds the block; it outlives the task that allocated it.
/// Returns: the block, or NULL when `[app] shared` of the TOML is used up, or, for one above 128
///          KiB, while others allocate from the same place.
/// Source:  acquaviva2008 section 4.1, the parallel version of the Kingsley allocator.
void *wb_shared_malloc(size_t bytes);

/// The same, with the contents of `block` (NULL: none), which is freed unless it stays in place or
/// NULL is returned. It is in use either way; a block that shrinks never fails.
void *wb_shared_realloc(void *block, size_t bytes);

/// Gives a shared block back. NULL is ignored. A second free, or a pointer that is no shared block,
/// ends the run with a fault of the calling task.
///
/// Context: as wb_shared_malloc(); any task on any core. Never blocks.
void wb_shared_free(void *block);

WB_END_C

#endif
