// SPDX-License-Identifier: Apache-2.0
// Receivers that are not woken by each message: none is lost, and none is noticed too late.

#include "suite.h"

enum { SLOTS = 8, SENDERS = 2, NEVER_US = WB_WITHIN_MAX_US };

struct message {
    uint32_t sender, number;
};

struct state {
    uint32_t messages;  // of each sender
    uint64_t pause_ns;  // at most so long between two of them
    struct wb_task *moved;
    struct wb_word received, go;
    uint64_t sent_ns, noticed_ns;
};

// ---- Streams ------------------------------------------------------------------------------------

static int stream(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    uint32_t random = 5 + wb_task_index(self);

    for (uint32_t i = 0; i < s->messages; i++) {
        const struct message m = { .sender = wb_task_index(self), .number = i };
        EXPECT(self, wb_port_send(out, &m, WB_FOREVER) == WB_OK);
        wb_checkpoint();
        if (suite_random(&random) % 4 == 0)
            wb_sleep_until(wb_now_ns() + suite_random(&random) % s->pause_ns);
    }
    return 0;
}

static int sink(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t next[SENDERS] = { 0 }, n = 0;
    struct message m;

    while (wb_port_receive(in, &m, WB_FOREVER) == WB_OK) {
        EXPECT(self, m.sender < SENDERS && m.number == next[m.sender]++);
        wb_word_store(&s->received, ++n, WB_SEQ_CST);
        if (n % 16 == 0)
            suite_hop(self);
    }
    return 0;
}

static void deliver(const struct wb_notify_config *notify, uint32_t senders)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    struct state *s = suite_state(h);
    struct wb_task *to = suite_task(
        h, &(struct wb_task_config){ .name = "sink", .entry = sink, .migratable = true });
    struct wb_task *from[SENDERS] = { NULL };

    s->messages = suite_count(400);
    s->pause_ns = 2000000;
    for (uint32_t i = 0; i < senders; i++)
        from[i] = suite_task(h, &(struct wb_task_config){
                                    .name = "source", .index = i, .entry = stream, .core = i });
    struct wb_channel *c = suite_channel(h,
                                         &(struct wb_channel_config){ .name = "c",
                                                                      .slots = SLOTS,
                                                                      .slot_bytes = 8,
                                                                      .mailbox = senders > 1,
                                                                      .notify = *notify },
                                         from[0], to);
    for (uint32_t i = 1; i < senders; i++)
        suite_sender(c, from[i]);
    suite_run(h);
    CHECK(wb_word_load(&s->received, WB_SEQ_CST) == senders * s->messages);
    const struct wb_notify_stats *stats = wb_channel_notify_stats(c);
    CHECK(notify->doorbell != WB_NOTIFY_POLLING || wb_counter_get(&stats->rings) == 0);
    // The bound, and what the kernel takes; a clock may count in microseconds.
    CHECK(wb_stamp_get(&stats->worst_ns) <=
          notify->within_us * (uint64_t)1000 + wb_stamp_get(&stats->kernel_ns) + 1000);
    harness_close(h);
}

static void deliver_from_one_and_from_all(const struct wb_notify_config *notify)
{
    deliver(notify, 1);
    deliver(notify, SENDERS);
}

TEST(every_message_to_a_receiver_that_polls_is_delivered_in_order)
{
    deliver_from_one_and_from_all(
        &(struct wb_notify_config){ .doorbell = WB_NOTIFY_POLLING, .within_us = 500 });
}

TEST(every_message_to_an_adaptive_receiver_is_delivered_in_order_and_within_its_bound)
{
    deliver_from_one_and_from_all(
        &(struct wb_notify_config){ .doorbell = WB_NOTIFY_ADAPTIVE, .within_us = 500 });
}

TEST(so_it_is_with_a_bound_that_nobody_can_keep)
{
    deliver_from_one_and_from_all(
        &(struct wb_notify_config){ .doorbell = WB_NOTIFY_ADAPTIVE, .within_us = 1 });
}

TEST(every_message_of_a_batch_is_delivered_in_order_and_by_its_deadline)
{
    deliver_from_one_and_from_all(&(struct wb_notify_config){ .batch = 3, .within_us = 1000 });
}

TEST(so_it_is_with_batches_that_fill_the_channel)
{
    deliver_from_one_and_from_all(&(struct wb_notify_config){ .batch = SLOTS, .within_us = 5000 });
}

// ---- One sender, one receiver -------------------------------------------------------------------

// Two tasks on two cores, with a channel that has a notify policy.
static struct harness *open_pair(wb_task_entry *from, wb_task_entry *to, uint32_t slots,
                                 const struct wb_notify_config *notify, struct wb_channel **c)
{
    struct harness *h = suite_open(2, sizeof(struct state));

    *c = suite_channel(
        h,
        &(struct wb_channel_config){
            .name = "c", .slots = slots, .slot_bytes = 4, .notify = *notify },
        suite_task(h, &(struct wb_task_config){ .name = "from", .entry = from }),
        suite_task(h, &(struct wb_task_config){ .name = "to", .entry = to, .core = 1 }));
    return h;
}

// Sends as many as there are to be, once the receiver waits, and does not end before it has them.
static int sends_some(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    while (wb_word_load(&s->go, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 100000);
    s->sent_ns = wb_now_ns();
    for (uint32_t i = 0; i < s->messages; i++)
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
    while (wb_word_load(&s->received, WB_SEQ_CST) < s->messages)
        wb_sleep_until(wb_now_ns() + 100000);
    return 0;
}

static int receives(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t message, n = 0;

    while (wb_port_receive(in, &message, WB_FOREVER) == WB_OK) {
        EXPECT(self, message == n);
        if (n == 0)
            s->noticed_ns = wb_now_ns();
        wb_word_store(&s->received, ++n, WB_SEQ_CST);
    }
    return 0;
}

// So many messages, to a receiver that waits by then.
static uint64_t delay_of(struct harness *h, const struct wb_channel *c, uint32_t messages)
{
    struct state *s = suite_state(h);

    s->messages = messages;
    harness_start(h);
    suite_wait_for_state(h, c->receiver->task, WB_TASK_BLOCKED);
    wb_word_store(&s->go, 1, WB_SEQ_CST);
    suite_wait(h);
    CHECK(wb_word_load(&s->received, WB_SEQ_CST) == messages);
    return s->noticed_ns - s->sent_ns;
}

TEST(a_batch_that_is_not_complete_is_noticed_at_its_deadline_although_nothing_else_is_sent)
{
    enum { DEADLINE_US = 5000 };
    struct wb_channel *c;
    struct harness *h =
        open_pair(sends_some, receives, SLOTS,
                  &(struct wb_notify_config){ .batch = SLOTS, .within_us = DEADLINE_US }, &c);

    // Its end is not before the message is there: it is the deadline that ends the wait.
    CHECK(delay_of(h, c, 1) >= DEADLINE_US * (uint64_t)1000);
    CHECK(wb_counter_get(&wb_channel_notify_stats(c)->hits) == 1);
    harness_close(h);
}

TEST(a_complete_batch_rings)
{
    struct wb_channel *c;
    struct harness *h =
        open_pair(sends_some, receives, SLOTS,
                  &(struct wb_notify_config){ .batch = 3, .within_us = NEVER_US }, &c);

    delay_of(h, c, 3);
    CHECK(wb_counter_get(&wb_channel_notify_stats(c)->rings) >= 1);
    harness_close(h);
}

static int sends_and_ends(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    while (wb_word_load(&s->go, WB_SEQ_CST) == 0)
        wb_sleep_until(wb_now_ns() + 100000);
    for (uint32_t i = 0; i < s->messages; i++)
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
    return 0;
}

TEST(the_end_of_the_sender_rings_for_a_batch_that_is_not_complete)
{
    struct wb_channel *c;
    struct harness *h =
        open_pair(sends_and_ends, receives, SLOTS,
                  &(struct wb_notify_config){ .batch = SLOTS, .within_us = NEVER_US }, &c);

    delay_of(h, c, 2);
    harness_close(h);
}

// Holds the first message until it has the last one.
static int holds(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    const void *slot;

    for (uint32_t i = 0; i < s->messages; i++) {
        EXPECT(self, wb_port_hold(in, &slot, WB_FOREVER) == WB_OK);
        wb_word_store(&s->received, i + 1, WB_SEQ_CST);
    }
    for (uint32_t i = 0; i < s->messages; i++)
        EXPECT(self, wb_port_release(in) == WB_OK);
    return 0;
}

static int sends_one_and_fills(struct wb_task *self)
{
    const struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);

    for (uint32_t i = 0; i < s->messages; i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        while (wb_word_load(&s->go, WB_SEQ_CST) == 0)
            wb_sleep_until(wb_now_ns() + 100000);
    }
    while (wb_word_load(&s->received, WB_SEQ_CST) < s->messages)
        wb_sleep_until(wb_now_ns() + 100000);
    return 0;
}

TEST(a_full_channel_rings_although_no_batch_fits)
{
    struct wb_channel *c;
    struct harness *h =
        open_pair(sends_one_and_fills, holds, 4, &(struct wb_notify_config){ .batch = 0 }, &c);
    struct state *s = suite_state(h);

    s->messages = 4;
    harness_start(h);
    suite_wait_for(h, &s->received, 1);
    // One slot is held: three are left, and the batch is of four.
    CHECK(wb_channel_set_notify_policy(
              c, &(struct wb_notify_config){ .batch = 4, .within_us = NEVER_US }) == WB_OK);
    wb_word_store(&s->go, 1, WB_SEQ_CST);
    suite_wait(h);
    CHECK(wb_word_load(&s->received, WB_SEQ_CST) == 4);
    harness_close(h);
}

// ---- Adaptive -----------------------------------------------------------------------------------

// Regularly, and then not for long: the receiver has given up to look for it.
static int falls_silent(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    uint64_t at_ns = wb_now_ns();

    for (uint32_t i = 0; i < s->messages; i++) {
        EXPECT(self, wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        at_ns += i + 2 < s->messages ? 2000000 : 40000000;
        wb_sleep_until(at_ns);
    }
    while (wb_word_load(&s->received, WB_SEQ_CST) < s->messages)
        wb_sleep_until(wb_now_ns() + 100000);
    return 0;
}

TEST(a_message_that_does_not_come_when_it_should_rings)
{
    struct wb_channel *c;
    struct harness *h = open_pair(
        falls_silent, receives, SLOTS,
        &(struct wb_notify_config){ .doorbell = WB_NOTIFY_ADAPTIVE, .within_us = 2000 }, &c);
    struct state *s = suite_state(h);

    s->messages = 20;
    suite_run(h);
    const struct wb_notify_stats *stats = wb_channel_notify_stats(c);
    CHECK(wb_word_load(&s->received, WB_SEQ_CST) == s->messages);
    CHECK(wb_counter_get(&stats->rings) >= 1 && wb_stamp_get(&stats->mean_ns) != 0);
    harness_close(h);
}

// ---- Changes ------------------------------------------------------------------------------------

static const struct wb_notify_config far[] = {
    { .doorbell = WB_NOTIFY_POLLING, .within_us = NEVER_US },
    { .doorbell = WB_NOTIFY_ADAPTIVE, .within_us = NEVER_US },
    { .batch = SLOTS, .within_us = NEVER_US },
};

TEST(a_receiver_that_waits_goes_by_a_new_bell_at_once)
{
    for (uint32_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        struct wb_channel *c;
        struct harness *h = open_pair(sends_some, receives, SLOTS, &far[i], &c);
        struct state *s = suite_state(h);
        s->messages = 2;
        harness_start(h);
        suite_wait_for_state(h, c->receiver->task, WB_TASK_BLOCKED);
        const struct wb_notify_config plain = { .doorbell = WB_NOTIFY_INTERRUPT };
        CHECK(wb_channel_set_notify_policy(c, &plain) == WB_OK);
        CHECK(wb_channel_notify_policy(c).doorbell == WB_NOTIFY_INTERRUPT &&
              wb_channel_notify_policy(c).batch == 0);
        wb_word_store(&s->go, 1, WB_SEQ_CST);
        suite_wait(h);
        harness_close(h);
    }
}

// Waits with a time limit until it is over, and then again until there is a message.
static int gives_up(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    enum wb_status status;
    uint32_t message;

    EXPECT(self, wb_port_receive(in, &message, 2000000) == WB_ERR_TIMEOUT);
    wb_word_store(&s->go, 1, WB_SEQ_CST);
    do
        status = wb_port_receive(in, &message, 2000000);
    while (status == WB_ERR_TIMEOUT);
    EXPECT(self, status == WB_OK && message == 0);
    wb_word_store(&s->received, 1, WB_SEQ_CST);
    return 0;
}

TEST(a_wait_by_a_bell_ends_at_its_own_time_limit_with_what_is_there)
{
    for (uint32_t i = 0; i < sizeof far / sizeof far[0]; i++) {
        struct wb_channel *c;
        struct harness *h = open_pair(sends_some, gives_up, SLOTS, &far[i], &c);
        struct state *s = suite_state(h);
        s->messages = 1;
        suite_run(h);
        harness_close(h);
    }
}

TEST(an_invalid_notify_policy_is_refused)
{
    static const struct wb_notify_config bad[] = {
        { .doorbell = WB_NOTIFY_POLLING },
        { .doorbell = WB_NOTIFY_ADAPTIVE },
        { .doorbell = WB_NOTIFY_ADAPTIVE, .within_us = WB_WITHIN_MAX_US + 1 },
        { .doorbell = (enum wb_doorbell)3, .within_us = 1 },
        { .batch = SLOTS + 1, .within_us = 1 },
        { .batch = 2 },
        { .doorbell = WB_NOTIFY_POLLING, .batch = 2, .within_us = 1 },
    };
    struct harness *h = suite_open(1, 0);
    struct wb_channel *c;

    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(wb_channel_add(harness_system(h),
                             &(struct wb_channel_config){
                                 .name = "c", .slots = SLOTS, .slot_bytes = 4, .notify = bad[i] },
                             &c) == WB_ERR_INVAL);
    CHECK(
        wb_channel_add(harness_system(h),
                       &(struct wb_channel_config){ .name = "c", .slots = SLOTS, .slot_bytes = 4 },
                       &c) == WB_OK);
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(wb_channel_set_notify_policy(c, &bad[i]) == WB_ERR_INVAL);
    harness_close(h);
}
