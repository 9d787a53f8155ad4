// SPDX-License-Identifier: Apache-2.0
// What the middleware's operations cost on the SoC with the kernel of kernels/riscv, in cycles: a
// line `cost NAME CYCLES` for each sample, or for the mean of a loop.
//
// It is laid out and run as a case of the conformance suite. The clock is that of all cores: one
// read of it is in each sample, and is told as `clock`.

#include <string.h>

#include "samples.h"

enum { SAMPLES = 64, WARM = 8, LOOP = 1000, ROOM = 16, LARGE = 1024 };

struct state {
    uint32_t bytes;  // of a message
    volatile uint32_t begin;
};

static void keep(struct wb_task *self, const char *name, uint32_t n, uint32_t cycles)
{
    if (n >= WARM)
        samples_keep(self, name, SAMPLES_NO_NUMBER, cycles);
}

// ---- Without another task -----------------------------------------------------------------------

static int alone(struct wb_task *self)
{
    for (uint32_t n = 0; n < SAMPLES; n++) {
        uint32_t begin = samples_now();
        keep(self, "clock", n, samples_now() - begin);
        begin = samples_now();
        for (uint32_t i = 0; i < LOOP; i++)
            __asm__ volatile("");
        const uint32_t empty = samples_now() - begin;
        begin = samples_now();
        for (uint32_t i = 0; i < LOOP; i++) {
            wb_checkpoint();
            __asm__ volatile("");
        }
        keep(self, "1000_checkpoints", n, samples_now() - begin - empty);
    }
    return 0;
}

TEST(what_a_checkpoint_costs)
{
    struct harness *h = suite_open(1, sizeof(struct state));

    suite_task(h, &(struct wb_task_config){ .name = "alone", .entry = alone });
    samples_run(h);
}

// ---- Messages that nobody waits for -------------------------------------------------------------

static void fill(struct wb_task *self, struct wb_port *out, const struct state *s, uint32_t n)
{
    static uint8_t message[LARGE];
    const char *name = s->bytes == LARGE ? "send_1024" : "send_4";

    for (uint32_t i = 0; i < ROOM; i++) {
        const uint32_t begin = samples_now();
        EXPECT(self, wb_port_send(out, message, WB_FOREVER) == WB_OK);
        const uint32_t end = samples_now();
        if (i > 0 && i < ROOM - 1)
            keep(self, name, n, end - begin);
    }
}

static int sender(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t n = 0; n < SAMPLES; n += ROOM) {
        fill(self, out, s, n);
        wb_yield();
    }
    return 0;
}

static int receiver(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    const char *name = s->bytes == LARGE ? "receive_1024" : "receive_4";
    static uint8_t message[LARGE];

    for (uint32_t n = 0;; n++) {
        const uint32_t begin = samples_now();
        if (wb_port_receive(in, message, WB_FOREVER) != WB_OK)
            return 0;
        const uint32_t end = samples_now();
        if (n % ROOM > 1)  // the first waits, and another may have
            keep(self, name, n, end - begin);
    }
}

static void run_pair(wb_task_entry *from, wb_task_entry *to, uint32_t core, uint32_t slots,
                     uint32_t bytes)
{
    struct harness *h = suite_open(core + 1, sizeof(struct state));
    struct wb_task *a = suite_task(h, &(struct wb_task_config){ .name = "from", .entry = from });
    struct wb_task *b =
        suite_task(h, &(struct wb_task_config){ .name = "to", .entry = to, .core = core });

    ((struct state *)suite_state(h))->bytes = bytes;
    suite_channel(
        h, &(struct wb_channel_config){ .name = "there", .slots = slots, .slot_bytes = bytes }, a,
        b);
    suite_channel(
        h, &(struct wb_channel_config){ .name = "back", .slots = slots, .slot_bytes = bytes }, b,
        a);
    samples_run(h);
}

TEST(what_a_message_costs)
{
    run_pair(sender, receiver, 0, ROOM, 4);
    run_pair(sender, receiver, 0, ROOM, LARGE);
}

// ---- A switch, and the way to another core ------------------------------------------------------

// From just before one receives, and has to wait, to when the other has received.
static void play(struct wb_task *self, const char *name, bool first)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    uint32_t message = 0;

    for (uint32_t n = 0; n < SAMPLES; n++) {
        if (first || n > 0)
            EXPECT(self, wb_port_send(out, &message, WB_FOREVER) == WB_OK);
        s->begin = samples_now();
        EXPECT(self, wb_port_receive(in, &message, WB_FOREVER) == WB_OK);
        keep(self, name, n, samples_now() - s->begin);
    }
    if (!first)
        EXPECT(self, wb_port_send(out, &message, WB_FOREVER) == WB_OK);
}

static int switch_first(struct wb_task *self)
{
    play(self, "switch", true);
    return 0;
}

static int switch_second(struct wb_task *self)
{
    play(self, "switch", false);
    return 0;
}

TEST(what_a_switch_through_a_blocking_receive_costs)
{
    run_pair(switch_first, switch_second, 0, 1, 4);
}

// From just before a send to when the task on the other core has the message, which slept there.
static int caller(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    uint32_t message = 0;

    for (uint32_t n = 0; n < SAMPLES; n++) {
        for (const uint32_t begin = samples_now(); samples_now() - begin < 20000;) {}
        s->begin = samples_now();
        EXPECT(self, wb_port_send(out, &message, WB_FOREVER) == WB_OK);
        EXPECT(self, wb_port_receive(in, &message, WB_FOREVER) == WB_OK);
    }
    return 0;
}

static int called(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    uint32_t message = 0;

    for (uint32_t n = 0; n < SAMPLES; n++) {
        EXPECT(self, wb_port_receive(in, &message, WB_FOREVER) == WB_OK);
        keep(self, "wake_other_core", n, samples_now() - s->begin);
        EXPECT(self, wb_port_send(out, &message, WB_FOREVER) == WB_OK);
    }
    return 0;
}

TEST(what_a_message_to_a_core_that_sleeps_costs)
{
    run_pair(caller, called, 1, 1, 4);
}

// ---- Moving -------------------------------------------------------------------------------------

// By hand-off: what it has is in shared memory, whatever its size.
static int mover(struct wb_task *self)
{
    for (uint32_t n = 0; n < SAMPLES; n++) {
        const uint32_t begin = samples_now();
        suite_hop(self);
        keep(self, "handoff", n, samples_now() - begin);
        const struct wb_migration *m = &self->settled;
        keep(self, "handoff_parked", n, (uint32_t)((m->parked_ns - m->request_ns) / 100));
        keep(self, "handoff_attached", n, (uint32_t)((m->attached_ns - m->parked_ns) / 100));
        keep(self, "handoff_running", n, (uint32_t)((m->running_ns - m->attached_ns) / 100));
        for (const uint32_t rest = samples_now(); samples_now() - rest < 20000;) {
        }  // the other core sleeps
    }
    return 0;
}

TEST(what_a_hand_off_costs)
{
    struct harness *h = suite_open(2, sizeof(struct state));

    suite_task(h, &(struct wb_task_config){ .name = "mover", .entry = mover, .migratable = true });
    samples_run(h);
}
