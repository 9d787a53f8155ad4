// SPDX-License-Identifier: Apache-2.0
// Mailboxes between cores that really run at once, and wake-ups of tasks that really sleep.
// with: check.c build.c kernel_threads.c
#include "check.h"
#include "kernel_threads.h"

enum { SENDERS = 4, MESSAGES = 6000, ROUNDS = 4000 };

struct message {
    uint32_t sender, number, both;
};

static struct wb_word done;
static struct wb_swapped sent;

// Claims a second slot where there is one. Waiting for it would be for ever: the receiver cannot
// pass over the first.
static int send_all(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0);
    const uint32_t me = (uint32_t)(wb_task_name(self)[0] - 'a');
    struct message *slot[2];

    for (uint32_t i = 0, n; i < MESSAGES && !threads_are_late(); i += n) {
        CHECK(wb_port_claim(out, (void **)&slot[0], WB_FOREVER) == WB_OK);
        n = i + 1 < MESSAGES && wb_port_claim(out, (void **)&slot[1], 0) == WB_OK ? 2 : 1;
        for (uint32_t k = 0; k < n; k++) {
            *slot[k] = (struct message){ me, i + k, me ^ (i + k) };
            CHECK(wb_port_commit(out) == WB_OK);
        }
        wb_word_add(&sent, n, WB_SEQ_CST);
        wb_checkpoint();
    }
    return 0;
}

static int receive_all(struct wb_task *self)
{
    struct wb_port *in = wb_port_find_any(self, "in", 0);
    uint32_t expected[SENDERS] = { 0 }, received = 0;
    struct message m;

    while (wb_port_receive(in, &m, WB_FOREVER) == WB_OK) {
        received++;
        CHECK(m.sender < SENDERS && m.both == (m.sender ^ m.number));
        CHECK(m.number == expected[m.sender]++);
        wb_checkpoint();
    }
    CHECK(received == wb_word_load(&sent, WB_SEQ_CST));
    wb_word_store(&done, 1, WB_SEQ_CST);
    return 0;
}

static int move_all(struct wb_task *self)
{
    struct wb_system *system = wb_task_app(self)->system;

    for (uint32_t i = 0; wb_word_load(&done, WB_SEQ_CST) == 0; i++) {
        const enum wb_status status = wb_migrate(&system->tasks[i % 5], i % 3, 5000000);
        // BUSY: the last one was taken by its target in time, but has not run there yet.
        CHECK(status == WB_OK || status == WB_ERR_TIMEOUT || status == WB_ERR_BUSY ||
              status == WB_ERR_GONE);
        if (status == WB_ERR_BUSY || status == WB_ERR_GONE)
            wb_sleep_until(wb_now_ns() + 20000);  // who is left may be here
    }
    return 0;
}

static void play(uint32_t slots)
{
    static const char *const names[SENDERS] = { "a", "b", "c", "d" };
    struct wb_system *s = threads_open(3);
    struct wb_channel *mailbox = build_channel(s, "m", slots, sizeof(struct message), true);

    wb_word_store(&done, 0, WB_SEQ_CST);
    wb_word_init(&sent, 0);
    for (uint32_t i = 0; i < SENDERS; i++)
        build_port(build_task(s, names[i], i % 3, 3, send_all), mailbox, WB_OUT);
    build_port(build_task(s, "receiver", 1, 3, receive_all), mailbox, WB_IN);
    build_task(s, "mover", 2, 4, move_all);
    threads_run();
}

TEST(each_senders_messages_come_once_and_in_order_while_all_move)
{
    play(1);
    play(14);
}

// ---- Sleeping -----------------------------------------------------------------------------------

static int ping(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    uint32_t number;

    for (uint32_t i = 0; i < ROUNDS && !threads_are_late(); i++) {
        CHECK(wb_port_send(out, &i, WB_FOREVER) == WB_OK);
        CHECK(wb_port_receive(in, &number, WB_FOREVER) == WB_OK && number == i);
    }
    return 0;
}

static int pong(struct wb_task *self)
{
    struct wb_port *out = wb_port_find_any(self, "out", 0), *in = wb_port_find_any(self, "in", 0);
    uint32_t number;

    while (wb_port_receive(in, &number, WB_FOREVER) == WB_OK)
        CHECK(wb_port_send(out, &number, WB_FOREVER) == WB_OK);
    return 0;
}

// Three pairs on two cores: there is nearly always another task ready, so nobody polls, all sleep.
TEST(no_wake_up_is_lost)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
    struct wb_system *s = threads_open(2);

    for (uint32_t i = 0; i < 6; i += 2) {
        struct wb_task *one = build_task(s, names[i], 0, 3, ping),
                       *two = build_task(s, names[i + 1], 1, 3, pong);
        struct wb_channel *there = build_channel(s, names[i], 1, sizeof(uint32_t), false),
                          *back = build_channel(s, names[i + 1], 1, sizeof(uint32_t), true);
        build_port(one, there, WB_OUT);
        build_port(two, there, WB_IN);
        build_port(two, back, WB_OUT);
        build_port(one, back, WB_IN);
    }
    threads_run();
}
