// SPDX-License-Identifier: Apache-2.0
// Unit tests of wb/wb.h.
// with: check.c build.c kernel_stub.c
#include "wb/wb.h"

#include <string.h>

#include "check.h"
#include "kernel_stub.h"

static struct wb_task *one, *two;

static void setup(void)
{
    stub_system(2);
    one = stub_task("one", 0);
    two = stub_task("two", 1);
    stub_become(0, one);
}

TEST(a_block_can_be_written_to_its_last_byte)
{
    setup();
    for (size_t bytes = 0; bytes < 600; bytes = bytes * 2 + 1) {
        unsigned char *block = wb_malloc(bytes);
        CHECK(block != NULL && (uintptr_t)block % 16 == 0);
        CHECK(wb_malloc_size(block) >= bytes);
        memset(block, 0x5a, wb_malloc_size(block));
        wb_free(block);
    }
}

TEST(sizes_are_powers_of_two_less_a_header)
{
    setup();
    CHECK(wb_malloc_size(wb_malloc(0)) == 16);
    CHECK(wb_malloc_size(wb_malloc(16)) == 16);
    CHECK(wb_malloc_size(wb_malloc(17)) == 48);
    CHECK(wb_malloc_size(wb_malloc(48)) == 48);
    CHECK(wb_malloc_size(wb_malloc(49)) == 112);
}

TEST(a_freed_block_is_used_again)
{
    setup();
    void *block = wb_malloc(100);
    wb_free(block);
    CHECK(wb_malloc(100) == block);
}

TEST(blocks_do_not_overlap)
{
    unsigned char *blocks[8];

    setup();
    for (int i = 0; i < 8; i++) {
        blocks[i] = wb_malloc(100);
        memset(blocks[i], i, 100);
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 100; j++)
            CHECK(blocks[i][j] == i);
}

TEST(a_used_up_heap_says_so_and_recovers)
{
    void *blocks[64];
    int n = 0;

    setup();
    while (n < 64 && (blocks[n] = wb_malloc(240)) != NULL)
        n++;
    CHECK(n == 4096 / 256);
    CHECK(wb_malloc(1) == NULL);
    wb_free(blocks[--n]);
    CHECK(wb_malloc(240) != NULL);
    CHECK(wb_malloc(240) == NULL);
}

TEST(a_size_that_no_heap_has_is_refused)
{
    setup();
    CHECK(wb_malloc(SIZE_MAX) == NULL);
    CHECK(wb_malloc((size_t)1 << 30) == NULL);
    CHECK(wb_calloc(SIZE_MAX / 2, 3) == NULL);
    CHECK(wb_memalign(64, SIZE_MAX - 32) == NULL);
    CHECK(wb_memalign(3, 8) == NULL);
    CHECK(wb_memalign(0, 8) == NULL);
}

TEST(calloc_clears_a_block_that_was_used_before)
{
    setup();
    unsigned char *block = wb_malloc(64);
    memset(block, 0xff, 64);
    wb_free(block);
    block = wb_calloc(8, 8);
    for (int i = 0; i < 64; i++)
        CHECK(block[i] == 0);
}

TEST(aligned_blocks_are_aligned_and_go_back)
{
    setup();
    for (size_t align = 1; align <= 1024; align *= 2) {
        unsigned char *block = wb_memalign(align, 40);
        CHECK(block != NULL && (uintptr_t)block % align == 0);
        CHECK(wb_malloc_size(block) >= 40);
        memset(block, 0x77, wb_malloc_size(block));
        wb_free(block);
    }
    CHECK(one->heap.used_bytes == 0);
}

TEST(realloc_keeps_what_fits)
{
    setup();
    unsigned char *block = wb_realloc(NULL, 40);
    memset(block, 0x33, 40);
    CHECK(wb_realloc(block, 48) == block);
    block = wb_realloc(block, 500);
    for (int i = 0; i < 40; i++)
        CHECK(block[i] == 0x33);
    unsigned char *small = wb_realloc(block, 20);
    CHECK(small != block && wb_malloc_size(small) == 48);
    for (int i = 0; i < 20; i++)
        CHECK(small[i] == 0x33);
}

TEST(a_realloc_that_fails_leaves_the_block)
{
    setup();
    unsigned char *block = wb_malloc(1000);
    memset(block, 0x44, 1000);
    CHECK(wb_realloc(block, 100000) == NULL);
    for (int i = 0; i < 1000; i++)
        CHECK(block[i] == 0x44);
}

TEST(a_used_up_heap_still_shrinks_a_block_in_place)
{
    setup();
    void *block = wb_malloc(2000);
    while (wb_malloc(16) != NULL) {}
    CHECK(wb_realloc(block, 10) == block);
}

TEST(freeing_nothing_is_harmless)
{
    setup();
    wb_free(NULL);
    CHECK(one->heap.used_bytes == 0);
}

TEST(use_and_peak_are_counted_in_whole_blocks)
{
    setup();
    void *a = wb_malloc(100), *b = wb_malloc(10);
    CHECK(one->heap.used_bytes == 128 + 32);
    wb_free(a);
    CHECK(one->heap.used_bytes == 32 && one->heap.peak_bytes == 160);
    wb_free(b);
    CHECK(one->heap.used_bytes == 0 && one->heap.peak_bytes == 160);
}

TEST(a_block_freed_by_another_task_goes_home)
{
    setup();
    void *block = wb_malloc(3000), *other = wb_malloc(100);
    CHECK(wb_malloc(1000) == NULL);

    stub_become(1, two);
    wb_free(block);
    wb_free(other);
    CHECK(two->heap.used_bytes == 0);
    CHECK(two->heap.next == two->heap.end - 4096);

    stub_become(0, one);
    CHECK(wb_malloc(3000) == block);
    CHECK(one->heap.used_bytes == 4096);
    CHECK(wb_malloc(100) == other || one->heap.next < one->heap.end);
}

TEST(what_a_full_heap_did_not_give_is_known_by_its_address)
{
    setup();
    CHECK(wb_malloc(10) != NULL && wb_heap_missed(&one->heap, 0) == 0);
    CHECK(wb_malloc(1 << 20) == NULL);
    CHECK(wb_heap_missed(&one->heap, 0) == 1 << 20);
    CHECK(wb_heap_missed(&one->heap, 1 << 20) == 1 << 20);
    CHECK(wb_heap_missed(&one->heap, (1 << 20) + WB_POOL_PAGE_BYTES) == 0);
    CHECK(wb_malloc(SIZE_MAX) == NULL && wb_heap_missed(&one->heap, 0) == SIZE_MAX);
}

TEST(a_second_free_ends_the_run_and_names_the_task)
{
    setup();
    void *block = wb_malloc(10);
    wb_free(block);
    CHECK(HALTS(wb_free(block)));
    CHECK(stub.system->fault.kind == WB_FAULT_TASK && stub.system->fault.task == one->id);
    CHECK(strcmp(stub.system->fault.text, "it freed a heap block twice") == 0);
}

TEST(a_second_free_of_an_aligned_block_ends_the_run)
{
    setup();
    void *block = wb_memalign(256, 10);
    wb_free(block);
    CHECK(HALTS(wb_free(block)));
    CHECK(strcmp(stub.system->fault.text, "it freed a heap block twice") == 0);
}

TEST(a_second_free_by_another_task_names_that_task)
{
    setup();
    void *block = wb_malloc(10);
    stub_become(1, two);
    wb_free(block);
    CHECK(HALTS(wb_free(block)));
    CHECK(stub.system->fault.task == two->id && stub.system->fault.core == 1);
}

TEST(freeing_what_is_no_block_ends_the_run)
{
    setup();
    unsigned char *block = wb_calloc(1, 100);
    CHECK(HALTS(wb_free(block + 32)));
    CHECK(strcmp(stub.system->fault.text, "it freed a pointer that is not a heap block") == 0);
}

TEST(a_heap_of_no_task_serves_the_launcher)
{
    static _Alignas(64) unsigned char memory[512];
    struct wb_heap heap = { 0 };

    setup();
    stub_leave();
    CHECK(wb_malloc(8) == NULL);
    wb_heap_init(&heap, memory, sizeof memory);
    void *block = wb_heap_malloc(&heap, 400);
    CHECK(block != NULL && wb_heap_malloc(&heap, 1) == NULL);
    wb_free(block);
    CHECK(wb_heap_malloc(&heap, 400) == block);
}

TEST(a_block_of_a_private_heap_used_by_another_task_ends_the_run_and_names_that_task)
{
    setup();
    one->heap.is_private = true;
    void *block = wb_malloc(10), *aligned = wb_memalign(256, 10);
    CHECK(wb_malloc_size(block) >= 10);
    stub_become(0, two);
    CHECK(HALTS(wb_free(block)));
    CHECK(stub.system->fault.task == two->id);
    CHECK(strstr(stub.system->fault.text, "private heap of another task") != NULL);
    CHECK(HALTS(wb_free(aligned)) && HALTS(wb_realloc(block, 9)) && HALTS(wb_malloc_size(block)));
    stub_become(0, one);
    wb_free(block);
    wb_free(aligned);
    CHECK(one->heap.used_bytes == 0);
}

static int no_entry(struct wb_task *self)
{
    (void)self;
    return 0;
}

TEST(only_the_heap_of_a_task_that_is_handed_off_is_seen_by_all)
{
    static const enum wb_mode modes[] = { WB_HANDOFF, WB_REPLICATE, WB_RECREATE };
    static const char *const names[] = { "h", "p", "c" };

    stub_system(1);
    for (int i = 0; i < 3; i++) {
        struct wb_task_config config = { .name = names[i], .mode = modes[i], .entry = no_entry };
        struct wb_task *task;
        CHECK(wb_task_add(stub.system, &config, &task) == WB_OK);
        CHECK(task->heap.is_private == (modes[i] != WB_HANDOFF));
    }
}

// ---- Looking for addresses ----

TEST(an_address_in_a_block_is_found_and_none_in_one_that_was_freed)
{
    static const char there[16];
    const uintptr_t low = (uintptr_t)there, high = low + sizeof there;

    setup();
    const struct wb_task *task = one;
    uintptr_t *block = wb_malloc(10 * sizeof *block), *other = wb_malloc(200);
    memset(block, 0, 10 * sizeof *block);
    memset(other, 0, 200);
    CHECK(wb_heap_find(task, low, high) == NULL);
    other[7] = high;
    CHECK(wb_heap_find(task, low, high) == NULL);
    other[7] = high - 1;
    CHECK(wb_heap_find(task, low, high) == &other[7]);
    wb_free(other);
    CHECK(wb_heap_find(task, low, high) == NULL);
    block[9] = low;
    CHECK(wb_heap_find(task, low, high) == &block[9]);
}
