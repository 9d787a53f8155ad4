// SPDX-License-Identifier: Apache-2.0
// Time: one clock, timers that are never early, timeouts that are told from messages, periods.

#include "suite.h"

enum { SLEEPERS = 6, NAPS = 60, JOBS = 40, TRIES = 8 };

static const uint64_t period_ns = 2000000, patience_ns = 500000;

struct state {
    uint64_t base_ns;
    uint64_t order[SLEEPERS];
    struct wb_word late, given_up;
    struct wb_swapped awake;
    uint32_t rounds;
    uint64_t jobs, misses;
};

// ---- Sleeping -----------------------------------------------------------------------------------

static int napper(struct wb_task *self)
{
    uint32_t random = 5 + wb_task_index(self);

    for (uint32_t i = 0; i < NAPS; i++) {
        const uint64_t until_ns = wb_now_ns() + suite_random(&random) % 1000000;
        wb_sleep_until(until_ns);
        EXPECT(self, wb_now_ns() >= until_ns);
        if (i % 8 == 0)
            suite_hop(self);
    }
    return 0;
}

TEST(a_sleep_never_ends_early)
{
    struct harness *h = suite_open(2, sizeof(struct state));

    for (uint32_t i = 0; i < SLEEPERS; i++)
        suite_task(
            h,
            &(struct wb_task_config){
                .name = "napper", .index = i, .entry = napper, .core = i % 2, .migratable = true });
    suite_run(h);
    harness_close(h);
}

static int sleeper(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    // 0 5 10 3 8 1: no order in which they could have been added.
    const uint64_t turn = wb_task_index(self) * 5 % 12;

    if (wb_now_ns() >= s->base_ns)
        wb_word_store(&s->late, 1, WB_SEQ_CST);
    wb_sleep_until(s->base_ns + turn * 3000000);
    s->order[wb_word_add(&s->awake, 1, WB_SEQ_CST)] = turn;
    return 0;
}

// Returns: false if one of them had no time left to sleep.
static bool wake_in_order(uint64_t lead_ns)
{
    struct harness *h = suite_open(1, sizeof(struct state));
    struct state *s = suite_state(h);

    for (uint32_t i = 0; i < SLEEPERS; i++)
        suite_task(h, &(struct wb_task_config){ .name = "sleeper", .index = i, .entry = sleeper });
    s->base_ns = wb_now_ns() + lead_ns;
    suite_run(h);
    CHECK(wb_word_load(&s->awake, WB_SEQ_CST) == SLEEPERS);
    const bool in_time = wb_word_load(&s->late, WB_SEQ_CST) == 0;
    for (uint32_t i = 1; i < SLEEPERS; i++)
        CHECK(!in_time || s->order[i - 1] < s->order[i]);
    harness_close(h);
    return in_time;
}

TEST(sleepers_of_one_core_wake_in_the_order_of_their_times)
{
    uint64_t lead_ns = 20000000;

    // A machine with other work may take long to start a kernel.
    while (!wake_in_order(lead_ns)) {
        CHECK(lead_ns < 10000000000);
        lead_ns *= 2;
    }
}

// ---- Timeouts -----------------------------------------------------------------------------------

static void run_pair(wb_task_entry *from, wb_task_entry *to)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    const struct state *s = suite_state(h);
    const struct wb_task_config sender = { .name = "sender", .entry = from, .migratable = true };
    const struct wb_task_config receiver = {
        .name = "receiver", .entry = to, .core = 1, .migratable = true
    };

    suite_channel(h, &(struct wb_channel_config){ .name = "c", .slots = 3, .slot_bytes = 4 },
                  suite_task(h, &sender), suite_task(h, &receiver));
    suite_run(h);
    CHECK(wb_word_load(&s->given_up, WB_SEQ_CST) == 1);
    harness_close(h);
}

static void wait_until_given_up(struct state *s)
{
    while (wb_word_load(&s->given_up, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 100000);
}

static int impatient_receiver(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t message = 42;
    const void *slot = &message;

    EXPECT(self, wb_port_receive(in, &message, 0) == WB_ERR_EMPTY);
    EXPECT(self, wb_port_hold(in, &slot, 0) == WB_ERR_EMPTY);
    for (uint32_t i = 0; i < TRIES; i++) {
        const uint64_t until_ns = wb_now_ns() + patience_ns;
        EXPECT(self, wb_port_receive(in, &message, patience_ns) == WB_ERR_TIMEOUT);
        EXPECT(self, wb_now_ns() >= until_ns);
        suite_hop(self);
    }
    EXPECT(self, message == 42 && slot == &message);
    wb_word_store(&s->given_up, 1, WB_SEQ_CST);
    EXPECT(self, wb_port_receive(in, &message, WB_FOREVER) == WB_OK && message == 7);
    return 0;
}

static int late_sender(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    const uint32_t message = 7;

    wait_until_given_up(suite_shared(self));
    EXPECT(self, wb_port_send(out, &message, WB_FOREVER) == WB_OK);
    return 0;
}

TEST(a_receive_never_times_out_early_and_leaves_its_message_alone)
{
    run_pair(late_sender, impatient_receiver);
}

static int impatient_sender(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    const uint32_t refused = 99;
    void *slot;

    for (uint32_t i = 0; i < 3; i++)
        EXPECT(self, wb_port_send(out, &i, 0) == WB_OK);
    EXPECT(self, wb_port_send(out, &refused, 0) == WB_ERR_FULL);
    EXPECT(self, wb_port_claim(out, &slot, 0) == WB_ERR_FULL);
    for (uint32_t i = 0; i < TRIES; i++) {
        const uint64_t until_ns = wb_now_ns() + patience_ns;
        EXPECT(self, wb_port_send(out, &refused, patience_ns) == WB_ERR_TIMEOUT);
        EXPECT(self, wb_now_ns() >= until_ns);
        suite_hop(self);
    }
    wb_word_store(&s->given_up, 1, WB_SEQ_CST);
    return 0;
}

static int late_receiver(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t message;

    wait_until_given_up(suite_shared(self));
    for (uint32_t i = 0; i < 3; i++)
        EXPECT(self, wb_port_receive(in, &message, 0) == WB_OK && message == i);
    EXPECT(self, wb_port_receive(in, &message, WB_FOREVER) == WB_ERR_GONE);
    return 0;
}

TEST(a_send_never_times_out_early_and_leaves_the_channel_as_it_was)
{
    run_pair(impatient_sender, late_receiver);
}

// ---- The clock ----------------------------------------------------------------------------------

static int watchmaker(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    uint64_t last_ns = 0;

    for (uint32_t i = 0; i < s->rounds; i++) {
        const uint64_t now_ns = wb_now_ns();
        EXPECT(self, now_ns >= last_ns);
        last_ns = wb_kernel_stamp_ns();
        EXPECT(self, last_ns >= now_ns && last_ns <= wb_now_ns());
        suite_hop(self);
    }
    return 0;
}

TEST(the_clock_never_goes_back_on_the_way_from_core_to_core)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    struct state *s = suite_state(h);

    s->rounds = suite_count(3000);
    suite_task(h, &(struct wb_task_config){
                      .name = "watchmaker", .entry = watchmaker, .migratable = true });
    suite_run(h);
    harness_close(h);
}

// ---- Periods ------------------------------------------------------------------------------------

// Job k is released at start + offset + k * period, wherever the task is. One is late on purpose.
static int periodic(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint64_t k = 0; k < JOBS; k++) {
        const bool overruns = k == JOBS / 2;
        EXPECT(self, wb_now_ns() >= self->system->start_ns + period_ns * (k + 1));
        if (overruns)
            suite_compute(3 * period_ns);
        else if (k % 4 == 0)
            suite_hop(self);
        const bool met = wb_period_wait(self);
        EXPECT(self, !(overruns && met));
        s->misses += !met;
        s->jobs++;
    }
    return 0;
}

TEST(a_periodic_task_is_released_on_time_and_counts_its_misses)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    const struct state *s = suite_state(h);
    const struct wb_task *task = suite_task(h, &(struct wb_task_config){ .name = "periodic",
                                                                         .entry = periodic,
                                                                         .migratable = true,
                                                                         .period_ns = period_ns,
                                                                         .offset_ns = period_ns });

    suite_run(h);
    CHECK(s->jobs == JOBS && wb_counter_get(&task->stats.jobs) == JOBS);
    CHECK(s->misses >= 1 && wb_counter_get(&task->stats.misses) == s->misses);
    CHECK(wb_stamp_get(&task->stats.worst_late_ns) >= 2 * period_ns);
    harness_close(h);
}

enum { ASKED = 6 };

// Each of its sleeps is one that it is asked to move in.
static int asked_asleep(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < ASKED; i++) {
        const uint32_t here = wb_task_core(self);
        const uint64_t until_ns = wb_now_ns() + period_ns;

        (void)wb_word_add(&s->awake, 1, WB_SEQ_CST);
        wb_sleep_until(until_ns);
        EXPECT(self, wb_now_ns() >= until_ns);
        EXPECT(self, wb_task_core(self) == here);
        for (; wb_task_core(self) == here; wb_yield())
            wb_checkpoint();
    }
    return 0;
}

static int asks_sleepers(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_task *sleeper = wb_task_find(wb_task_app(self), "asleep", 0);

    for (uint32_t i = 0; i < ASKED; i++) {
        while (wb_word_load(&s->awake, WB_SEQ_CST) <= i)
            wb_sleep_until(wb_now_ns() + period_ns / 16);
        EXPECT(self, wb_migrate(sleeper, 1 - wb_task_core(sleeper), WB_FOREVER) == WB_OK);
    }
    return 0;
}

TEST(a_task_that_is_asked_to_move_asleep_sleeps_to_the_end_and_moves_at_its_checkpoint)
{
    struct harness *h = suite_open(2, sizeof(struct state));

    suite_task(h, &(struct wb_task_config){
                      .name = "asleep", .entry = asked_asleep, .core = 0, .migratable = true });
    suite_task(h, &(struct wb_task_config){ .name = "asks", .entry = asks_sleepers, .core = 1 });
    suite_run(h);
    harness_close(h);
}

// ---- Accounts -----------------------------------------------------------------------------------

static int worker(struct wb_task *self)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        suite_compute(patience_ns);
        suite_hop(self);
    }
    return 0;
}

TEST(the_time_that_a_task_runs_counts_also_where_it_leaves)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    const struct wb_system *system = harness_system(h);
    const struct wb_task *task = suite_task(
        h, &(struct wb_task_config){ .name = "worker", .entry = worker, .migratable = true });
    uint64_t cores_ns = 0;

    suite_run(h);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(wb_counter_get(&system->cores[i]->stats.busy_ns) >= JOBS / 2 * patience_ns);
        cores_ns += wb_counter_get(&system->cores[i]->stats.busy_ns);
    }
    CHECK(wb_counter_get(&task->stats.busy_ns) == cores_ns);
    harness_close(h);
}
