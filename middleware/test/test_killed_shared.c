// SPDX-License-Identifier: Apache-2.0
// A kernel is killed at any instruction of what it does with shared memory.
// with: check.c build.c kernel_stub.c killed.c
#include "check.h"
#include "kernel_stub.h"
#include "killed.h"
#include "wb/wb.h"

enum { POOL_BYTES = 12 * WB_POOL_PAGE_BYTES, TASKS = 2 };

static struct wb_task *task, *peer;

static void build(void)
{
    stub_open(&(struct wb_system_config){ .cores = 2,
                                          .tasks = TASKS,
                                          .channels = 1,
                                          .ports = 1,
                                          .core_align = WB_LINE_BYTES,
                                          .offer_timeout_ns = 1000,
                                          .shared_bytes = POOL_BYTES });
    task = stub_task("task", 0);
    peer = stub_task("peer", 1);
    task->restart = true;
    stub_start(stub.system);
    stub_run(peer);
    wb_task_set_state(peer, wb_shared_malloc(40));
    stub_run(task);
    wb_task_set_state(task, wb_shared_malloc(40));
}

static void build_to_end(void)
{
    build();
    void *block = wb_shared_malloc(40);
    stub_become(1, peer);
    wb_shared_free(block);
    stub_become(0, task);
}

// A first block of a class, further ones, an extent of several pages, both ways to free, and enough
// of it to give runs back.
static void allocate_and_free(void)
{
    void *blocks[9];

    for (int i = 0; i < 9; i++)
        blocks[i] = wb_shared_malloc(2000);
    unsigned char *a = wb_shared_malloc(40), *b = wb_shared_malloc(10000);
    for (int i = 0; i < 9; i++)
        wb_shared_free(blocks[i]);
    wb_shared_free(a);
    wb_shared_free(b);
    wb_shared_free(wb_task_state(peer));
}

static void act_and_end(void)
{
    stub_pause(WB_TASK_ENDED);
}

// Takes all that there is for a task. Every block lies in the pool and overlaps no other.
static bool used[POOL_BYTES / 16];

static uint32_t take_all(struct wb_task *owner)
{
    const unsigned char *base = stub.system->pool->base;
    uint32_t n = 0;
    unsigned char *block;

    stub_become(1, owner);
    for (size_t bytes = 30000; bytes >= 16; bytes /= 2)
        while ((block = wb_shared_malloc(bytes)) != NULL) {
            const size_t at = (size_t)(block - base) / 16, end = at + (bytes + 15) / 16;
            CHECK(end <= POOL_BYTES / 16);
            for (size_t i = at; i < end; i++) {
                CHECK(!used[i]);
                used[i] = true;
            }
            n++;
        }
    return n;
}

static void forget(void)
{
    for (int i = 0; i < POOL_BYTES / 16; i++)
        used[i] = false;
}

// Every claimed page is of an extent with a block in use, but for one extent at most: that which
// the dead task was claiming or giving back.
static void check_claims(void)
{
    const struct wb_pool *pool = stub.system->pool;
    uint32_t claimed =
        32 - (uint32_t)__builtin_popcount(~wb_word_load(&pool->words[0], WB_SEQ_CST));

    claimed -= 32 - pool->pages;
    for (uint32_t i = 0; i < pool->pages; i++)
        if (wb_word_load(&pool->extents[i].owner, WB_SEQ_CST) != NULL) {
            CHECK(wb_word_load(&pool->extents[i].used, WB_SEQ_CST) != 0);
            claimed -= pool->extents[i].size_class == 9 ? 4 : 1;
        }
    CHECK(claimed == 0 || claimed == 1 || claimed == 4);
}

static void check_restarted(void)
{
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    stub_serve(1);
    forget();
    // The block that the dead task held is still its own.
    used[((unsigned char *)wb_task_state(task) - stub.system->pool->base) / 16] = true;
    CHECK(take_all(task) + take_all(peer) > 0);
}

static void check_lost(void)
{
    task->restart = false;
    stub_leave();
    const bool over = wb_state_is_over(wb_word_load(&task->owner_state, WB_SEQ_CST));
    CHECK(wb_core_died(stub.system, 0) == (over ? 0 : 1));
    stub_serve(1);
    stub_run(peer);
    wb_shared_free(wb_task_state(task));
    CHECK(wb_shared_left_bytes(&task->shared) < POOL_BYTES);
    check_claims();
    forget();
    CHECK(take_all(peer) > 0);
}

TEST(shared_memory_is_never_left_with_a_block_in_two_places)
{
    killed_show(&(struct killed){ build, allocate_and_free, check_restarted }, 150);
}

TEST(a_task_that_is_lost_with_shared_memory_leaves_the_pool_to_the_others)
{
    killed_show(&(struct killed){ build, allocate_and_free, check_lost }, 150);
}

TEST(a_task_killed_while_it_ended_leaves_the_pool_to_the_others)
{
    killed_show(&(struct killed){ build_to_end, act_and_end, check_lost }, 8);
}
