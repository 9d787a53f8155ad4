// SPDX-License-Identifier: Apache-2.0
// Streams whose tasks move all the time: by hand-off, replicated by either transport, recreated,
// re-entered; through channels and mailboxes.

#include "protocol.h"
#include "recreated.h"

enum { CORES = 3, SLOTS = 2, MESSAGES = 60, MOVES = 12, SENDERS = 2, WORDS = 400 };

struct stream {
    struct recreated recreated;  // first: the relay of the program knows nothing else
    struct wb_word sent[SENDERS], expected[SENDERS], closed;
    struct wb_swapped repeated, moves[SENDERS + 1];
};

struct message {
    uint32_t sender, number;
};

// ---- Tasks that may be restarted anywhere -------------------------------------------------------

// True: the receiver is lost with its kernel, and its sender is told.
static bool is_gone(struct wb_task *self, enum wb_status status)
{
    EXPECT(self, status == WB_OK || (status == WB_ERR_GONE && protocol_has_death(self->system)));
    return status != WB_OK;
}

// What it has not noted as sent it sends again.
static int sender(struct wb_task *self)
{
    struct stream *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    const uint32_t me = wb_task_index(self);
    void *slot;

    for (uint32_t i = wb_word_load(&s->sent[me], WB_SEQ_CST); i < MESSAGES; i++) {
        if (is_gone(self, wb_port_claim(out, &slot, WB_FOREVER)))
            return 0;
        *(struct message *)slot = (struct message){ me, i };
        wb_checkpoint();
        EXPECT(self, wb_port_commit(out) == WB_OK);
        wb_word_store(&s->sent[me], i + 1, WB_SEQ_CST);
    }
    return 0;
}

// Its memory goes where it goes: `words` of its heap, and one of its stack.
static int relay(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    volatile uint32_t passed = 0;
    uint32_t *words = wb_calloc(WORDS, sizeof *words);
    const void *slot;

    EXPECT(self, words != NULL);
    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        if (is_gone(self, wb_port_send(out, slot, WB_FOREVER)))
            return 0;
        EXPECT(self, wb_port_release(in) == WB_OK);
        for (uint32_t i = 0; i < WORDS; i++) {
            EXPECT(self, words[i] == passed * (i + 1));
            words[i] += i + 1;
        }
        passed++;
        wb_checkpoint();
    }
    return 0;
}

// Begins anew wherever it comes to. What it passed it counts after it has released it: a life that
// is cut short may leave that behind by one.
static int reentered(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0), *out = wb_port_find_any(self, "out", 0);
    uint32_t *passed = wb_task_state(self);
    const void *slot;

    if (passed == NULL) {
        passed = wb_calloc(1, sizeof *passed);
        EXPECT(self, passed != NULL);
        wb_task_set_state(self, passed);
    }
    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        const uint32_t number = ((const struct message *)slot)->number;
        EXPECT(self, number == *passed || protocol_has_death(self->system));
        if (is_gone(self, wb_port_send(out, slot, WB_FOREVER)))
            return 0;
        EXPECT(self, wb_port_release(in) == WB_OK);
        ++*passed;
        wb_checkpoint();
    }
    return 0;
}

static int receiver(struct wb_task *self)
{
    struct stream *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    const void *slot;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        const struct message m = *(const struct message *)slot;
        EXPECT(self, m.sender < SENDERS);
        const uint32_t expected = wb_word_load(&s->expected[m.sender], WB_SEQ_CST);
        EXPECT(self, m.number == expected || m.number + 1 == expected);
        if (m.number == expected)
            wb_word_store(&s->expected[m.sender], m.number + 1, WB_SEQ_CST);
        else
            wb_word_add(&s->repeated, 1, WB_SEQ_CST);
        EXPECT(self, wb_port_release(in) == WB_OK);
        wb_checkpoint();
    }
    wb_word_store(&s->closed, 1, WB_SEQ_CST);
    return 0;
}

static int mover(struct wb_task *self)
{
    struct stream *s = suite_shared(self);
    const uint32_t me = wb_task_index(self);
    struct wb_task *task = &self->system->tasks[me];

    while (wb_word_load(&s->moves[me], WB_SEQ_CST) < MOVES) {
        wb_word_add(&s->moves[me], 1, WB_SEQ_CST);
        protocol_move(self, task, (wb_task_core(task) + 1 + me) % CORES);
        wb_sleep_until(wb_now_ns() + 500);
    }
    return 0;
}

// ---- Laying out ---------------------------------------------------------------------------------

struct way {
    enum wb_mode mode;
    enum wb_transport transport;
    bool lossy;     // a task that runs on a killed kernel is lost
    bool at_waits;  // its waits are checkpoints
};

static struct wb_task *add(struct harness *h, const char *name, uint32_t core, wb_task_entry *entry,
                           const struct way *way)
{
    return suite_task(h, &(struct wb_task_config){ .name = name,
                                                   .index = core % SENDERS,
                                                   .entry = entry,
                                                   .core = core,
                                                   .migratable = true,
                                                   .restart = !way->lossy,
                                                   .moves_at_waits = way->at_waits,
                                                   .mode = way->mode });
}

static void add_movers(struct harness *h, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        suite_task(h, &(struct wb_task_config){ .name = "mover",
                                                .index = i,
                                                .entry = mover,
                                                .core = (i + 2) % CORES,
                                                .priority = SUITE_PRIORITY + 4,
                                                .restart = true });
}

static const struct way plain = { .mode = WB_HANDOFF };

static const struct wb_channel_config first = { .name = "first",
                                                .slots = SLOTS,
                                                .slot_bytes = sizeof(struct message) };
static const struct wb_channel_config second = { .name = "second",
                                                 .slots = SLOTS,
                                                 .slot_bytes = sizeof(struct message) };

static struct harness *open_cores(enum wb_transport transport)
{
    return suite_open_with(&(struct harness_config){ .cores = CORES,

                                                     .transport = transport },
                           sizeof(struct stream));
}

// The task to be moved is the first that is added.
static struct harness *open_relay(const struct way *way)
{
    const struct way ends = { .mode = WB_HANDOFF, .lossy = way->lossy, .at_waits = way->at_waits };
    struct harness *h = open_cores(way->transport);
    struct wb_task *middle = add(h, "relay", 1, way->mode == WB_REENTER ? reentered : relay, way);
    struct wb_task *from = add(h, "sender", 0, sender, &ends);
    struct wb_task *to = add(h, "receiver", 2, receiver, &ends);

    if (way->mode == WB_RECREATE)
        CHECK(harness_host(h, middle, "relay"));
    suite_channel(h, &first, from, middle);
    suite_channel(h, &second, middle, to);
    add_movers(h, 1);
    return h;
}

static bool is_lost(struct harness *h, uint32_t task)
{
    return wb_task_state_of(wb_word_load(&harness_system(h)->tasks[task].owner_state,
                                         WB_SEQ_CST)) == WB_TASK_LOST;
}

static const char *check(struct harness *h, const struct fault *fault, uint32_t senders)
{
    const struct stream *s = suite_state(h);
    const bool killed = protocol_kills(fault);

    for (uint32_t i = 0; i < senders; i++)
        if (wb_word_load(&s->expected[i], WB_SEQ_CST) != MESSAGES)
            return "not every message has come";
    if (wb_word_load(&s->closed, WB_SEQ_CST) != 1)
        return "the receiver has not seen the end";
    // Each of the tasks on the killed kernel may repeat what it had not finished.
    if (wb_word_load(&s->repeated, WB_SEQ_CST) > (killed ? senders + 2u : 0))
        return "a message has come twice";
    for (uint32_t i = 0; i < harness_system(h)->n_tasks; i++)
        if (harness_system(h)->tasks[i].restarts > killed)
            return "a task was restarted for nothing";
    return NULL;
}

static const char *check_one(struct harness *h, const struct fault *fault)
{
    return check(h, fault, 1);
}

// The relay, the sender and the receiver are tasks 0 to 2. Who is lost leaves the others an end.
static const char *check_lossy(struct harness *h, const struct fault *fault)
{
    const struct stream *s = suite_state(h);
    const uint32_t sent = wb_word_load(&s->sent[0], WB_SEQ_CST),
                   came = wb_word_load(&s->expected[0], WB_SEQ_CST);

    if (!is_lost(h, 0) && !is_lost(h, 1) && !is_lost(h, 2))
        return check(h, fault, 1);
    if (!protocol_kills(fault))
        return "a task is lost without a death";
    if (!is_lost(h, 2) && wb_word_load(&s->closed, WB_SEQ_CST) != 1)
        return "the receiver has not seen the end";
    if (wb_word_load(&s->repeated, WB_SEQ_CST) != 0)
        return "a message has come twice";
    // It may not have come to note its last.
    if (!is_lost(h, 0) && !is_lost(h, 2) && came - sent > 1)
        return "a message that was accepted has not come";
    return NULL;
}

// ---- The protocols ------------------------------------------------------------------------------

static struct harness *open_handoff(void)
{
    return open_relay(&(struct way){ .mode = WB_HANDOFF });
}

TEST(a_stream_through_a_task_that_is_handed_off)
{
    protocol_inject(&(struct protocol){
        .open = open_handoff, .check = check_one, .cores = CORES, .migrations = 10 });
}

static struct harness *open_alias(void)
{
    return open_relay(&(struct way){ .mode = WB_REPLICATE });
}

TEST(a_stream_through_a_task_that_is_replicated)
{
    protocol_inject(&(struct protocol){
        .open = open_alias, .check = check_one, .cores = CORES, .migrations = 10 });
}

static struct harness *open_waits(void)
{
    return open_relay(&(struct way){ .mode = WB_HANDOFF, .at_waits = true });
}

TEST(a_stream_through_a_task_that_is_handed_off_where_it_waits)
{
    protocol_inject(&(struct protocol){
        .open = open_waits, .check = check_one, .cores = CORES, .migrations = 10 });
}

static struct harness *open_alias_waits(void)
{
    return open_relay(&(struct way){ .mode = WB_REPLICATE, .at_waits = true });
}

TEST(a_stream_through_a_task_that_is_replicated_where_it_waits)
{
    protocol_inject(&(struct protocol){
        .open = open_alias_waits, .check = check_one, .cores = CORES, .migrations = 10 });
}

static struct harness *open_buffer(void)
{
    return open_relay(&(struct way){ .mode = WB_REPLICATE, .transport = WB_TRANSPORT_BUFFER });
}

TEST(a_stream_through_a_task_that_is_replicated_by_the_transfer_buffer)
{
    protocol_inject(&(struct protocol){
        .open = open_buffer, .check = check_one, .cores = CORES, .migrations = 10 });
}

static struct harness *open_recreated(void)
{
    return open_relay(&(struct way){ .mode = WB_RECREATE });
}

TEST(a_stream_through_a_task_that_is_recreated)
{
    protocol_inject(&(struct protocol){
        .open = open_recreated, .check = check_one, .cores = CORES, .migrations = 10 });
}

static struct harness *open_reentered(void)
{
    return open_relay(&(struct way){ .mode = WB_REENTER });
}

TEST(a_stream_through_a_task_that_is_re_entered)
{
    protocol_inject(&(struct protocol){
        .open = open_reentered, .check = check_one, .cores = CORES, .migrations = 10 });
}

static struct harness *open_lossy(void)
{
    return open_relay(&(struct way){ .mode = WB_HANDOFF, .lossy = true });
}

TEST(a_stream_of_tasks_that_are_lost_with_their_kernel)
{
    protocol_inject(&(struct protocol){
        .open = open_lossy, .check = check_lossy, .cores = CORES, .migrations = 10 });
}

static struct harness *open_lossy_buffer(void)
{
    return open_relay(
        &(struct way){ .mode = WB_REPLICATE, .transport = WB_TRANSPORT_BUFFER, .lossy = true });
}

TEST(a_stream_through_a_replicated_task_that_is_lost_with_its_kernel)
{
    protocol_inject(&(struct protocol){
        .open = open_lossy_buffer, .check = check_lossy, .cores = CORES, .migrations = 10 });
}

static struct harness *open_ends(void)
{
    struct harness *h = open_cores(WB_TRANSPORT_ALIAS);
    struct wb_task *from = add(h, "sender", 0, sender, &plain);
    struct wb_task *to = add(h, "receiver", 1, receiver, &plain);

    suite_channel(h, &first, from, to);
    add_movers(h, 2);
    return h;
}

TEST(a_channel_while_both_ends_move)
{
    protocol_inject(&(struct protocol){
        .open = open_ends, .check = check_one, .cores = CORES, .migrations = 10 });
}

// ---- Receivers that are not woken by each message ----

static struct harness *open_notify(const struct wb_notify_config *notify)
{
    struct wb_channel_config config = first;
    struct harness *h = open_cores(WB_TRANSPORT_ALIAS);
    struct wb_task *from = add(h, "sender", 0, sender, &plain);
    struct wb_task *to = add(h, "receiver", 1, receiver, &plain);

    config.notify = *notify;
    suite_channel(h, &config, from, to);
    add_movers(h, 2);
    return h;
}

static struct harness *open_polling(void)
{
    return open_notify(&(struct wb_notify_config){ .doorbell = WB_NOTIFY_POLLING, .within_us = 3 });
}

TEST(a_channel_whose_receiver_polls_while_both_ends_move)
{
    protocol_inject(&(struct protocol){
        .open = open_polling, .check = check_one, .cores = CORES, .migrations = 10 });
}

static struct harness *open_adaptive(void)
{
    return open_notify(
        &(struct wb_notify_config){ .doorbell = WB_NOTIFY_ADAPTIVE, .within_us = 2 });
}

TEST(a_channel_whose_receiver_adapts_while_both_ends_move)
{
    protocol_inject(&(struct protocol){
        .open = open_adaptive, .check = check_one, .cores = CORES, .migrations = 10 });
}

static struct harness *open_batch(void)
{
    return open_notify(&(struct wb_notify_config){ .batch = SLOTS, .within_us = 5 });
}

TEST(a_channel_with_batches_while_both_ends_move)
{
    protocol_inject(&(struct protocol){
        .open = open_batch, .check = check_one, .cores = CORES, .migrations = 10 });
}

static struct harness *open_mailbox(void)
{
    struct wb_channel_config config = first;
    struct harness *h = open_cores(WB_TRANSPORT_ALIAS);
    struct wb_task *from = add(h, "sender", 0, sender, &plain);
    struct wb_task *another = add(h, "sender", 1, sender, &plain);
    struct wb_task *to = add(h, "receiver", 2, receiver, &plain);

    config.mailbox = true;
    suite_sender(suite_channel(h, &config, from, to), another);
    add_movers(h, SENDERS + 1);
    return h;
}

static const char *check_mailbox(struct harness *h, const struct fault *fault)
{
    return check(h, fault, SENDERS);
}

TEST(a_mailbox_while_all_ends_move)
{
    protocol_inject(&(struct protocol){
        .open = open_mailbox, .check = check_mailbox, .cores = CORES, .migrations = 10 });
}
