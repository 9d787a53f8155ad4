// SPDX-License-Identifier: Apache-2.0
// What an application's calls of malloc() and its kin are redirected to: each has the name and the
// rules of that function (kernels/linux/program/hooks.syms).
#ifndef WB_HEAP_HOOKS_H
#define WB_HEAP_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "wb/system.h"

/// A heap for the application's hooks, which run outside of tasks: until then they have the C
/// library's. False: no room.
bool hooks_open(struct wb_system *system, size_t bytes);

/// True of memory that tasks keep when they move. The kernels'.
bool hooks_see(const void *block);

void *hook_malloc(size_t bytes);
void *hook_calloc(size_t count, size_t bytes);
void hook_free(void *block);
size_t hook_malloc_usable_size(void *block);
void *hook_realloc(void *block, size_t bytes);
void *hook_aligned_alloc(size_t align, size_t bytes);
void *hook_memalign(size_t align, size_t bytes);
int hook_posix_memalign(void **block, size_t align, size_t bytes);
char *hook_strndup(const char *text, size_t most);
char *hook_strdup(const char *text);
void *hook_new(size_t bytes);
void hook_delete_sized(void *block, size_t bytes);

#endif
