// SPDX-License-Identifier: Apache-2.0
// The way home of a block that somebody else frees.
//
// It is pushed on its heap's `returned`; the owner takes the whole list at once. Push-only and
// take-all leave no room for the ABA problem, and nothing for a killed kernel to hold. A heap whose
// owner has ended is closed by a value that no block has.

#include "kingsley.h"

#include <assert.h>

#include "wb/system.h"

// The heap's own address: no block lies there.
static void *closed(const struct wb_heap *heap)
{
    return (void *)(uintptr_t)heap;
}

bool kingsley_take_from(struct header *header, uint32_t mark)
{
    // Relaxed: it decides between those who free, who need to know nothing else of each other.
    return atomic_compare_exchange_strong_explicit(&header->mark, &mark, KINGSLEY_FREED,
                                                   memory_order_relaxed, memory_order_relaxed);
}

bool kingsley_return(struct wb_heap *home, struct header *header)
{
    // Acquire: who finds the heap closed goes on from what its owner left.
    void *top = atomic_load_explicit(&home->returned, memory_order_acquire);

    do {
        if (top == closed(home))
            return false;
        *kingsley_link(header) = top;
        // Release: our use of the block comes before its owner's.
    } while (!atomic_compare_exchange_weak_explicit(&home->returned, &top, header,
                                                    memory_order_release, memory_order_acquire));
    return true;
}

struct header *kingsley_take_returned(struct wb_heap *heap)
{
    if (atomic_load_explicit(&heap->returned, memory_order_relaxed) == NULL)
        return NULL;
    // Acquire: what the freeing tasks did to the blocks comes before our use of them.
    return atomic_exchange_explicit(&heap->returned, NULL, memory_order_acquire);
}

struct header *kingsley_close(struct wb_heap *heap)
{
    // Acquire as above; release: see kingsley_return().
    void *top = atomic_exchange_explicit(&heap->returned, closed(heap), memory_order_acq_rel);

    return top != closed(heap) ? top : NULL;
}

bool kingsley_is_closed(const struct wb_heap *heap)
{
    return atomic_load_explicit(&heap->returned, memory_order_acquire) == closed(heap);
}

void kingsley_fault(const char *text)
{
    struct wb_task *self = wb_kernel_self();

    assert(self != NULL);
    wb_system_fault(self->system, WB_FAULT_TASK, self, text);
    wb_kernel_halt();
}
