// SPDX-License-Identifier: Apache-2.0
// What a task of the benchmarks has in its heap: blocks of 1 KiB, each with the number of the block
// and a pointer to the one before it. A copy that is not whole is found out.

#include "bench.h"

// A block with the header of any allocator is 1 KiB.
enum { BLOCK_BYTES = 1 << 10, HEADER_BYTES = 64 };

struct block {
    struct block *before;
    uint64_t number;
};

void bench_carry(struct wb_task *self, size_t bytes)
{
    const struct wb_heap *heap = &self->heap;

    while ((size_t)(heap->next - heap->base) + BLOCK_BYTES <= bytes) {
        struct block *last = wb_task_state(self);
        struct block *block = wb_malloc(BLOCK_BYTES - HEADER_BYTES);
        if (block == NULL)
            wb_task_fail(self, "its heap is too small for what it is to carry");
        *block = (struct block){ .before = last, .number = last != NULL ? last->number + 1 : 0 };
        wb_task_set_state(self, block);
    }
}

void bench_carry_check(struct wb_task *self)
{
    for (const struct block *block = wb_task_state(self); block != NULL; block = block->before)
        if (block->number != (block->before != NULL ? block->before->number + 1 : 0))
            wb_task_fail(self, "what it carried is damaged");
}
