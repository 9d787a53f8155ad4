// SPDX-License-Identifier: Apache-2.0
// Doorbells: a core that sleeps is woken by every message, or the run would stand still here.

#include "suite.h"

struct state {
    uint32_t rounds;
    uint64_t pause_ns;  // at most so long between two messages
};

static void dawdle(const struct state *s, uint32_t *random)
{
    if (s->pause_ns != 0)
        suite_compute(suite_random(random) % s->pause_ns);
}

static int caller(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    uint32_t random = 3, echo;

    for (uint32_t i = 0; i < s->rounds; i++) {
        dawdle(s, &random);
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        EXPECT(self, wb_port_receive(in, &echo, WB_FOREVER) == WB_OK);
        EXPECT(self, echo == i);
    }
    return 0;
}

static int echoer(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    uint32_t random = 4, message;

    while (wb_port_receive(in, &message, WB_FOREVER) == WB_OK) {
        dawdle(s, &random);
        EXPECT(self, wb_port_send(out, &message, WB_FOREVER) == WB_OK);
    }
    return 0;
}

static uint64_t ping_pong(uint64_t poll_ns, uint64_t pause_ns, uint32_t rounds)
{
    struct harness *h = suite_open_with(&(struct harness_config){ .cores = 2, .poll_ns = poll_ns },
                                        sizeof(struct state));
    struct state *s = suite_state(h);
    struct wb_task *a =
        suite_task(h, &(struct wb_task_config){ .name = "caller", .entry = caller });
    struct wb_task *b =
        suite_task(h, &(struct wb_task_config){ .name = "echoer", .entry = echoer, .core = 1 });
    uint64_t sleeps = 0;

    s->rounds = rounds;
    s->pause_ns = pause_ns;
    suite_channel(h, &(struct wb_channel_config){ .name = "there", .slots = 1, .slot_bytes = 4 }, a,
                  b);
    suite_channel(h, &(struct wb_channel_config){ .name = "back", .slots = 1, .slot_bytes = 4 }, b,
                  a);
    suite_run(h);
    for (uint32_t i = 0; i < 2; i++)
        sleeps += wb_counter_get(&harness_system(h)->cores[i]->stats.sleeps);
    harness_close(h);
    return sleeps;
}

TEST(no_wake_up_of_a_core_that_sleeps_at_once_is_lost)
{
    const uint32_t rounds = suite_count(50000);

    // Each core sleeps in a round, unless a message overtakes it, which Linux may make the rule
    // where both share a processor.
    CHECK(ping_pong(0, 0, rounds) > rounds / 8);
}

TEST(no_wake_up_of_a_core_that_is_about_to_sleep_is_lost)
{
    // Messages come about when the other core stops polling.
    CHECK(ping_pong(2000, 4000, suite_count(50000)) > 0);
}

TEST(a_core_that_polls_hears_its_notes)
{
    ping_pong(WB_FOREVER, 0, suite_count(2000));
}

// ---- The end ------------------------------------------------------------------------------------

static int source(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    struct state *s = suite_shared(self);

    while (!wb_stopping(self)) {
        EXPECT(self, wb_port_send(out, &s->rounds, WB_FOREVER) == WB_OK);
        s->rounds++;
        wb_sleep_until(wb_now_ns() + 50000);
    }
    return 0;
}

static int drain(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    struct state *s = suite_shared(self);
    uint32_t message, n = 0;

    while (wb_port_receive(in, &message, WB_FOREVER) == WB_OK)
        EXPECT(self, message == n++);
    EXPECT(self, n == s->rounds);
    return 0;
}

TEST(a_stop_ends_the_sources_and_drains_what_they_sent)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    const struct state *s = suite_state(h);
    struct wb_task *from =
        suite_task(h, &(struct wb_task_config){ .name = "source", .entry = source });

    const struct wb_channel *c = suite_channel(
        h, &(struct wb_channel_config){ .name = "c", .slots = 4, .slot_bytes = 4 }, from,
        suite_task(h, &(struct wb_task_config){ .name = "drain", .entry = drain, .core = 1 }));
    harness_start(h);
    do
        CHECK(harness_wait(h, 20) == HARNESS_NOTHING);
    while (wb_port_messages(c->receiver) == 0);
    wb_system_stop(harness_system(h));
    suite_wait(h);
    CHECK(s->rounds > 0);
    harness_close(h);
}
