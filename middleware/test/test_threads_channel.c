// SPDX-License-Identifier: Apache-2.0
// Channels between cores that really run at once, while both ends migrate.
// with: check.c build.c kernel_threads.c
#include "check.h"
#include "kernel_threads.h"

enum { MESSAGES = 20000, LINE = 24 };

struct message {
    uint32_t number;
    uint32_t words[LINE];  // all the same: a torn message shows
};

static uint32_t out_at_once;  // slots that both ends keep claimed and held
static struct wb_word done;
static struct wb_swapped sent, moved;

static void fill(struct message *m, uint32_t number)
{
    m->number = number;
    for (int i = 0; i < LINE; i++)
        m->words[i] = number;
}

static void check(const struct message *m, uint32_t number)
{
    CHECK(m->number == number);
    for (int i = 0; i < LINE; i++)
        CHECK(m->words[i] == number);
}

// Whether the sender sends on: until all is sent, or for a second, but for ten moves at least.
static bool goes_on(void)
{
    return wb_word_load(&moved, WB_SEQ_CST) <= 10 ||
           (wb_word_load(&sent, WB_SEQ_CST) < MESSAGES && !threads_are_late());
}

// ---- Copies -------------------------------------------------------------------------------------

static int send_copies(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    struct message m;

    for (uint32_t i = 0; goes_on(); i++) {
        fill(&m, i);
        CHECK(wb_port_send(out, &m, WB_FOREVER) == WB_OK);
        wb_word_add(&sent, 1, WB_SEQ_CST);
        wb_checkpoint();
    }
    return 0;
}

static int receive_copies(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    struct message m;
    uint32_t i = 0;

    while (wb_port_receive(in, &m, WB_FOREVER) == WB_OK) {
        check(&m, i++);
        wb_checkpoint();
    }
    CHECK(i == wb_word_load(&sent, WB_SEQ_CST));
    wb_word_store(&done, 1, WB_SEQ_CST);
    return 0;
}

// ---- Slots in place -----------------------------------------------------------------------------

static int send_in_place(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    void *slot;

    for (uint32_t i = 0; goes_on(); i++) {
        CHECK(wb_port_claim(out, &slot, WB_FOREVER) == WB_OK);
        wb_word_add(&sent, 1, WB_SEQ_CST);
        wb_checkpoint();
        fill(slot, i);
        if (i + 1 >= out_at_once)
            CHECK(wb_port_commit(out) == WB_OK);
    }
    while (wb_port_commit(out) == WB_OK) {}
    CHECK(wb_port_messages(out) == wb_word_load(&sent, WB_SEQ_CST));
    return 0;
}

static int receive_in_place(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    const void *slot;
    uint32_t i = 0, held = 0;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        check(slot, i++);
        wb_checkpoint();
        check(slot, i - 1);
        if (++held == out_at_once) {
            CHECK(wb_port_release(in) == WB_OK);
            held--;
        }
    }
    CHECK(i == wb_word_load(&sent, WB_SEQ_CST));
    wb_word_store(&done, 1, WB_SEQ_CST);
    return 0;
}

// ---- Movers -------------------------------------------------------------------------------------

static int move_both(struct wb_task *self)
{
    const struct wb_app *app = wb_task_app(self);
    struct wb_task *ends[] = { wb_task_find(app, "sender", 0), wb_task_find(app, "receiver", 0) };

    for (uint32_t i = 0; wb_word_load(&done, WB_SEQ_CST) == 0; i++) {
        const enum wb_status status = wb_migrate(ends[i % 2], i / 2 % 3, 5000000);
        // BUSY: the last one was taken by its target in time, but has not run there yet.
        CHECK(status == WB_OK || status == WB_ERR_TIMEOUT || status == WB_ERR_BUSY ||
              status == WB_ERR_GONE);
        wb_word_add(&moved, status == WB_OK, WB_SEQ_CST);
        if (status == WB_ERR_BUSY || status == WB_ERR_GONE)
            wb_sleep_until(wb_now_ns() + 20000);  // who is left may be here
    }
    return 0;
}

static void play(uint32_t slots, wb_task_entry *sender, wb_task_entry *receiver)
{
    struct wb_system *s = threads_open(3);
    struct wb_channel *channel = build_channel(s, "c", slots, sizeof(struct message), false);

    wb_word_store(&done, 0, WB_SEQ_CST);
    wb_word_init(&moved, 0);
    wb_word_init(&sent, 0);
    build_port(build_task(s, "sender", 0, 3, sender), channel, WB_OUT);
    build_port(build_task(s, "receiver", 1, 3, receiver), channel, WB_IN);
    build_task(s, "mover", 2, 4, move_both);
    threads_run();
}

TEST(messages_come_once_and_in_order_while_both_ends_move)
{
    play(1, send_copies, receive_copies);
    play(14, send_copies, receive_copies);
}

TEST(slots_keep_their_content_while_both_ends_move)
{
    out_at_once = 1;
    play(3, send_in_place, receive_in_place);
    out_at_once = 4;
    play(14, send_in_place, receive_in_place);
}
