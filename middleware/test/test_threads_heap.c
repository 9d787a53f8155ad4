// SPDX-License-Identifier: Apache-2.0
// Heap blocks that one core allocates and others free, at once.
// with: check.c build.c kernel_threads.c
#include "check.h"
#include "kernel_threads.h"
#include "wb/wb.h"

enum { BLOCKS = 20000, FREERS = 2 };

static uint32_t sent;

// Fills a block with a pattern of its number; the heap has room for few of them at a time.
static int allocate(struct wb_task *self)
{
    for (uint32_t i = 0; i < BLOCKS && !threads_are_late(); i++) {
        const size_t words = 1 + i % 50;
        uint32_t *block;

        while ((block = wb_malloc((words + 2) * sizeof *block)) == NULL)
            wb_yield();
        block[0] = i;
        block[1] = (uint32_t)words;
        for (size_t k = 0; k < words; k++)
            block[2 + k] = i * 7;
        CHECK(wb_port_send(wb_port_find_any(self, "out", i % FREERS), &block, WB_FOREVER) == WB_OK);
        if (i % 100 == 0)
            CHECK(wb_migrate(self, (wb_task_core(self) + 1) % 3, WB_FOREVER) == WB_OK);
        sent++;
    }
    return 0;
}

static int release(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t *block, last = 0;

    while (wb_port_receive(in, &block, WB_FOREVER) == WB_OK) {
        CHECK(block[0] >= last && block[0] < BLOCKS);
        last = block[0];
        for (uint32_t k = 0; k < block[1]; k++)
            CHECK(block[2 + k] == last * 7);
        wb_free(block);
    }
    return 0;
}

TEST(blocks_freed_on_other_cores_come_back_to_their_heap)
{
    static const char *const names[FREERS] = { "x", "y" };
    struct wb_system *s = threads_open(3);
    struct wb_task *allocator = build_task(s, "allocator", 0, 3, allocate);

    for (uint32_t i = 0; i < FREERS; i++) {
        struct wb_channel *channel = build_channel(s, names[i], 4, sizeof(uint32_t *), false);
        build_port(allocator, channel, WB_OUT);
        build_port(build_task(s, names[i], 1 + i, 3, release), channel, WB_IN);
    }
    threads_run();
    CHECK(allocator->heap.peak_bytes <= 4096);
    CHECK(wb_task_migrations(allocator) == (sent + 99) / 100);
}
