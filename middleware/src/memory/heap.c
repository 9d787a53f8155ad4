// SPDX-License-Identifier: Apache-2.0
// The heap of a task: one region, cut into blocks from its bottom.
//
// Only the task itself allocates from its heap, and it runs on one core at a time. Everything that
// says what is free lies in the region or in struct wb_heap, so a task's heap is [base, next) and
// that struct, wherever they are copied.

#include "../base/base.h"
#include "../word/mem.h"
#include "memory.h"
#include "wb/system.h"
#include "wb/wb.h"

void wb_heap_init(struct wb_heap *heap, void *memory, size_t bytes)
{
    heap->base = memory;
    heap->next = memory;
    heap->end = heap->next + bytes;
}

void wb_heap_close(struct wb_heap *heap)
{
    kingsley_close(heap);
    for (uint32_t i = 0; i < WB_HEAP_CLASSES; i++)
        heap->free[i] = NULL;
    heap->next = heap->base;
    heap->used_bytes = 0;
}

static void put_block(struct wb_heap *heap, struct header *header)
{
    heap->used_bytes -= kingsley_bytes(header->size_class);
    kingsley_push(heap, header->size_class, header);
}

static void take_returned(struct wb_heap *heap)
{
    struct header *header = kingsley_take_returned(heap);

    while (header != NULL) {
        struct header *following = *kingsley_link(header);
        put_block(heap, header);
        header = following;
    }
}

static struct header *take_block(struct wb_heap *heap, uint32_t size_class)
{
    if (heap->free[size_class] == NULL)
        take_returned(heap);
    struct header *header = heap->free[size_class];
    if (header != NULL) {
        kingsley_pop(heap, size_class, header);
        return header;
    }
    const size_t bytes = kingsley_bytes(size_class);
    if (bytes > (size_t)(heap->end - heap->next))
        return NULL;
    header = (struct header *)(void *)heap->next;
    heap->next += bytes;
    wb_word_order();
    return header;
}

static struct wb_heap *own_heap(void)
{
    struct wb_task *self = wb_kernel_self();
    return self != NULL ? &self->heap : NULL;
}

void *wb_heap_malloc(struct wb_heap *heap, size_t bytes)
{
    const uint32_t size_class = kingsley_class(bytes);

    struct header *header = NULL;
    if (size_class != WB_HEAP_CLASSES) {
        wb_kernel_charge(WB_ACTION_HEAP, 1);
        header = take_block(heap, size_class);
    }
    if (header == NULL) {
        heap->refused_bytes = bytes;
        return NULL;
    }
    return kingsley_stamp(heap, header, size_class, kingsley_bytes(size_class), KINGSLEY_IN_HEAP);
}

void *wb_malloc(size_t bytes)
{
    struct wb_heap *heap = own_heap();
    return heap != NULL ? wb_heap_malloc(heap, bytes) : NULL;
}

void *wb_calloc(size_t count, size_t bytes)
{
    if (bytes != 0 && count > SIZE_MAX / bytes)
        return NULL;
    void *block = wb_malloc(count * bytes);
    return block != NULL ? memset(block, 0, count * bytes) : NULL;
}

void *wb_memalign(size_t align, size_t bytes)
{
    if (align == 0 || (align & (align - 1)) != 0 ||
        bytes > SIZE_MAX - align - KINGSLEY_HEADER_BYTES)
        return NULL;
    if (align <= KINGSLEY_HEADER_BYTES)
        return wb_malloc(bytes);
    // The header goes right before the aligned pointer, so that wb_free() finds it.
    unsigned char *block = wb_malloc(bytes + align + KINGSLEY_HEADER_BYTES);
    if (block == NULL)
        return NULL;
    const uintptr_t past = (uintptr_t)block + KINGSLEY_HEADER_BYTES + align - 1;
    unsigned char *aligned = block + ((past & ~(uintptr_t)(align - 1)) - (uintptr_t)block);
    struct header *shifted = kingsley_header(aligned);
    shifted->block = kingsley_header(block);
    wb_word_store(&shifted->mark, KINGSLEY_SHIFTED, WB_RELAXED);
    return aligned;
}

static _Noreturn void refuse(uint32_t mark)
{
    if (mark == KINGSLEY_FREED)
        kingsley_fault("it freed a heap block twice");
    if (mark == KINGSLEY_IN_SHARED)
        kingsley_fault("it freed a shared block as a heap block: use wb_shared_free()");
    kingsley_fault("it freed a pointer that is not a heap block");
}

// The header of a live block; ends the run on any other pointer.
static struct header *checked(const void *block)
{
    struct header *header = kingsley_header(block);

    if (kingsley_mark(header) == KINGSLEY_SHIFTED)
        header = header->block;
    if (kingsley_mark(header) != KINGSLEY_IN_HEAP)
        refuse(kingsley_mark(header));
    // What we see of it may be what an earlier stay of its owner has left here.
    if (header->home->is_private && header->home != own_heap())
        kingsley_fault("it used a block of the private heap of another task: share blocks by "
                       "wb_shared_malloc()");
    return header;
}

size_t wb_malloc_size(const void *block)
{
    const struct header *header = checked(block);
    return (uintptr_t)header + kingsley_bytes(header->size_class) - (uintptr_t)block;
}

void *wb_realloc(void *block, size_t bytes)
{
    if (block == NULL)
        return wb_malloc(bytes);
    const size_t old = wb_malloc_size(block);
    if (kingsley_fits(old, bytes))
        return block;
    void *fresh = wb_malloc(bytes);
    if (fresh == NULL)
        return bytes <= old ? block : NULL;
    memcpy(fresh, block, old < bytes ? old : bytes);
    wb_free(block);
    return fresh;
}

void wb_free(void *block)
{
    if (block == NULL)
        return;
    wb_kernel_charge(WB_ACTION_HEAP, 1);
    struct header *header = checked(block);

    if (header->home == own_heap()) {
        wb_word_store(&header->mark, KINGSLEY_FREED, WB_RELAXED);
        put_block(header->home, header);
    } else {
        if (!kingsley_take_from(header, KINGSLEY_IN_HEAP))
            refuse(KINGSLEY_FREED);
        // Refused when its task is over: then all of its heap is free.
        (void)kingsley_return(header->home, header);
    }
}

// Blocks follow each other, each as long as its class.
const uintptr_t *wb_heap_find(const struct wb_task *task, uintptr_t low, uintptr_t high)
{
    const struct wb_heap *heap = &task->heap;
    size_t bytes;

    for (unsigned char *at = heap->base; at < heap->next; at += bytes) {
        struct header *header = (struct header *)(void *)at;
        const uintptr_t *words = kingsley_block(header);
        bytes = kingsley_bytes(header->size_class);
        if (kingsley_mark(header) != KINGSLEY_IN_HEAP)
            continue;
        for (size_t i = 0; i < (bytes - KINGSLEY_HEADER_BYTES) / sizeof *words; i++)
            if (words[i] >= low && words[i] < high)
                return &words[i];
    }
    return NULL;
}
