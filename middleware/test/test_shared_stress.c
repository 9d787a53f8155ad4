// SPDX-License-Identifier: Apache-2.0
// A million allocations and frees by three tasks, in one order that looks random: no two live
// blocks overlap, and memory does not grow.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

enum { POOL_BYTES = 512 << 10, TASKS = 3, LIVE = 200, ROUNDS = 4, OPERATIONS = 250000 };

struct live {
    unsigned char *block;
    size_t bytes;
};

static struct wb_task *tasks[TASKS];
static struct live live[LIVE];
static bool taken[POOL_BYTES / 16];  // of each 16 bytes of the pool
static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % n;
}

static void mark(const struct live *l, bool value)
{
    const size_t from = (size_t)(l->block - stub.system->pool->base) / 16;
    const size_t n = (l->bytes + 15) / 16;

    CHECK(from + n <= POOL_BYTES / 16);
    for (size_t i = from; i < from + n; i++) {
        CHECK(taken[i] != value);
        taken[i] = value;
    }
}

static void release(struct live *l)
{
    if (l->block == NULL)
        return;
    // Its ends are as they were written: nobody else wrote there.
    CHECK(l->block[0] == (unsigned char)l->bytes);
    CHECK(l->block[l->bytes - 1] == (unsigned char)l->bytes);
    mark(l, false);
    wb_shared_free(l->block);
    l->block = NULL;
}

static void step(void)
{
    struct live *l = &live[random_below(LIVE)];

    stub_become(0, tasks[random_below(TASKS)]);
    release(l);
    l->bytes = 1 + random_below(16u << random_below(12));
    l->block = wb_shared_malloc(l->bytes);
    if (l->block == NULL)
        return;
    mark(l, true);
    l->block[0] = l->block[l->bytes - 1] = (unsigned char)l->bytes;
}

// Lets every task take home what others freed, and give back what it does not need.
static uint32_t claimed_at_rest(void)
{
    const struct wb_pool *pool = stub.system->pool;
    uint32_t pages = 0;

    for (int i = 0; i < LIVE; i++)
        release(&live[i]);
    for (int i = 0; i < TASKS; i++) {
        stub_become(0, tasks[i]);
        CHECK(wb_shared_malloc(2 * POOL_BYTES) == NULL);
        CHECK(wb_shared_used_bytes(&tasks[i]->shared) == 0);
    }
    for (uint32_t i = 0; i < pool->n_words; i++)
        pages += (uint32_t)__builtin_popcount(wb_word_load(&pool->words[i], WB_SEQ_CST));
    return pages;
}

TEST(no_two_live_blocks_overlap_and_memory_does_not_grow)
{
    static const char *const names[TASKS] = { "a", "b", "c" };

    stub_open(&(struct wb_system_config){ .cores = 1,
                                          .tasks = TASKS,
                                          .core_align = WB_LINE_BYTES,
                                          .offer_timeout_ns = 1000,
                                          .shared_bytes = POOL_BYTES });
    for (int i = 0; i < TASKS; i++)
        tasks[i] = stub_task(names[i], 0);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < OPERATIONS; i++)
            step();
        CHECK(claimed_at_rest() == 0);
    }
}
