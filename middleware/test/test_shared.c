// SPDX-License-Identifier: Apache-2.0
// Unit tests of shared memory: what wb/wb.h promises of it. Misuse: test_shared_misuse.c.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

enum { POOL_BYTES = 256 << 10, BIG_BYTES = (128 << 10) - 16 };

static struct wb_task *one, *two;

static void setup_with(size_t shared_bytes)
{
    stub_open(&(struct wb_system_config){ .cores = 2,
                                          .tasks = 2,
                                          .channels = 1,
                                          .ports = 2,
                                          .core_align = WB_LINE_BYTES,
                                          .offer_timeout_ns = 1000,
                                          .shared_bytes = shared_bytes });
    one = stub_task("one", 0);
    two = stub_task("two", 1);
    stub_become(0, one);
}

static void setup(void)
{
    setup_with(POOL_BYTES);
}

// Every page is free again.
static bool pool_is_whole(void)
{
    const struct wb_pool *pool = stub.system->pool;

    for (uint32_t i = 0; i < pool->n_words; i++)
        if (wb_word_load(&pool->words[i], WB_SEQ_CST) != 0)
            return false;
    return true;
}

// ---- What it promises ---------------------------------------------------------------------------

TEST(a_shared_block_can_be_written_to_its_last_byte)
{
    setup();
    for (size_t bytes = 0; bytes <= 130000; bytes = bytes * 2 + 1) {
        unsigned char *block = wb_shared_malloc(bytes);
        CHECK(block != NULL && (uintptr_t)block % 16 == 0);
        memset(block, 0x5a, bytes);
        wb_shared_free(block);
    }
    CHECK(one->shared.heap.used_bytes == 0);
}

TEST(a_system_may_have_no_pool)
{
    int local;

    setup_with(0);
    CHECK(wb_shared_malloc(1) == NULL);
    CHECK(wb_shared_realloc(NULL, 1) == NULL);
    CHECK(HALTS(wb_shared_free(&local)));
    CHECK(strcmp(stub.system->fault.text, "it freed a pointer that is not a shared block") == 0);
}

TEST(a_pool_larger_than_its_indices_is_refused)
{
    static _Alignas(64) unsigned char memory[4096];
    struct wb_system *system;

    CHECK(wb_system_init(&system, memory, sizeof memory,
                         &(struct wb_system_config){ .cores = 1,
                                                     .core_align = WB_LINE_BYTES,
                                                     .shared_bytes = (size_t)WB_SHARED_MAX + 1 }) ==
          WB_ERR_INVAL);
}

TEST(what_is_not_there_is_never_handed_out)
{
    uint32_t blocks = 0;

    setup_with((size_t)5 * WB_POOL_PAGE_BYTES - 100);
    while (wb_shared_malloc(4000) != NULL)
        blocks++;
    CHECK(blocks == 5);
}

TEST(a_used_up_pool_says_so_and_recovers)
{
    void *first, *second;

    setup();
    CHECK((first = wb_shared_malloc(BIG_BYTES)) != NULL);
    CHECK((second = wb_shared_malloc(BIG_BYTES)) != NULL);
    CHECK(wb_shared_malloc(1) == NULL);
    wb_shared_free(first);
    CHECK(wb_shared_malloc(BIG_BYTES) == first);
    CHECK(wb_shared_malloc(SIZE_MAX) == NULL && wb_shared_malloc((size_t)1 << 30) == NULL);
    CHECK(wb_shared_malloc(2 * POOL_BYTES) == NULL);
    wb_shared_free(second);
    wb_shared_free(first);
    CHECK(pool_is_whole());
}

TEST(a_block_may_take_several_words_of_the_pool)
{
    setup();
    unsigned char *all = wb_shared_malloc(POOL_BYTES - 16);
    CHECK(all != NULL && wb_shared_malloc(1) == NULL);
    memset(all, 1, POOL_BYTES - 16);
    wb_shared_free(all);
    CHECK(pool_is_whole());
    void *small = wb_shared_malloc(1);
    CHECK(small != NULL && wb_shared_malloc(POOL_BYTES - 16) == NULL);
    // What it claimed before it found the small block is free again.
    CHECK(wb_shared_malloc(BIG_BYTES) != NULL);
}

TEST(small_blocks_leave_room_for_large_ones_again)
{
    static void *blocks[8192];
    uint32_t n = 0;

    setup();
    while (n < 8192 && (blocks[n] = wb_shared_malloc(16)) != NULL)
        n++;
    CHECK(n == POOL_BYTES / 32);
    while (n > 0)
        wb_shared_free(blocks[--n]);
    CHECK(wb_shared_malloc(POOL_BYTES - 16) != NULL);
}

TEST(a_task_keeps_little_of_what_it_freed)
{
    void *blocks[256];

    setup();
    for (int i = 0; i < 256; i++)
        CHECK((blocks[i] = wb_shared_malloc(900)) != NULL);
    CHECK(wb_shared_malloc(1) == NULL);
    for (int i = 0; i < 256; i++)
        wb_shared_free(blocks[i]);
    stub_become(1, two);
    for (int i = 0; i < (POOL_BYTES - (32 << 10)) / 4096; i++)
        CHECK(wb_shared_malloc(4000) != NULL);
}

TEST(realloc_keeps_what_fits_in_shared_memory)
{
    setup();
    unsigned char *block = wb_shared_realloc(NULL, 40);
    memset(block, 0x33, 40);
    CHECK(wb_shared_realloc(block, 48) == block);
    block = wb_shared_realloc(block, 500);
    unsigned char *small = wb_shared_realloc(block, 20);
    CHECK(small != block);
    for (int i = 0; i < 20; i++)
        CHECK(small[i] == 0x33);
    CHECK(one->shared.heap.used_bytes == 64);
}

TEST(a_realloc_of_shared_memory_that_fails_leaves_the_block)
{
    setup();
    unsigned char *block = wb_shared_malloc(BIG_BYTES);
    memset(block, 0x44, BIG_BYTES);
    CHECK(wb_shared_realloc(block, POOL_BYTES - 16) == NULL);
    CHECK(block[0] == 0x44 && block[BIG_BYTES - 1] == 0x44);
    CHECK(wb_shared_malloc(BIG_BYTES) != NULL);
    CHECK(wb_shared_realloc(block, 10) == block);
}

TEST(a_shared_block_freed_by_another_task_goes_home)
{
    setup();
    void *block = wb_shared_malloc(3000);
    stub_become(1, two);
    wb_shared_free(block);
    CHECK(two->shared.heap.used_bytes == 0 && one->shared.heap.used_bytes == 4096);
    stub_become(0, one);
    CHECK(wb_shared_malloc(3000) == block);
    CHECK(one->shared.heap.used_bytes == 4096);
}

TEST(use_and_peak_of_shared_memory_are_counted_in_whole_blocks)
{
    setup();
    void *a = wb_shared_malloc(100), *b = wb_shared_malloc(10);
    CHECK(wb_shared_used_bytes(&one->shared) == 128 + 32);
    wb_shared_free(a);
    CHECK(wb_shared_used_bytes(&one->shared) == 32 && one->shared.heap.peak_bytes == 160);
    wb_shared_free(b);
    CHECK(wb_shared_used_bytes(&one->shared) == 0 && wb_shared_left_bytes(&one->shared) == 0);
}

TEST(freeing_no_shared_block_is_harmless)
{
    setup();
    wb_shared_free(NULL);
    wb_system_shared_free(stub.system, NULL);
    CHECK(stub.system->fault.kind == WB_FAULT_NONE);
}

TEST(the_launcher_shares_memory_with_the_tasks)
{
    setup();
    stub_leave();
    CHECK(wb_shared_malloc(8) == NULL && wb_shared_realloc(NULL, 8) == NULL);
    unsigned char *block = wb_system_shared_malloc(stub.system, 8);
    CHECK(block != NULL);
    block[7] = 9;
    block = wb_system_shared_realloc(stub.system, block, 300);
    CHECK(block != NULL && block[7] == 9);
    stub_become(0, one);
    wb_shared_free(block);
    void *mine = wb_shared_malloc(300);
    stub_leave();
    wb_system_shared_free(stub.system, mine);
    // Each takes home what the other freed once it has nothing else.
    CHECK(wb_system_shared_malloc(stub.system, BIG_BYTES) != NULL);
    CHECK(wb_shared_used_bytes(&stub.system->shared) == 128 << 10);
    stub_become(0, one);
    CHECK(wb_shared_malloc(BIG_BYTES - 4096) == NULL);
    CHECK(wb_shared_used_bytes(&one->shared) == 0);
}

// ---- The end of a task --------------------------------------------------------------------------

static void end(struct wb_task *task)
{
    stub_run(task);
    stub_pause(WB_TASK_ENDED);
}

TEST(what_a_task_shared_outlives_it_and_is_counted_as_left)
{
    setup();
    stub_start(stub.system);
    stub_run(one);
    unsigned char *small = wb_shared_malloc(40), *large = wb_shared_malloc(BIG_BYTES);
    wb_shared_free(wb_shared_malloc(1000));
    memset(small, 7, 40);
    CHECK(wb_shared_left_bytes(&one->shared) == 0);
    end(one);
    CHECK(wb_shared_left_bytes(&one->shared) == 64 + (128 << 10));
    CHECK(wb_shared_used_bytes(&one->shared) == 64 + (128 << 10));
    stub_run(two);
    CHECK(small[39] == 7);
    wb_shared_free(small);
    CHECK(wb_shared_left_bytes(&one->shared) == 128 << 10);
    wb_shared_free(large);
    CHECK(wb_shared_used_bytes(&one->shared) == 0 && pool_is_whole());
}

TEST(what_was_sent_home_before_the_end_is_free_after_it)
{
    setup();
    stub_start(stub.system);
    stub_run(one);
    void *blocks[2] = { wb_shared_malloc(40), wb_shared_malloc(40) };
    stub_become(1, two);
    wb_shared_free(blocks[0]);
    wb_shared_free(blocks[1]);
    end(one);
    CHECK(wb_shared_used_bytes(&one->shared) == 0 && pool_is_whole());
}

TEST(what_a_life_before_a_restart_allocated_is_counted_as_left)
{
    setup();
    one->restart = true;
    stub_start(stub.system);
    stub_run(one);
    void *old = wb_shared_malloc(40);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0 && one->restarts == 1);
    stub_serve(1);
    stub_run(one);
    void *young = wb_shared_malloc(100);
    CHECK(wb_shared_left_bytes(&one->shared) == 64);
    wb_shared_free(young);
    CHECK(wb_shared_left_bytes(&one->shared) == 64);
    wb_shared_free(old);
    CHECK(wb_shared_left_bytes(&one->shared) == 0 && wb_shared_used_bytes(&one->shared) == 0);
}

TEST(a_lost_task_leaves_its_shared_blocks_and_loses_its_heap)
{
    setup();
    stub_start(stub.system);
    stub_run(one);
    void *block = wb_shared_malloc(40), *own = wb_malloc(40);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 1);
    CHECK(wb_shared_left_bytes(&one->shared) == 64);
    CHECK(one->heap.used_bytes == 0 && one->heap.next == one->heap.base);
    stub_run(two);
    wb_free(own);
    wb_shared_free(block);
    CHECK(pool_is_whole() && stub.system->fault.kind == WB_FAULT_NONE);
}

TEST(a_heap_is_free_once_its_task_has_ended_whoever_frees_what_later)
{
    setup();
    stub_start(stub.system);
    stub_run(one);
    void *kept = wb_malloc(100), *sent_home = wb_malloc(10);
    stub_become(1, two);
    wb_free(sent_home);
    end(one);
    CHECK(one->heap.used_bytes == 0 && one->heap.peak_bytes == 160);
    CHECK(one->heap.next == one->heap.base);
    stub_run(two);
    wb_free(kept);
    CHECK(HALTS(wb_free(kept)));
    CHECK(strcmp(stub.system->fault.text, "it freed a heap block twice") == 0);
}
