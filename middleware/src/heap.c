// SPDX-License-Identifier: Apache-2.0
// The heap of a task: power-of-two size classes (Kingsley), no lock.
//
// Only the task itself allocates from its heap, and it runs on one core at a time. Whoever else
// frees one of its blocks pushes it on `returned`; the owner takes that whole list at once when a
// class runs dry. Push-only and take-all leave no room for the ABA problem, and nothing for a
// killed kernel to hold.

#include <assert.h>

#include "internal.h"
#include "mem.h"
#include "wb/memory.h"
#include "wb/system.h"

enum { HEADER_BYTES = 16, CLASS0_BYTES = 32 };

// What marks a block, so that a foreign pointer or a second free is found out.
enum { IN_USE = 0x57b10c8, FREED = 0x57bdead, SHIFTED = 0x57b5417 };

struct header {
    union {
        struct wb_heap *home;  // IN_USE, FREED
        struct header *whole;  // SHIFTED: the block that this aligned pointer lies in
    };
    uint32_t size_class, mark;
};

_Static_assert(sizeof(struct header) <= HEADER_BYTES, "a header must fit before the block");

static struct header *header_of(const void *block)
{
    return (struct header *)((uintptr_t)block - HEADER_BYTES);
}

static void *block_of(struct header *header)
{
    return (unsigned char *)header + HEADER_BYTES;
}

void wb_heap_init(struct wb_heap *heap, void *memory, size_t bytes)
{
    heap->base = memory;
    heap->next = memory;
    heap->end = heap->next + bytes;
}

static uint32_t class_for(size_t bytes)
{
    uint32_t size_class = 0;

    while (size_class < WB_HEAP_CLASSES &&
           ((size_t)CLASS0_BYTES << size_class) - HEADER_BYTES < bytes)
        size_class++;
    return size_class;
}

static void put(struct wb_heap *heap, struct header *header)
{
    *(void **)block_of(header) = heap->free[header->size_class];
    heap->free[header->size_class] = header;
}

static void take_returned(struct wb_heap *heap)
{
    // Acquire: what the freeing tasks did to the blocks comes before our use of them.
    struct header *header = atomic_exchange_explicit(&heap->returned, NULL, memory_order_acquire);

    while (header != NULL) {
        struct header *following = *(void **)block_of(header);
        heap->used_bytes -= (size_t)CLASS0_BYTES << header->size_class;
        put(heap, header);
        header = following;
    }
}

static struct header *take(struct wb_heap *heap, uint32_t size_class)
{
    if (heap->free[size_class] == NULL)
        take_returned(heap);
    struct header *header = heap->free[size_class];
    if (header != NULL) {
        heap->free[size_class] = *(void **)block_of(header);
        return header;
    }
    const size_t bytes = (size_t)CLASS0_BYTES << size_class;
    if (bytes > (size_t)(heap->end - heap->next))
        return NULL;
    header = (struct header *)(void *)heap->next;
    heap->next += bytes;
    return header;
}

static struct wb_heap *own_heap(void)
{
    struct wb_task *self = wb_kernel_self();
    return self != NULL ? &self->heap : NULL;
}

void *wb_heap_malloc(struct wb_heap *heap, size_t bytes)
{
    const uint32_t size_class = class_for(bytes);

    if (size_class == WB_HEAP_CLASSES)
        return NULL;
    wb_kernel_charge(WB_ACTION_HEAP, 1);
    struct header *header = take(heap, size_class);
    if (header == NULL)
        return NULL;
    header->home = heap;
    header->size_class = size_class;
    header->mark = IN_USE;
    heap->used_bytes += (size_t)CLASS0_BYTES << size_class;
    if (heap->used_bytes > heap->peak_bytes)
        heap->peak_bytes = heap->used_bytes;
    return block_of(header);
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
    if (align == 0 || (align & (align - 1)) != 0 || bytes > SIZE_MAX - align - HEADER_BYTES)
        return NULL;
    if (align <= HEADER_BYTES)
        return wb_malloc(bytes);
    // The header goes right before the aligned pointer, so that wb_free() finds it.
    unsigned char *block = wb_malloc(bytes + align + HEADER_BYTES);
    if (block == NULL)
        return NULL;
    const uintptr_t past = (uintptr_t)block + HEADER_BYTES + align - 1;
    unsigned char *aligned = block + ((past & ~(uintptr_t)(align - 1)) - (uintptr_t)block);
    struct header *shifted = header_of(aligned);
    shifted->whole = header_of(block);
    shifted->mark = SHIFTED;
    return aligned;
}

// The header of a live block; ends the run on any other pointer.
static struct header *checked(const void *block)
{
    struct header *header = header_of(block);

    if (header->mark == SHIFTED)
        header = header->whole;
    if (header->mark != IN_USE) {
        struct wb_task *self = wb_kernel_self();
        assert(self != NULL);  // the hooks of an application free only what they allocated
        wb_system_fault(self->system, WB_FAULT_TASK, self,
                        header->mark == FREED ? "it freed a heap block twice"
                                              : "it freed a pointer that is no heap block");
        wb_kernel_halt();
    }
    return header;
}

size_t wb_malloc_size(const void *block)
{
    const struct header *header = checked(block);
    const uintptr_t end = (uintptr_t)header + ((size_t)CLASS0_BYTES << header->size_class);
    return end - (uintptr_t)block;
}

void *wb_realloc(void *block, size_t bytes)
{
    if (block == NULL)
        return wb_malloc(bytes);
    const size_t old = wb_malloc_size(block);
    if (bytes <= old && bytes >= old / 4)
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
    struct wb_heap *home = header->home;

    header->mark = FREED;
    if (home == own_heap()) {
        home->used_bytes -= (size_t)CLASS0_BYTES << header->size_class;
        put(home, header);
        return;
    }
    void *top = atomic_load_explicit(&home->returned, memory_order_relaxed);
    do {
        *(void **)block_of(header) = top;
        // Release: our use of the block comes before its owner's.
    } while (!atomic_compare_exchange_weak_explicit(&home->returned, &top, header,
                                                    memory_order_release, memory_order_relaxed));
}
