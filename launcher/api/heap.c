// SPDX-License-Identifier: Apache-2.0
// Calls of an application that must not reach the C library of one kernel: blocks of the heap have
// to be visible to every kernel, so they come from the task's heap.

#define _GNU_SOURCE
#include "heap_hooks.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wb/wb.h"

static struct wb_heap *launcher_heap;

bool hooks_open(struct wb_system *system, size_t bytes)
{
    void *memory = wb_system_alloc(system, bytes, WB_LINE_BYTES);
    struct wb_heap *heap = wb_system_alloc(system, sizeof *heap, WB_LINE_BYTES);

    if (memory == NULL || heap == NULL)
        return false;
    wb_heap_init(heap, memory, bytes);
    launcher_heap = heap;
    return true;
}

static void *checked(void *block)
{
    if (block == NULL)
        errno = ENOMEM;
    return block;
}

void *hook_malloc(size_t bytes)
{
    if (wb_kernel_self() != NULL)
        return checked(wb_malloc(bytes));
    // A program has no launcher's heap: its constructors allocate from the C library.
    return launcher_heap != NULL ? checked(wb_heap_malloc(launcher_heap, bytes)) : malloc(bytes);
}

void *hook_calloc(size_t count, size_t bytes)
{
    if (bytes != 0 && count > SIZE_MAX / bytes)
        return checked(NULL);
    void *block = hook_malloc(count * bytes);
    return block != NULL ? memset(block, 0, count * bytes) : NULL;
}

// Blocks from before the module was redirected (its constructors') belong to the C library.
void hook_free(void *block)
{
    if (hooks_see(block))
        wb_free(block);
    else
        free(block);
}

size_t hook_malloc_usable_size(void *block)
{
    return hooks_see(block) ? wb_malloc_size(block) : malloc_usable_size(block);
}

void *hook_realloc(void *block, size_t bytes)
{
    if (block != NULL && hooks_see(block) && wb_kernel_self() != NULL)
        return checked(wb_realloc(block, bytes));
    void *fresh = hook_malloc(bytes);
    if (fresh != NULL && block != NULL) {
        const size_t old = hook_malloc_usable_size(block);
        memcpy(fresh, block, old < bytes ? old : bytes);
        hook_free(block);
    }
    return fresh;
}

void *hook_aligned_alloc(size_t align, size_t bytes)
{
    if (wb_kernel_self() == NULL)
        return align <= 16 ? hook_malloc(bytes) : checked(NULL);
    return checked(wb_memalign(align, bytes));
}

// The older name of the same; a program's names are replaced one by one.
void *hook_memalign(size_t align, size_t bytes)
{
    return hook_aligned_alloc(align, bytes);
}

int hook_posix_memalign(void **block, size_t align, size_t bytes)
{
    void *fresh = hook_aligned_alloc(align, bytes);

    if (fresh == NULL)
        return ENOMEM;
    *block = fresh;
    return 0;
}

char *hook_strndup(const char *text, size_t most)
{
    const size_t n = strnlen(text, most);
    char *copy = hook_malloc(n + 1);

    if (copy == NULL)
        return NULL;
    copy[n] = '\0';
    return memcpy(copy, text, n);
}

char *hook_strdup(const char *text)
{
    return hook_strndup(text, SIZE_MAX - 1);
}

// operator new: there is no way to throw from here, and nobody would catch it.
void *hook_new(size_t bytes)
{
    void *block = hook_malloc(bytes);
    struct wb_task *self = wb_kernel_self();

    if (block == NULL && self != NULL) {
        char text[WB_ERROR_BYTES];
        snprintf(text, sizeof text, "operator new: its heap of %lu bytes has no room for %lu more",
                 (unsigned long)(self->heap.end - self->heap.base), (unsigned long)bytes);
        wb_system_fault(self->system, WB_FAULT_HEAP, self, text);
        wb_kernel_halt();
    }
    if (block == NULL)
        abort();
    return block;
}

void hook_delete_sized(void *block, size_t bytes)
{
    (void)bytes;
    hook_free(block);
}
