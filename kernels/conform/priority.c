// SPDX-License-Identifier: Apache-2.0
// Who runs: the most urgent first, and within one priority in the order in which they became ready.

#include "suite.h"

enum { EQUALS = 3, TURNS = 50 };

struct state {
    struct wb_word done;
    struct wb_swapped ran;
    uint32_t rounds, turn;
};

static struct harness *open_cores(uint32_t cores)
{
    struct harness *h = suite_open(cores, sizeof(struct state));
    struct state *s = suite_state(h);

    s->rounds = suite_count(2000);
    return h;
}

static int urgent(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t message;

    while (wb_port_receive(in, &message, WB_FOREVER) == WB_OK)
        wb_word_add(&s->ran, 1, WB_SEQ_CST);
    return 0;
}

// An urgent task on core 0 that `from` wakes by messages.
static void add_urgent(struct harness *h, struct wb_task *from)
{
    struct wb_task *to =
        suite_task(h, &(struct wb_task_config){
                          .name = "urgent", .entry = urgent, .priority = SUITE_PRIORITY + 1 });

    suite_channel(h, &(struct wb_channel_config){ .name = "bell", .slots = 2, .slot_bytes = 4 },
                  from, to);
}

// After its checkpoint, the task that it woke has run.
static int patient(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; i < s->rounds; i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        wb_checkpoint();
        EXPECT(self, wb_word_load(&s->ran, WB_SEQ_CST) == i + 1);
    }
    return 0;
}

TEST(a_more_urgent_task_runs_first_at_a_checkpoint)
{
    struct harness *h = open_cores(1);

    add_urgent(h, suite_task(h, &(struct wb_task_config){ .name = "patient", .entry = patient }));
    suite_run(h);
    harness_close(h);
}

static int ringer(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; i < s->rounds; i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        while (wb_word_load(&s->ran, WB_SEQ_CST) != i + 1)
            wb_sleep_until(wb_now_ns() + 1000);
    }
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    return 0;
}

// Never blocks: whoever else is to run on its core gets there by a checkpoint.
static int busy(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    while (wb_word_load(&s->done, WB_SEQ_CST) == 0) {
        wb_checkpoint();
        suite_relax();
    }
    return 0;
}

TEST(a_message_from_another_core_lets_a_more_urgent_task_in_at_a_checkpoint)
{
    struct harness *h = open_cores(2);

    suite_task(h, &(struct wb_task_config){ .name = "busy", .entry = busy });
    add_urgent(
        h, suite_task(h, &(struct wb_task_config){ .name = "ringer", .entry = ringer, .core = 1 }));
    suite_run(h);
    harness_close(h);
}

static int napper(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < TURNS; i++)
        wb_sleep_until(wb_now_ns() + 200000);
    wb_word_store(&s->done, 1, WB_SEQ_CST);
    return 0;
}

TEST(a_timer_lets_a_more_urgent_task_in_at_a_checkpoint)
{
    struct harness *h = open_cores(1);

    suite_task(h, &(struct wb_task_config){ .name = "busy", .entry = busy });
    suite_task(h, &(struct wb_task_config){
                      .name = "napper", .entry = napper, .priority = SUITE_PRIORITY + 1 });
    suite_run(h);
    harness_close(h);
}

static int background(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    (void)wb_word_swap(&s->ran, 1, WB_SEQ_CST);
    return 0;
}

static int foreground(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = 0; i < s->rounds; i++) {
        wb_checkpoint();
        wb_yield();
        EXPECT(self, wb_word_load(&s->ran, WB_SEQ_CST) == 0);
    }
    // Only when it waits does the core have time for less.
    while (wb_word_load(&s->ran, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 100000);
    return 0;
}

TEST(a_less_urgent_task_runs_only_while_the_others_wait)
{
    struct harness *h = open_cores(1);

    suite_task(h, &(struct wb_task_config){ .name = "foreground", .entry = foreground });
    suite_task(h, &(struct wb_task_config){
                      .name = "background", .entry = background, .priority = SUITE_PRIORITY - 1 });
    suite_run(h);
    harness_close(h);
}

// All of them are ready before the first turn, then each yields to the next.
static int equal(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    const uint32_t me = wb_word_add(&s->ran, 1, WB_SEQ_CST);

    while (wb_word_load(&s->ran, WB_SEQ_CST) != EQUALS || (s->turn == 0 && me != 0))
        wb_yield();
    for (uint32_t i = 0; i < TURNS; i++) {
        EXPECT(self, s->turn % EQUALS == me);
        s->turn++;
        wb_yield();
    }
    return 0;
}

TEST(equally_urgent_tasks_take_turns_in_the_order_in_which_they_came)
{
    struct harness *h = open_cores(1);
    const struct state *s = suite_state(h);

    for (uint32_t i = 0; i < EQUALS; i++)
        suite_task(h, &(struct wb_task_config){ .name = "equal", .index = i, .entry = equal });
    suite_run(h);
    CHECK(s->turn == EQUALS * TURNS);
    harness_close(h);
}
