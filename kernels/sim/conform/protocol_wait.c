// SPDX-License-Identifier: Apache-2.0
// A task that waits for a channel, a mailbox and a semaphore at once, its waits being checkpoints,
// while all move and any of them is stopped.

#include "protocol.h"

enum { CORES = 3, SENDERS = 2, MESSAGES = 60, PERMITS = 40, MOVES = 20 };

struct state {
    struct wb_semaphore permits;
    struct wb_word sent[SENDERS], expected[SENDERS], given, last, over, moves;
    struct wb_swapped repeated;
};

// ---- Tasks that may be restarted anywhere -------------------------------------------------------

// What it has not noted as sent it sends again.
static int sender(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    const uint32_t me = wb_task_index(self);

    for (uint32_t i = wb_word_load(&s->sent[me], WB_SEQ_CST); i < MESSAGES; i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        wb_word_store(&s->sent[me], i + 1, WB_SEQ_CST);
        wb_sleep_until(wb_now_ns() + 700 * (1 + me));
        wb_checkpoint();
    }
    return 0;
}

// A permit says no more than that something is to be looked at, so one that is lost with its taker
// does no harm.
static int giver(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    for (uint32_t i = wb_word_load(&s->given, WB_SEQ_CST); i < PERMITS; i++) {
        (void)!wb_semaphore_give(&s->permits);
        wb_word_store(&s->given, i + 1, WB_SEQ_CST);
        wb_sleep_until(wb_now_ns() + 900);
    }
    wb_word_store(&s->last, 1, WB_SEQ_CST);
    (void)!wb_semaphore_give(&s->permits);
    return 0;
}

// False: nothing more comes.
static bool take_message(struct wb_task *self, struct wb_port *in, uint32_t from)
{
    struct state *s = suite_shared(self);
    const void *slot;
    const enum wb_status status = wb_port_hold(in, &slot, 0);

    EXPECT(self, status == WB_OK || status == WB_ERR_GONE);
    if (status != WB_OK)
        return false;
    const uint32_t number = *(const uint32_t *)slot,
                   expected = wb_word_load(&s->expected[from], WB_SEQ_CST);
    EXPECT(self, number == expected || number + 1 == expected);
    if (number == expected)
        wb_word_store(&s->expected[from], number + 1, WB_SEQ_CST);
    else
        wb_word_add(&s->repeated, 1, WB_SEQ_CST);
    EXPECT(self, wb_port_release(in) == WB_OK);
    return true;
}

static int waiter(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *const ins[SENDERS] = { wb_port_find_any(self, "in", 0),
                                           wb_port_find_any(self, "in", 1) };
    struct wb_wait set[] = { { .port = ins[0] }, { .port = ins[1] }, { .semaphore = &s->permits } };
    // In an earlier life it may have taken the last permit.
    uint32_t n = wb_word_load(&s->last, WB_SEQ_CST) == 0 ? 3 : 2;

    while (n != 0) {
        const int i = wb_wait(set, n, WB_FOREVER);
        EXPECT(self, i >= 0 && (uint32_t)i < n);
        bool goes_on;
        if (set[i].port == NULL) {
            (void)!wb_semaphore_take(&s->permits, 0);
            goes_on = wb_word_load(&s->last, WB_SEQ_CST) == 0;
        } else {
            goes_on = take_message(self, set[i].port, set[i].port == ins[1]);
        }
        if (!goes_on)
            set[i] = set[--n];
    }
    wb_word_store(&s->over, 1, WB_SEQ_CST);
    return 0;
}

static int mover(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    const uint32_t moved = self->id;  // all tasks before it

    for (uint32_t i; (i = wb_word_load(&s->moves, WB_SEQ_CST)) < MOVES;) {
        // The waiter, which is the first, half of the time.
        struct wb_task *task = &self->system->tasks[i % 2 == 0 ? 0 : i / 2 % moved];
        wb_word_store(&s->moves, i + 1, WB_SEQ_CST);
        protocol_move(self, task, (wb_task_core(task) + 1) % CORES);
        wb_sleep_until(wb_now_ns() + 500);
    }
    return 0;
}

// ---- Laying out ---------------------------------------------------------------------------------

static struct wb_task *add(struct harness *h, const char *name, uint32_t index, uint32_t core,
                           wb_task_entry *entry)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .index = index,
                                                   .core = core,
                                                   .entry = entry,
                                                   .migratable = true,
                                                   .restart = true,
                                                   .moves_at_waits = true });
}

static struct harness *open_waiter(void)
{
    static const char *const names[SENDERS] = { "channel", "mailbox" };
    struct harness *h =
        suite_open_with(&(struct harness_config){ .cores = CORES }, sizeof(struct state));
    struct state *s = suite_state(h);
    struct wb_task *to = add(h, "waiter", 0, 0, waiter);

    CHECK(wb_semaphore_init(&s->permits, 0, 1) == WB_OK);
    for (uint32_t i = 0; i < SENDERS; i++) {
        struct wb_channel *channel;
        struct wb_task *from = add(h, "sender", i, i + 1, sender);
        CHECK(wb_channel_add(harness_system(h),
                             &(struct wb_channel_config){
                                 .name = names[i], .slots = 2, .slot_bytes = 4, .mailbox = i == 1 },
                             &channel) == WB_OK);
        CHECK(wb_port_add(from, channel, WB_OUT, "out", 0) == WB_OK);
        CHECK(wb_port_add(to, channel, WB_IN, "in", i) == WB_OK);
    }
    add(h, "giver", 0, 1, giver);
    suite_task(h,
               &(struct wb_task_config){
                   .name = "mover", .entry = mover, .core = 2, .priority = 16, .restart = true });
    return h;
}

static const char *check(struct harness *h, const struct fault *fault)
{
    const struct state *s = suite_state(h);

    if (wb_word_load(&s->over, WB_SEQ_CST) != 1)
        return "the waiter has not seen the end";
    for (uint32_t i = 0; i < SENDERS; i++)
        if (wb_word_load(&s->expected[i], WB_SEQ_CST) != MESSAGES)
            return "not every message has come";
    if (wb_word_load(&s->repeated, WB_SEQ_CST) > (protocol_kills(fault) ? SENDERS + 1u : 0))
        return "a message has come twice";
    return NULL;
}

TEST(a_set_of_a_task_that_moves_where_it_waits)
{
    protocol_inject(&(struct protocol){
        .open = open_waiter, .check = check, .cores = CORES, .migrations = 10 });
}
