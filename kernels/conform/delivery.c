// SPDX-License-Identifier: Apache-2.0
// Every message that was accepted is delivered once and in order, whoever moves.

#include "suite.h"

enum { WORDS = 12, SENDERS = 3, MOVED_MAX = SENDERS + 1 };

// A sender that finds no room for so long, because others are quicker, reaches no checkpoint.
enum { PATIENCE_NS = 1000000 };

struct message {
    uint32_t sender, number;
    uint32_t rest[WORDS];  // follows from the two above
};

struct state {
    uint32_t moves;    // each mover makes so many
    uint32_t n_moved;  // tasks that may be moved
    struct wb_task *moved[MOVED_MAX];
    struct wb_swapped moving;  // movers that are not done
    uint32_t sent[SENDERS], received[SENDERS];
};

static struct message message_of(uint32_t sender, uint32_t number)
{
    struct message m = { .sender = sender, .number = number };

    for (uint32_t i = 0; i < WORDS; i++)
        m.rest[i] = (number + i) * 2654435761u ^ sender;
    return m;
}

static bool is_whole(const struct message *m)
{
    for (uint32_t i = 0; i < WORDS; i++)
        if (m->rest[i] != ((m->number + i) * 2654435761u ^ m->sender))
            return false;
    return m->sender < SENDERS;
}

static int sender(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    const uint32_t me = wb_task_index(self);

    while (wb_word_load(&s->moving, WB_SEQ_CST) != 0) {
        const struct message m = message_of(me, s->sent[me]);
        EXPECT(self, wb_port_send(out, &m, WB_FOREVER) == WB_OK);
        s->sent[me]++;
        wb_checkpoint();
    }
    return 0;
}

static int receiver(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    struct message m;
    enum wb_status status;

    while ((status = wb_port_receive(in, &m, WB_FOREVER)) == WB_OK) {
        EXPECT(self, is_whole(&m));
        EXPECT(self, m.number == s->received[m.sender]);
        s->received[m.sender]++;
        wb_checkpoint();
    }
    EXPECT(self, status == WB_ERR_GONE);
    return 0;
}

// Moves one task after another to any core, while others may do the same.
static int mover(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    uint32_t random = 77 + wb_task_index(self), done = 0;

    while (done < s->moves) {
        struct wb_task *task = s->moved[suite_random(&random) % s->n_moved];
        const uint32_t away = 1 + suite_random(&random) % (self->system->n_cores - 1);
        const uint32_t core = (wb_task_core(task) + away) % self->system->n_cores;
        const enum wb_status status = wb_migrate(task, core, PATIENCE_NS);
        EXPECT(self, status == WB_OK || status == WB_ERR_BUSY || status == WB_ERR_TIMEOUT);
        done += status == WB_OK;
        if (status == WB_ERR_BUSY)
            wb_sleep_until(wb_now_ns() + 500000);
    }
    wb_word_sub(&s->moving, 1, WB_SEQ_CST);
    return 0;
}

static struct harness *open_stream(uint32_t cores, uint32_t moves)
{
    struct harness *h = suite_open(cores, sizeof(struct state));
    struct state *s = suite_state(h);

    s->moves = suite_count(moves);
    return h;
}

static struct wb_task *add(struct harness *h, const char *name, wb_task_entry *entry, uint32_t core)
{
    return suite_task(h, &(struct wb_task_config){
                             .name = name, .entry = entry, .core = core, .migratable = true });
}

static void add_movers(struct harness *h, uint32_t n)
{
    struct state *s = suite_state(h);

    for (uint32_t i = 0; i < n; i++)
        suite_task(h, &(struct wb_task_config){ .name = "mover",
                                                .index = i,
                                                .entry = mover,
                                                .core = i,
                                                .priority = SUITE_PRIORITY + 4 });
    wb_word_init(&s->moving, n);
}

static void run_and_check(struct harness *h, uint32_t senders)
{
    struct state *s = suite_state(h);
    uint64_t moved = 0;
    const uint32_t movers = wb_word_load(&s->moving, WB_SEQ_CST);

    suite_run(h);
    for (uint32_t i = 0; i < senders; i++)
        CHECK(s->sent[i] != 0 && s->received[i] == s->sent[i]);
    for (uint32_t i = 0; i < s->n_moved; i++)
        moved += wb_task_migrations(s->moved[i]);
    CHECK(moved >= (uint64_t)movers * s->moves / 2);
    harness_close(h);
}

static void stream(bool sender_moves, bool receiver_moves, uint32_t slots, uint32_t moves)
{
    struct harness *h = open_stream(2, moves);
    struct state *s = suite_state(h);
    struct wb_task *from = add(h, "sender", sender, 0), *to = add(h, "receiver", receiver, 1);

    suite_channel(h,
                  &(struct wb_channel_config){
                      .name = "stream", .slots = slots, .slot_bytes = sizeof(struct message) },
                  from, to);
    if (sender_moves)
        s->moved[s->n_moved++] = from;
    if (receiver_moves)
        s->moved[s->n_moved++] = to;
    add_movers(h, s->n_moved);
    run_and_check(h, 1);
}

TEST(a_stream_is_whole_while_its_sender_moves)
{
    stream(true, false, 3, 4000);
}

TEST(a_stream_is_whole_while_its_receiver_moves)
{
    stream(false, true, 3, 4000);
}

TEST(a_stream_is_whole_while_both_ends_move)
{
    stream(true, true, 3, 3000);
}

TEST(a_channel_of_one_slot_is_whole_while_both_ends_move)
{
    stream(true, true, 1, 2000);
}

TEST(a_mailbox_keeps_the_order_of_each_sender_while_all_ends_move)
{
    struct harness *h = open_stream(2, 3000);
    struct state *s = suite_state(h);
    struct wb_channel *mailbox = NULL;

    s->moved[s->n_moved++] = add(h, "receiver", receiver, 1);
    for (uint32_t i = 0; i < SENDERS; i++) {
        struct wb_task *from = suite_task(
            h,
            &(struct wb_task_config){
                .name = "sender", .index = i, .entry = sender, .core = i % 2, .migratable = true });
        const struct wb_channel_config config = {
            .name = "mailbox", .slots = 5, .slot_bytes = sizeof(struct message), .mailbox = true
        };
        if (mailbox == NULL)
            mailbox = suite_channel(h, &config, from, s->moved[0]);
        else
            suite_sender(mailbox, from);
        s->moved[s->n_moved++] = from;
    }
    add_movers(h, 2);
    run_and_check(h, SENDERS);
}

TEST(a_stream_is_whole_across_more_cores_than_processors)
{
    struct harness *h = open_stream(4, 500);
    struct state *s = suite_state(h);
    struct wb_task *from = add(h, "sender", sender, 0), *to = add(h, "receiver", receiver, 3);

    suite_channel(h,
                  &(struct wb_channel_config){
                      .name = "stream", .slots = 4, .slot_bytes = sizeof(struct message) },
                  from, to);
    s->moved[s->n_moved++] = from;
    s->moved[s->n_moved++] = to;
    add_movers(h, 2);
    run_and_check(h, 1);
}
