// SPDX-License-Identifier: Apache-2.0
// Every misuse of shared memory is found out, and the run ends with the name of who did it.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

enum { POOL_BYTES = 256 << 10, BIG_BYTES = (128 << 10) - 16 };

static struct wb_task *one, *two;

static void setup(void)
{
    stub_open(&(struct wb_system_config){ .cores = 2,
                                          .tasks = 2,
                                          .core_align = WB_LINE_BYTES,
                                          .offer_timeout_ns = 1000,
                                          .shared_bytes = POOL_BYTES });
    one = stub_task("one", 0);
    two = stub_task("two", 1);
    stub_become(0, one);
}

static void expect(const struct wb_task *task, const char *text)
{
    CHECK(stub.system->fault.kind == WB_FAULT_TASK && stub.system->fault.task == task->id);
    CHECK(strcmp(stub.system->fault.text, text) == 0);
}

TEST(a_second_free_of_a_shared_block_ends_the_run)
{
    setup();
    void *block = wb_shared_malloc(10);
    wb_shared_free(block);
    CHECK(HALTS(wb_shared_free(block)));
    expect(one, "it freed a shared block twice");
}

TEST(a_second_free_is_found_out_after_the_pool_has_the_block_back)
{
    setup();
    void *block = wb_shared_malloc(BIG_BYTES);
    wb_shared_free(block);
    CHECK(wb_word_load(&stub.system->pool->words[0], WB_SEQ_CST) == 0);
    CHECK(HALTS(wb_shared_free(block)));
    expect(one, "it freed a shared block twice");
}

TEST(a_second_free_of_a_shared_block_by_another_task_names_that_task)
{
    setup();
    void *block = wb_shared_malloc(10);
    stub_become(1, two);
    wb_shared_free(block);
    CHECK(HALTS(wb_shared_free(block)));
    expect(two, "it freed a shared block twice");
}

TEST(a_realloc_of_a_freed_shared_block_ends_the_run)
{
    setup();
    void *block = wb_shared_malloc(10);
    wb_shared_free(block);
    CHECK(HALTS(wb_shared_realloc(block, 100)));
    expect(one, "it freed a shared block twice");
}

TEST(a_pointer_into_a_shared_block_ends_the_run)
{
    setup();
    unsigned char *block = wb_shared_malloc(200);
    // Made to look like a block: what decides is where it lies.
    memcpy(block + 16, block - 16, 16);
    CHECK(HALTS(wb_shared_free(block + 32)));
    expect(one, "it freed a pointer that is not a shared block");
}

TEST(a_pointer_into_a_large_shared_block_ends_the_run)
{
    setup();
    unsigned char *block = wb_shared_malloc(BIG_BYTES);
    memcpy(block + WB_POOL_PAGE_BYTES - 16, block - 16, 16);
    CHECK(HALTS(wb_shared_free(block + WB_POOL_PAGE_BYTES)));
    expect(one, "it freed a pointer that is not a shared block");
}

TEST(an_odd_pointer_into_the_pool_ends_the_run)
{
    setup();
    unsigned char *block = wb_shared_malloc(200);
    CHECK(HALTS(wb_shared_free(block + 1)));
    expect(one, "it freed a pointer that is not a shared block");
}

TEST(a_pointer_that_is_nowhere_in_shared_memory_ends_the_run)
{
    int local;

    setup();
    CHECK(HALTS(wb_shared_free(&local)));
    expect(one, "it freed a pointer that is not a shared block");
}

TEST(a_heap_block_is_no_shared_block)
{
    setup();
    void *block = wb_malloc(10);
    CHECK(HALTS(wb_shared_free(block)));
    expect(one, "it freed a heap block as a shared block: use wb_free()");
}

TEST(an_aligned_heap_block_is_no_shared_block)
{
    setup();
    void *block = wb_memalign(128, 10);
    CHECK(HALTS(wb_shared_free(block)));
    expect(one, "it freed a heap block as a shared block: use wb_free()");
}

TEST(a_shared_block_is_no_heap_block)
{
    setup();
    void *block = wb_shared_malloc(10);
    CHECK(HALTS(wb_free(block)));
    expect(one, "it freed a shared block as a heap block: use wb_shared_free()");
}
