// SPDX-License-Identifier: Apache-2.0
// A task in the middle of a stream that begins anew wherever it comes to, recreated or re-entered:
// moved, and killed, a great many times.

#include "recreate.h"

enum { MOVES = 1000, KILLS = 100, CORES = 4, SLOTS = 3 };

static int sender(struct wb_task *self)
{
    struct recreated *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; !wb_stopping(self); i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        wb_word_store(&s->sent, i + 1, WB_SEQ_CST);
    }
    return 0;
}

// Every message once and in order; one may come twice for each life of the relay that was cut
// short.
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
    wb_word_store(&s->closed, 1, WB_SEQ_CST);
    return 0;
}

// Of mode WB_REENTER; the one that is recreated is in its program.
struct relayed {
    uint32_t entered, passed;
};

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

static struct wb_task *add_relay(struct harness *h, enum wb_mode mode)
{
    if (mode == WB_RECREATE)
        return recreate_add(h, "relay", 0);
    return suite_task(
        h,
        &(struct wb_task_config){
            .name = "relay", .entry = relay, .migratable = true, .restart = true, .mode = mode });
}

// The ends of the stream are on the last core. NULL: the test is over, as skipped.
static struct harness *open_stream(uint32_t cores, enum wb_mode mode, struct wb_task **task)
{
    if (mode == WB_REENTER && wb_parts.reenter == NULL) {
        wb_test_skip("the program has no re-entry");
        return NULL;
    }
    struct harness *h = recreate_open(cores);
    const uint32_t last = cores - 1;
    struct wb_task *from =
        suite_task(h, &(struct wb_task_config){ .name = "sender", .entry = sender, .core = last });
    struct wb_task *to = suite_task(
        h, &(struct wb_task_config){ .name = "receiver", .entry = receiver, .core = last });

    *task = add_relay(h, mode);
    if (*task == NULL)
        return NULL;
    suite_channel(h,
                  &(struct wb_channel_config){ .name = "first", .slots = SLOTS, .slot_bytes = 4 },
                  from, *task);
    suite_channel(h,
                  &(struct wb_channel_config){ .name = "second", .slots = SLOTS, .slot_bytes = 4 },
                  *task, to);
    return h;
}

static void expect_all_came(struct harness *h, const struct wb_task *task, uint32_t repeated)
{
    const struct recreated *s = suite_state(h);

    wb_system_stop(harness_system(h));
    suite_wait(h);
    CHECK(wb_word_load(&s->closed, WB_SEQ_CST) == 1);
    CHECK(wb_word_load(&s->expected, WB_SEQ_CST) == wb_word_load(&s->sent, WB_SEQ_CST));
    CHECK(wb_word_load(&s->repeated, WB_SEQ_CST) <= repeated);
    if (task->restarts == 0)
        CHECK(wb_word_load(&s->passed, WB_SEQ_CST) == wb_word_load(&s->sent, WB_SEQ_CST));
    // The state of one that is re-entered lies where no kernel takes it along.
    CHECK(task->mode != WB_REENTER || wb_word_load(&s->fresh, WB_SEQ_CST) == 1);
    CHECK(harness_programs(h) == 0);
    harness_close(h);
}

TEST(a_thousand_recreations_lose_double_and_reorder_nothing)
{
    struct wb_task *task;
    struct harness *h = open_stream(2, WB_RECREATE, &task);

    if (h == NULL)
        return;
    const uint32_t moves = suite_count(MOVES);
    struct recreated *s = suite_state(h);
    harness_start(h);
    for (uint32_t i = 0; i < moves; i++) {
        CHECK(recreate_move(h, task, (i + 1) % 2) == WB_OK);
        CHECK(harness_programs(h) <= 2);
    }
    CHECK(wb_task_migrations(task) == moves && task->restarts == 0);
    CHECK(wb_word_load(&s->fresh, WB_SEQ_CST) == 1);
    // Its memory did not grow: one block for what it keeps, one for the data of that.
    CHECK(task->heap.used_bytes == task->heap.peak_bytes);
    expect_all_came(h, task, 0);
}

TEST(a_program_killed_at_any_time_loses_nothing_that_a_channel_accepted)
{
    struct wb_task *task;
    struct harness *h = recreate_in_processes() ? open_stream(2, WB_RECREATE, &task) : NULL;
    uint32_t random = 11, killed = 0;

    if (h == NULL)
        return;
    for (harness_start(h); killed < suite_count(KILLS);) {
        // Also while it is on its way: the other core's process may be just being loaded.
        if (!wb_migration_pending(task))
            CHECK(wb_migration_request(task, suite_random(&random) % 2, WB_FOREVER, NULL) == WB_OK);
        suite_compute(suite_random(&random) % 2000000);
        suite_go_on(h);
        killed += harness_kill_program(h, task);
    }
    expect_all_came(h, task, killed);
}

TEST(a_thousand_re_entries_lose_double_and_reorder_nothing)
{
    struct wb_task *task;
    struct harness *h = open_stream(2, WB_REENTER, &task);
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
    expect_all_came(h, task, 0);
}

static void kill_all_but_the_last(enum wb_mode mode)
{
    uint32_t random = 5;

    for (uint32_t round = 0; round < suite_count(30); round++) {
        struct wb_task *task;
        struct harness *h = open_stream(CORES, mode, &task);

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
        expect_all_came(h, task, CORES - 1);
    }
}

TEST(kernels_killed_while_a_task_is_recreated_lose_nothing_that_a_channel_accepted)
{
    kill_all_but_the_last(WB_RECREATE);
}

TEST(kernels_killed_while_a_task_is_re_entered_lose_nothing_that_a_channel_accepted)
{
    kill_all_but_the_last(WB_REENTER);
}
