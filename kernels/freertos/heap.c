// SPDX-License-Identifier: Apache-2.0
// Memory of FreeRTOS's heaps, of which each kernel has its own in globally visible memory. A block
// that a task frees elsewhere, and the TCB and stack of one that is deleted there, go back to the
// kernel that allocated them (holmbacka2013 section V.B), which frees them before it allocates.
//
// The blocks that go back are a list: there is no ring that could be full.

#include "internal.h"

// The linker has every call of these two come here (--wrap). Where nothing calls them, this file is
// not linked: a project whose tasks are all static needs no heap.
void *__real_pvPortMalloc(size_t bytes);
void __real_vPortFree(void *block);
void *__wrap_pvPortMalloc(size_t bytes);
void __wrap_vPortFree(void *block);

static struct freertos_core *heap_of(struct wb_core *core)
{
    return (struct freertos_core *)(void *)core->kernel;
}

static struct freertos_core *owner_of(const unsigned char *block, const struct wb_system *system)
{
    for (uint32_t i = 0; i < system->n_cores; i++) {
        struct freertos_core *heap = heap_of(system->cores[i]);
        if (block >= heap->heap && block < heap->heap_end)
            return heap;
    }
    return NULL;
}

void __wrap_vPortFree(void *block)
{
    struct wb_core *core = wb_freertos_core();
    struct freertos_core *owner = core != NULL ? owner_of(block, core->system) : NULL;

    if (owner == NULL || owner == heap_of(core)) {
        __real_vPortFree(block);
        return;
    }
    void *next = wb_word_load(&owner->freed, WB_RELAXED);
    do
        *(void **)block = next;
    // Release: who takes it sees the link.
    while (!wb_word_compare_swap_weak(&owner->freed, &next, block, WB_RELEASE, WB_RELAXED));
}

void *__wrap_pvPortMalloc(size_t bytes)
{
    struct wb_core *core = wb_freertos_core();
    void *block = NULL;

    // Acquire: the links are there.
    if (core != NULL && wb_word_load(&heap_of(core)->freed, WB_RELAXED) != NULL)
        block = wb_word_swap(&heap_of(core)->freed, NULL, WB_ACQUIRE);
    while (block != NULL) {
        void *next = *(void **)block;
        __real_vPortFree(block);
        block = next;
    }
    return __real_pvPortMalloc(bytes);
}
