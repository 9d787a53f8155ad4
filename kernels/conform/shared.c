// SPDX-License-Identifier: Apache-2.0
// Shared memory on real kernels: tasks allocate on one, pass blocks on, and free them on others,
// while they move, and while a kernel is killed among them.

#include <string.h>

#include "suite.h"

enum { SLOTS = 5, CORES = 3, SIZES = 9 };

struct state {
    uint32_t blocks;
    struct wb_swapped seen;
};

static uint32_t words_of(uint32_t number)
{
    return 2 + (number * 37 & ((4u << number % SIZES) - 1));
}

static void fill(uint32_t *block, uint32_t number)
{
    block[0] = number;
    for (uint32_t i = 1; i < words_of(number); i++)
        block[i] = number * 13 + i;
}

static bool is_whole(const uint32_t *block)
{
    for (uint32_t i = 1; i < words_of(block[0]); i++)
        if (block[i] != block[0] * 13 + i)
            return false;
    return true;
}

// Used up for now: what others free comes home in time.
static uint32_t *get(uint32_t number)
{
    uint32_t *block;

    while ((block = wb_shared_malloc(words_of(number) * sizeof *block)) == NULL)
        wb_yield();
    return block;
}

// ---- Blocks that go over channels ---------------------------------------------------------------

static int sender(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; i < s->blocks; i++) {
        uint32_t *block = get(i);
        fill(block, i);
        if (i % 8 == 0)
            suite_hop(self);
        EXPECT(self, wb_port_send(out, &block, WB_FOREVER) == WB_OK);
    }
    return 0;
}

// Keeps every other block, and sends a copy of its own instead.
static int copier(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    uint32_t *block;

    while (wb_port_receive(in, &block, WB_FOREVER) == WB_OK) {
        EXPECT(self, is_whole(block));
        if (block[0] % 2 == 0) {
            uint32_t *copy = get(block[0]);
            memcpy(copy, block, words_of(block[0]) * sizeof *block);
            wb_shared_free(block);
            block = copy;
        }
        if (block[0] % 16 == 1)
            suite_hop(self);
        EXPECT(self, wb_port_send(out, &block, WB_FOREVER) == WB_OK);
    }
    return 0;
}

static int receiver(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t *block, expected = 0;

    while (wb_port_receive(in, &block, WB_FOREVER) == WB_OK) {
        EXPECT(self, block[0] == expected && is_whole(block));
        expected++;
        wb_shared_free(block);
        (void)wb_word_swap(&s->seen, expected, WB_SEQ_CST);
    }
    return 0;
}

TEST(shared_blocks_arrive_whole_on_every_core_and_are_freed_there)
{
    const struct wb_channel_config channel = { .slots = SLOTS, .slot_bytes = sizeof(void *) };
    struct wb_channel_config first = channel, second = channel;
    struct harness *h = suite_open(CORES, sizeof(struct state));
    struct state *s = suite_state(h);

    first.name = "first";
    second.name = "second";
    s->blocks = suite_count(4000);
    struct wb_task *from = suite_task(
        h, &(struct wb_task_config){ .name = "sender", .entry = sender, .migratable = true });
    struct wb_task *by =
        suite_task(h, &(struct wb_task_config){
                          .name = "copier", .entry = copier, .core = 1, .migratable = true });
    struct wb_task *to =
        suite_task(h, &(struct wb_task_config){ .name = "receiver", .entry = receiver, .core = 2 });
    suite_channel(h, &first, from, by);
    suite_channel(h, &second, by, to);
    suite_run(h);
    CHECK(wb_word_load(&s->seen, WB_SEQ_CST) == s->blocks);
    CHECK(wb_shared_used_bytes(&from->shared) == 0);
    CHECK(wb_shared_used_bytes(&by->shared) == 0);
    CHECK(from->shared.heap.peak_bytes > 0 && to->shared.heap.peak_bytes == 0);
    harness_close(h);
}

// ---- A kernel that is killed among those who allocate -------------------------------------------

// Each writes its own mark into what it allocates: two owners of one block would see the other's.
static int churner(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t *blocks[16] = { NULL };
    uint32_t random = self->id + 1;

    while (!wb_stopping(self)) {
        const uint32_t i = suite_random(&random) % 16;
        if (blocks[i] != NULL) {
            EXPECT(self, blocks[i][1] == self->id && blocks[i][blocks[i][0] - 1] == self->id);
            wb_shared_free(blocks[i]);
        }
        const uint32_t words = 3 + suite_random(&random) % (8u << suite_random(&random) % 8);
        blocks[i] = wb_shared_malloc(words * sizeof *blocks[i]);
        if (blocks[i] != NULL) {
            blocks[i][0] = words;
            blocks[i][1] = blocks[i][words - 1] = self->id;
        }
        wb_word_add(&s->seen, 1, WB_SEQ_CST);
        wb_checkpoint();
    }
    for (uint32_t i = 0; i < 16; i++)
        wb_shared_free(blocks[i]);
    return 0;
}

static bool run_with_a_death(bool restart)
{
    static const char *const names[CORES] = { "a", "b", "c" };
    struct harness *h = suite_open(CORES, sizeof(struct state));
    struct state *s = suite_state(h);
    struct wb_task *tasks[CORES];

    for (uint32_t i = 0; i < CORES; i++)
        tasks[i] =
            suite_task(h, &(struct wb_task_config){
                              .name = names[i], .entry = churner, .core = i, .restart = restart });
    harness_start(h);
    while (wb_word_load(&s->seen, WB_SEQ_CST) < 3000)
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    if (!suite_kill(h, 1))
        return false;
    const uint32_t seen = wb_word_load(&s->seen, WB_SEQ_CST);
    while (wb_word_load(&s->seen, WB_SEQ_CST) < seen + 3000)
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    wb_system_stop(harness_system(h));
    suite_wait(h);
    CHECK(wb_shared_used_bytes(&tasks[0]->shared) == 0);
    CHECK(wb_shared_used_bytes(&tasks[2]->shared) == 0);
    // What the dead one held is left, and the other two did not get it.
    CHECK(wb_shared_left_bytes(&tasks[1]->shared) <= harness_sizes.shared_bytes);
    harness_close(h);
    return true;
}

TEST(a_kernel_killed_among_those_who_share_memory_harms_no_block_of_the_others)
{
    for (uint32_t i = 0; i < suite_count(10); i++)
        if (!run_with_a_death(i % 2 == 0))
            return;
}

// ---- A task that misuses it ---------------------------------------------------------------------

static int frees_twice(struct wb_task *self)
{
    void *block = wb_shared_malloc(100);

    suite_hop(self);
    wb_shared_free(block);
    wb_shared_free(block);
    return 0;
}

TEST(a_task_that_frees_a_shared_block_twice_is_named)
{
    struct harness *h = suite_open(2, 1);

    suite_task(
        h, &(struct wb_task_config){ .name = "guilty", .entry = frees_twice, .migratable = true });
    harness_start(h);
    CHECK(harness_wait(h, SUITE_LIMIT_MS) == HARNESS_FAULT);
    const struct wb_fault *fault = &harness_system(h)->fault;
    CHECK(fault->task == 0 && fault->core == 1 && fault->kind == WB_FAULT_TASK);
    CHECK(strcmp(fault->text, "it freed a shared block twice") == 0);
    harness_close(h);
}
