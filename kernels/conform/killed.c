// SPDX-License-Identifier: Apache-2.0
// Kernels that are killed at any instant. The others go on, nobody waits for ever, and a task that
// may be restarted repeats at most what it had not finished: nothing that was accepted is lost.

#include "suite.h"

enum { CORES = 4, SLOTS = 3 };

struct state {
    struct wb_word sent, expected;  // the sender's and the receiver's own: they survive
    struct wb_word closed;          // messages that came again; 1: the receiver saw the end
    struct wb_swapped repeated;
    struct wb_word queue;  // the sender holds back while it is 0
};

// ---- Tasks that may be restarted anywhere -------------------------------------------------------

// What it has not noted as sent it sends again. It is often killed with a claimed slot.
static int sender(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    void *slot;

    for (uint32_t i = wb_word_load(&s->sent, WB_SEQ_CST); !wb_stopping(self); i++) {
        EXPECT(self, wb_port_claim(out, &slot, WB_FOREVER) == WB_OK);
        *(uint32_t *)slot = i;
        wb_checkpoint();
        suite_compute(1000);
        EXPECT(self, wb_port_commit(out) == WB_OK);
        wb_word_store(&s->sent, i + 1, WB_SEQ_CST);
    }
    return 0;
}

// What it has not released is delivered again, so it releases only what it has passed on.
static int relay(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    const void *slot;
    enum wb_status status;

    while ((status = wb_port_hold(in, &slot, WB_FOREVER)) == WB_OK) {
        EXPECT(self, wb_port_send(out, slot, WB_FOREVER) == WB_OK);
        EXPECT(self, wb_port_release(in) == WB_OK);
        wb_checkpoint();
    }
    EXPECT(self, status == WB_ERR_GONE);
    return 0;
}

static int receiver(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    const void *slot;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        const uint32_t number = *(const uint32_t *)slot,
                       expected = wb_word_load(&s->expected, WB_SEQ_CST);
        EXPECT(self, number == expected || number + 1 == expected);
        if (number == expected)
            wb_word_store(&s->expected, number + 1, WB_SEQ_CST);
        else
            wb_word_add(&s->repeated, 1, WB_SEQ_CST);
        EXPECT(self, wb_port_release(in) == WB_OK);
        wb_checkpoint();
    }
    wb_word_store(&s->closed, 1, WB_SEQ_CST);
    return 0;
}

// Moves whom it can to wherever it can, until the stream is over.
static int mover(struct wb_task *self)
{
    static const char *const names[] = { "sender", "relay", "receiver" };
    struct state *s = suite_shared(self);
    uint32_t random = (uint32_t)wb_now_ns() | 1;

    while (wb_word_load(&s->closed, WB_SEQ_CST) == 0) {
        struct wb_task *task = wb_task_find(wb_task_app(self), names[suite_random(&random) % 3], 0);
        suite_move_anywhere(self, task, &random);
        wb_sleep_until(wb_now_ns() + 20000);
    }
    return 0;
}

static struct wb_task *add(struct harness *h, const char *name, wb_task_entry *entry, uint32_t core,
                           bool restart)
{
    return suite_task(
        h,
        &(struct wb_task_config){
            .name = name, .entry = entry, .core = core, .migratable = true, .restart = restart });
}

static void connect(struct harness *h, const char *name, struct wb_task *from, struct wb_task *to,
                    bool mailbox)
{
    suite_channel(h,
                  &(struct wb_channel_config){
                      .name = name, .slots = SLOTS, .slot_bytes = 4, .mailbox = mailbox },
                  from, to);
}

static struct harness *open_cores(uint32_t cores)
{
    return suite_open_with(
        &(struct harness_config){ .cores = cores, .poll_ns = 20000, .offer_timeout_ns = 20000000 },
        sizeof(struct state));
}

// Three tasks in a row and one that moves them about, one on each core.
static struct harness *open_pipeline(bool mailbox)
{
    struct harness *h = open_cores(CORES);
    struct wb_task *from = add(h, "sender", sender, 0, true);
    struct wb_task *middle = add(h, "relay", relay, 1, true);
    struct wb_task *to = add(h, "receiver", receiver, 2, true);

    connect(h, "first", from, middle, mailbox);
    connect(h, "second", middle, to, mailbox);
    suite_task(h,
               &(struct wb_task_config){
                   .name = "mover", .entry = mover, .core = 3, .priority = 12, .restart = true });
    return h;
}

// Kills all kernels but one, in any order and at any time.
static bool kill_all_but_one(struct harness *h, uint32_t *random)
{
    uint32_t living[CORES] = { 0, 1, 2, 3 };

    for (uint32_t n = CORES; n > 1; n--) {
        const uint32_t i = suite_random(random) % n;
        suite_compute(suite_random(random) % 1500000);
        if (!suite_kill(h, living[i]))
            return false;
        living[i] = living[n - 1];
    }
    return true;
}

static void lose_nothing(bool mailbox, uint32_t rounds)
{
    uint32_t random = 20261;

    for (uint32_t i = 0; i < suite_count(rounds); i++) {
        struct harness *h = open_pipeline(mailbox);
        const struct state *s = suite_state(h);

        harness_start(h);
        if (!kill_all_but_one(h, &random))
            return;
        wb_system_stop(harness_system(h));
        suite_wait(h);
        CHECK(wb_word_load(&s->closed, WB_SEQ_CST) == 1);
        // One more, if the sender was killed before it noted its last and then told to stop.
        CHECK(wb_word_load(&s->expected, WB_SEQ_CST) - wb_word_load(&s->sent, WB_SEQ_CST) <= 1);
        // Each death may make each of the three tasks repeat one message.
        CHECK(wb_word_load(&s->repeated, WB_SEQ_CST) <= 3 * (CORES - 1));
        harness_close(h);
    }
}

TEST(restarted_tasks_lose_nothing_that_a_channel_accepted)
{
    lose_nothing(false, 40);
}

TEST(restarted_tasks_lose_nothing_that_a_mailbox_accepted)
{
    lose_nothing(true, 40);
}

// ---- Tasks that may not -------------------------------------------------------------------------

static int endless_sender(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    while (wb_word_load(&s->queue, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 10000);
    for (uint32_t i = 0; !wb_stopping(self); i++) {
        const enum wb_status status = wb_port_send(out, &i, WB_FOREVER);
        EXPECT(self, status == WB_OK || status == WB_ERR_GONE);
        if (status == WB_ERR_GONE)
            break;
        wb_word_store(&s->sent, i + 1, WB_SEQ_CST);
    }
    return 0;
}

static struct harness *open_two(bool queue)
{
    struct harness *h = open_cores(2);
    struct state *s = suite_state(h);

    connect(h, "stream", add(h, "sender", endless_sender, 0, false),
            add(h, "receiver", receiver, 1, false), false);
    wb_word_store(&s->queue, queue, WB_SEQ_CST);
    harness_start(h);
    return h;
}

static bool is_lost(struct harness *h, const char *name)
{
    const struct wb_task *task = wb_task_find(&harness_system(h)->app, name, 0);

    return wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == WB_TASK_LOST;
}

// Kills `core` at any time; whoever is left comes to an end. A task that was not running lives on.
static bool kill_one(struct harness *h, uint32_t core, uint32_t *random)
{
    suite_compute(suite_random(random) % 1500000);
    if (!suite_kill(h, core))
        return false;
    wb_system_stop(harness_system(h));
    suite_wait(h);
    return true;
}

TEST(a_lost_sender_leaves_all_that_was_accepted_and_an_end)
{
    uint32_t random = 3;

    for (uint32_t i = 0; i < suite_count(40); i++) {
        struct harness *h = open_two(true);
        const struct state *s = suite_state(h);

        if (!kill_one(h, 0, &random))
            return;
        // One more than it had time to note.
        const uint32_t unnoted =
            wb_word_load(&s->expected, WB_SEQ_CST) - wb_word_load(&s->sent, WB_SEQ_CST);
        CHECK(unnoted <= is_lost(h, "sender"));
        CHECK(wb_word_load(&s->closed, WB_SEQ_CST) == 1 &&
              wb_word_load(&s->repeated, WB_SEQ_CST) == 0);
        harness_close(h);
    }
}

TEST(a_lost_receiver_is_gone_for_its_sender)
{
    uint32_t random = 4;

    for (uint32_t i = 0; i < suite_count(40); i++) {
        struct harness *h = open_two(true);
        const struct state *s = suite_state(h);

        if (!kill_one(h, 1, &random))
            return;
        const uint32_t left =
            wb_word_load(&s->sent, WB_SEQ_CST) - wb_word_load(&s->expected, WB_SEQ_CST);
        CHECK(is_lost(h, "receiver") ? left <= SLOTS : left == 0);
        harness_close(h);
    }
}

TEST(a_task_that_waited_on_a_killed_kernel_goes_on_elsewhere)
{
    struct harness *h = open_two(false);
    struct state *s = suite_state(h);

    suite_wait_for_state(h, wb_task_find(&harness_system(h)->app, "receiver", 0), WB_TASK_BLOCKED);
    if (!suite_kill(h, 1))
        return;
    wb_word_store(&s->queue, 1, WB_SEQ_CST);
    while (wb_word_load(&s->expected, WB_SEQ_CST) < suite_count(1000))
        CHECK(harness_wait(h, 1) == HARNESS_NOTHING);
    wb_system_stop(harness_system(h));
    suite_wait(h);
    CHECK(wb_word_load(&s->expected, WB_SEQ_CST) == wb_word_load(&s->sent, WB_SEQ_CST));
    CHECK(wb_word_load(&s->repeated, WB_SEQ_CST) == 0);
    harness_close(h);
}
