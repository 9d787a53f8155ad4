// SPDX-License-Identifier: Apache-2.0
// A task that is re-entered in the middle of a stream: its function begins anew wherever it comes
// to, and finds its state where it left it.

#include "recreate.h"

enum { MOVES = 1000, KILLS = 30, CORES = 4, SLOTS = 3 };

struct relayed {
    uint32_t entered, passed;
};

static int sender(struct wb_task *self)
{
    struct recreated *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; !wb_stopping(self); i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        wb_word_store(&s->sent, i + 1, WB_SEQ_CST);
        wb_checkpoint();
    }
    return 0;
}

static int relay(struct wb_task *self)
{
    struct recreated *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    struct relayed *state = wb_task_state(self);
    const void *slot;

    if (state == NULL) {
        state = wb_calloc(1, sizeof *state);
        EXPECT(self, state != NULL);
        wb_task_set_state(self, state);
        wb_word_store(&s->fresh, wb_word_load(&s->fresh, WB_SEQ_CST) + 1, WB_SEQ_CST);
    }
    wb_word_store(&s->incarnation, ++state->entered, WB_SEQ_CST);
    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        EXPECT(self, wb_port_send(out, slot, WB_FOREVER) == WB_OK);
        EXPECT(self, wb_port_release(in) == WB_OK);
        wb_word_store(&s->passed, ++state->passed, WB_SEQ_CST);
        wb_checkpoint();
    }
    return 0;
}

// One may come twice for each life of the relay that was cut short.
static int receiver(struct wb_task *self)
{
    struct recreated *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t number;

    while (wb_port_receive(in, &number, WB_FOREVER) == WB_OK) {
        const uint32_t expected = wb_word_load(&s->expected, WB_SEQ_CST);
        EXPECT(self, number == expected || number + 1 == expected);
        if (number == expected)
            wb_word_store(&s->expected, number + 1, WB_SEQ_CST);
        else
            wb_word_add(&s->repeated, 1, WB_SEQ_CST);
        wb_checkpoint();
    }
    return 0;
}

// The ends of the stream are on the last core. NULL: the test is over, as skipped.
static struct harness *open_stream(uint32_t cores, struct wb_task **task)
{
    if (wb_parts.reenter == NULL) {
        wb_test_skip("the program has no re-entry");
        return NULL;
    }
    struct harness *h = recreate_open(cores);
    const uint32_t last = cores - 1;
    struct wb_task *from =
        suite_task(h, &(struct wb_task_config){ .name = "sender", .entry = sender, .core = last });
    struct wb_task *to = suite_task(
        h, &(struct wb_task_config){ .name = "receiver", .entry = receiver, .core = last });

    *task = suite_task(h, &(struct wb_task_config){ .name = "relay",
                                                    .entry = relay,
                                                    .migratable = true,
                                                    .restart = true,
                                                    .mode = WB_REENTER });
    suite_channel(h,
                  &(struct wb_channel_config){ .name = "first", .slots = SLOTS, .slot_bytes = 4 },
                  from, *task);
    suite_channel(h,
                  &(struct wb_channel_config){ .name = "second", .slots = SLOTS, .slot_bytes = 4 },
                  *task, to);
    return h;
}

static void expect_all_came(struct harness *h, uint32_t repeated)
{
    const struct recreated *s = suite_state(h);

    wb_system_stop(harness_system(h));
    suite_wait(h);
    CHECK(wb_word_load(&s->expected, WB_SEQ_CST) == wb_word_load(&s->sent, WB_SEQ_CST));
    CHECK(wb_word_load(&s->repeated, WB_SEQ_CST) <= repeated);
    CHECK(wb_word_load(&s->fresh, WB_SEQ_CST) == 1);
    harness_close(h);
}

TEST(a_thousand_re_entries_lose_double_and_reorder_nothing)
{
    struct wb_task *task;
    struct harness *h = open_stream(2, &task);
    const uint32_t moves = suite_count(MOVES);

    if (h == NULL)
        return;
    struct recreated *s = suite_state(h);
    harness_start(h);
    for (uint32_t i = 0; i < moves; i++) {
        const uint32_t passed = wb_word_load(&s->passed, WB_SEQ_CST);
        CHECK(recreate_move(h, task, (i + 1) % 2) == WB_OK);
        while (wb_word_load(&s->passed, WB_SEQ_CST) == passed)
            suite_go_on(h);
    }
    CHECK(wb_task_migrations(task) == moves && task->restarts == 0);
    CHECK(wb_word_load(&s->incarnation, WB_SEQ_CST) == moves + 1);
    CHECK(task->heap.used_bytes == task->heap.peak_bytes);
    expect_all_came(h, 0);
}

TEST(kernels_killed_while_a_task_is_re_entered_lose_nothing_that_a_channel_accepted)
{
    uint32_t random = 5;

    for (uint32_t round = 0; round < suite_count(KILLS); round++) {
        struct wb_task *task;
        struct harness *h = open_stream(CORES, &task);

        if (h == NULL)
            return;
        harness_start(h);
        for (uint32_t core = 0; core < CORES - 1; core++) {
            const uint32_t target = core + 1 + suite_random(&random) % (CORES - 1 - core);
            if (!wb_migration_pending(task))
                CHECK(wb_migration_request(task, target, WB_FOREVER, NULL) == WB_OK);
            suite_compute(suite_random(&random) % 3000000);
            if (!suite_kill(h, core))
                return;
        }
        expect_all_came(h, CORES - 1);
    }
}
