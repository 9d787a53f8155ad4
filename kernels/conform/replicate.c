// SPDX-License-Identifier: Apache-2.0
// Tasks that are replicated: memory of their own in every kernel, of which a migration copies what
// is in use. A kernel without private memory has no such tasks.

#include <string.h>

#include "suite.h"

enum { BLOCK_BYTES = 3000, DEPTH = 20, FRAME_BYTES = 500 };

struct state {
    uint32_t *watched;  // in the heap of a replicated task
    struct wb_word wrote, looked;
    struct wb_word received, queue, over;
};

static bool has_private_memory(void)
{
    const bool has = (wb_kernel_can() & WB_CAN_REPLICATE) != 0;

    if (!has)
        wb_test_skip("this kernel has no private memory");
    return has;
}

static struct wb_task *add(struct harness *h, const char *name, wb_task_entry *entry, uint32_t core)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .entry = entry,
                                                   .core = core,
                                                   .heap_bytes = 64 << 10,
                                                   .migratable = true,
                                                   .mode = WB_REPLICATE });
}

// ---- What is copied -----------------------------------------------------------------------------

// Hops at the bottom of a deep stack, and finds everything above as it was.
static uint32_t descend(struct wb_task *self, uint32_t depth)
{
    unsigned char frame[FRAME_BYTES];

    memset(frame, (int)depth, sizeof frame);
    if (depth == 0)
        suite_hop(self);
    const uint32_t below = depth == 0 ? 0 : descend(self, depth - 1);
    for (uint32_t i = 0; i < sizeof frame; i++)
        EXPECT(self, frame[i] == (unsigned char)depth);
    return below + 1;
}

static int traveller(struct wb_task *self)
{
    uint32_t *block = wb_malloc(BLOCK_BYTES);
    uint32_t *const *to_block = &block;

    EXPECT(self, block != NULL);
    for (uint32_t round = 0; round < suite_count(2000); round++) {
        for (uint32_t i = 0; i < BLOCK_BYTES / sizeof *block; i++)
            (*to_block)[i] = round + i;
        EXPECT(self, descend(self, round % DEPTH) == round % DEPTH + 1);
        for (uint32_t i = 0; i < BLOCK_BYTES / sizeof *block; i++)
            EXPECT(self, block[i] == round + i);
        // A heap that moves goes on to allocate and to free.
        uint32_t *other = wb_malloc(64 + round % 2000);
        EXPECT(self, other != NULL && other != block);
        wb_free(other);
    }
    return 0;
}

static struct harness *open_with(uint32_t cores, enum wb_transport transport)
{
    return suite_open_with(
        &(struct harness_config){ .cores = cores, .poll_ns = 20000, .transport = transport },
        sizeof(struct state));
}

static void travel(enum wb_transport transport)
{
    if (!has_private_memory())
        return;
    struct harness *h = open_with(2, transport);
    const struct wb_task *task = add(h, "traveller", traveller, 0);
    struct wb_migration m;

    suite_run(h);
    CHECK(wb_task_migrations(task) == suite_count(2000));
    CHECK(wb_ring_take(&harness_system(h)->cores[1]->record.migrations, &m));
    CHECK(m.mode == WB_REPLICATE && m.status == WB_OK);
    CHECK(m.bytes >= BLOCK_BYTES && m.bytes < 2 * harness_sizes.stack_bytes);
    CHECK(m.parked_ns <= m.copied_ns && m.copied_ns <= m.attached_ns);
    harness_close(h);
}

TEST(a_replicated_task_takes_its_stack_and_heap_along)
{
    travel(WB_TRANSPORT_ALIAS);
}

TEST(so_it_does_through_the_transfer_buffer)
{
    travel(WB_TRANSPORT_BUFFER);
}

// ---- Whose memory it is -------------------------------------------------------------------------

static int writer(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    s->watched = wb_malloc(64);
    *s->watched = 1;
    suite_hop(self);
    *s->watched = 2;
    wb_word_store(&s->wrote, 1, WB_SEQ_CST);
    while (wb_word_load(&s->looked, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
    EXPECT(self, *s->watched == 2);
    return 0;
}

static int onlooker(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    while (wb_word_load(&s->wrote, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
    const uint32_t *left = wb_kernel_private(wb_task_core(self), s->watched);
    EXPECT(self, left != NULL && *left == 1);
    wb_word_store(&s->looked, 1, WB_SEQ_CST);
    return 0;
}

TEST(the_replica_that_a_task_has_left_stays_as_it_was)
{
    if (!has_private_memory())
        return;
    struct harness *h = suite_open(2, sizeof(struct state));

    add(h, "writer", writer, 0);
    suite_task(h, &(struct wb_task_config){ .name = "onlooker", .entry = onlooker, .core = 0 });
    suite_run(h);
    harness_close(h);
}

// ---- A stream through it ------------------------------------------------------------------------

static int source(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; i < suite_count(20000); i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        wb_checkpoint();
    }
    return 0;
}

static int sink(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t *expected = wb_calloc(1, sizeof *expected), message;

    while (wb_port_receive(in, &message, WB_FOREVER) == WB_OK) {
        EXPECT(self, message == *expected);
        ++*expected;
        wb_checkpoint();
    }
    wb_word_store(&s->received, *expected, WB_SEQ_CST);
    wb_word_store(&s->over, 1, WB_SEQ_CST);
    return 0;
}

static int mover(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t random = 77;

    while (wb_word_load(&s->over, WB_SEQ_CST) == 0) {
        const char *name = suite_random(&random) % 2 == 0 ? "source" : "sink";
        const enum wb_status status = wb_migrate(wb_task_find(wb_task_app(self), name, 0),
                                                 suite_random(&random) % 3, 1000000);
        EXPECT(self, status == WB_OK || status == WB_ERR_GONE || status == WB_ERR_TIMEOUT ||
                         status == WB_ERR_FULL || status == WB_ERR_BUSY);
    }
    return 0;
}

static void stream(enum wb_transport transport)
{
    if (!has_private_memory())
        return;
    struct harness *h = open_with(3, transport);
    const struct state *s = suite_state(h);

    suite_channel(h, &(struct wb_channel_config){ .name = "stream", .slots = 3, .slot_bytes = 4 },
                  add(h, "source", source, 0), add(h, "sink", sink, 1));
    suite_task(h, &(struct wb_task_config){ .name = "mover", .entry = mover, .core = 2 });
    suite_run(h);
    CHECK(wb_word_load(&s->received, WB_SEQ_CST) == suite_count(20000));
    harness_close(h);
}

TEST(a_stream_between_replicated_tasks_loses_doubles_and_reorders_nothing)
{
    stream(WB_TRANSPORT_ALIAS);
}

TEST(nor_does_it_through_the_transfer_buffer)
{
    stream(WB_TRANSPORT_BUFFER);
}

// ---- Deaths -------------------------------------------------------------------------------------

static int sleeper(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t *kept = wb_malloc(BLOCK_BYTES), here[100];

    kept[0] = 41;
    here[99] = 1;
    suite_hop(self);
    kept[0]++;
    wb_word_store(&s->wrote, 1, WB_SEQ_CST);
    while (wb_word_load(&s->queue, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 1000000);
    wb_word_store(&s->received, kept[0] + here[99], WB_SEQ_CST);
    return 0;
}

TEST(a_replicated_task_that_waited_on_a_killed_kernel_is_fetched_from_its_memory)
{
    if (!has_private_memory())
        return;
    struct harness *h = suite_open(2, sizeof(struct state));
    struct state *s = suite_state(h);
    const struct wb_task *task = add(h, "sleeper", sleeper, 0);

    harness_start(h);
    suite_wait_for(h, &s->wrote, 1);
    suite_wait_for_state(h, task, WB_TASK_BLOCKED);
    if (!suite_kill(h, 1))
        return;
    // Rarely, it had just woken up.
    const bool lost =
        wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == WB_TASK_LOST;
    wb_word_store(&s->queue, 1, WB_SEQ_CST);
    suite_wait(h);
    CHECK(lost || wb_word_load(&s->received, WB_SEQ_CST) == 43);
    harness_close(h);
}
