// SPDX-License-Identifier: Apache-2.0
// The heap of a task, in globally visible memory.
//
// Blocks move with the task because they never move at all: every kernel sees them at the same
// address. A block may be freed by any task on any core; it goes home to the heap it came from.
// Sizes are rounded up to a power of two less a header of 16 bytes.
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

WB_END_C

#endif
