// SPDX-License-Identifier: Apache-2.0
// The way home of a block that somebody else frees.
//
// It is pushed on its heap's `returned`; the owner takes the whole list at once. Push-only and
// take-all leave no room for the ABA problem, and nothing for a killed kernel to hold. A heap whose
// owner has ended is closed by a value that no block has.

#include "../base/base.h"
#include "memory.h"

// The heap's own address: no block lies there.
static void *closed(const struct wb_heap *heap)
{
    return (void *)(uintptr_t)heap;
}

bool kingsley_take_from(struct header *header, uint32_t mark)
{
    // Relaxed: it decides between those who free, who need to know nothing else of each other.
    return wb_word_compare_swap(&header->mark, &mark, KINGSLEY_FREED, WB_RELAXED, WB_RELAXED);
}

bool kingsley_return(struct wb_heap *home, struct header *header)
{
    // Acquire: who finds the heap closed goes on from what its owner left.
    void *top = wb_word_load(&home->returned, WB_ACQUIRE);

    do {
        if (top == closed(home))
            return false;
        *kingsley_link(header) = top;
        // Release: our use of the block comes before its owner's.
    } while (!wb_word_compare_swap_weak(&home->returned, &top, header, WB_RELEASE, WB_ACQUIRE));
    return true;
}

struct header *kingsley_take_returned(struct wb_heap *heap)
{
    if (wb_word_load(&heap->returned, WB_RELAXED) == NULL)
        return NULL;
    // Acquire: what the freeing tasks did to the blocks comes before our use of them.
    return wb_word_swap(&heap->returned, NULL, WB_ACQUIRE);
}

struct header *kingsley_close(struct wb_heap *heap)
{
    // Acquire as above; release: see kingsley_return().
    void *top = wb_word_swap(&heap->returned, closed(heap), WB_ACQ_REL);

    return top != closed(heap) ? top : NULL;
}

bool kingsley_is_closed(const struct wb_heap *heap)
{
    return wb_word_load(&heap->returned, WB_ACQUIRE) == closed(heap);
}

void kingsley_fault(const char *text)
{
    struct wb_task *self = wb_kernel_self();

    wb_assert(self != NULL);
    wb_system_fault(self->system, WB_FAULT_TASK, self, text);
    wb_kernel_halt();
}
