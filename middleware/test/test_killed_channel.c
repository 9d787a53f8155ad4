// SPDX-License-Identifier: Apache-2.0
// A kernel killed at any instruction of sending or receiving leaves its channels whole.
// with: check.c build.c kernel_stub.c killed.c
#include "check.h"
#include "kernel_stub.h"
#include "killed.h"

enum { SLOTS = 3, MESSAGES = 3, FIRST_AGAIN = 100 };

// `task` runs on core 0, which dies; `peer` is on core 1, its successor. `other` sends too, to a
// mailbox.
static struct wb_task *task, *peer, *other;
static struct wb_channel *channel;
static struct wb_port *out, *in, *other_out;

static void build(bool mailbox, bool task_sends)
{
    stub_open(&(struct wb_system_config){
        .cores = 2, .tasks = 3, .channels = 1, .ports = 3, .core_align = WB_LINE_BYTES });
    task = stub_task("task", 0);
    peer = stub_task("peer", 1);
    other = stub_task("other", 1);
    task->restart = true;
    channel = stub_channel("c", SLOTS, sizeof(uint32_t), mailbox);
    out = build_port(task_sends ? task : peer, channel, WB_OUT);
    in = build_port(task_sends ? peer : task, channel, WB_IN);
    other_out = mailbox ? build_port(other, channel, WB_OUT) : NULL;
    stub_start(stub.system);
    stub_run(task);
}

// Core 0 dies; its task starts again on core 1.
static void die(void)
{
    stub.unblocked = NULL;
    killed_start_again(task);
}

static enum wb_status put(struct wb_port *port, uint32_t message)
{
    return wb_port_send(port, &message, 0);
}

static enum wb_status get(uint32_t *message)
{
    return wb_port_receive(in, message, 0);
}

// All slots are there, in order, for every sender.
static void check_whole(void)
{
    uint32_t message;

    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < SLOTS; i++)
            CHECK(put(other_out != NULL && i % 2 == 1 ? other_out : out, FIRST_AGAIN + i) == WB_OK);
        CHECK(put(out, 0) == WB_ERR_FULL);
        for (uint32_t i = 0; i < SLOTS; i++)
            CHECK(get(&message) == WB_OK && message == FIRST_AGAIN + i);
        CHECK(get(&message) == WB_ERR_EMPTY);
    }
}

// ---- Sending ------------------------------------------------------------------------------------

static void build_sender(void)
{
    build(false, true);
}

static void build_mailbox_sender(void)
{
    build(true, true);
}

static void send_all(void)
{
    for (uint32_t i = 1; i <= MESSAGES; i++) {
        CHECK(put(out, i) == WB_OK);
        *killed_progress() = i;
    }
}

static void check_sent(void)
{
    uint32_t message, received = 0;

    die();
    while (get(&message) == WB_OK)
        CHECK(message == ++received);
    CHECK(received >= *killed_progress() && received <= *killed_progress() + 1);
    check_whole();
}

TEST(a_killed_sender_has_sent_what_it_was_told_and_a_prefix)
{
    killed_show(&(struct killed){ build_sender, send_all, check_sent }, 4 * MESSAGES);
}

TEST(a_killed_sender_to_a_mailbox_has_sent_what_it_was_told_and_a_prefix)
{
    killed_show(&(struct killed){ build_mailbox_sender, send_all, check_sent }, 6 * MESSAGES);
}

static void claim_and_commit(void)
{
    void *slot;

    for (uint32_t i = 1; i <= MESSAGES; i++) {
        CHECK(wb_port_claim(out, &slot, 0) == WB_OK);
        *(uint32_t *)slot = i;
    }
    for (uint32_t i = 1; i <= MESSAGES; i++) {
        CHECK(wb_port_commit(out) == WB_OK);
        *killed_progress() = i;
    }
}

TEST(a_sender_killed_with_slots_claimed_has_sent_a_prefix)
{
    killed_show(&(struct killed){ build_sender, claim_and_commit, check_sent }, 4 * MESSAGES);
    killed_show(&(struct killed){ build_mailbox_sender, claim_and_commit, check_sent },
                6 * MESSAGES);
}

static void build_waiting_receiver(void)
{
    build_sender();
    wb_word_init(&in->waiting, 1);
}

static void check_woken(void)
{
    const uint32_t depth = wb_channel_depth(channel);

    die();
    CHECK(depth == 0 || stub.unblocks > 0);
    check_sent();
}

TEST(a_receiver_that_waits_for_a_killed_sender_looks_again)
{
    killed_show(&(struct killed){ build_waiting_receiver, send_all, check_woken }, 4 * MESSAGES);
}

// ---- Receiving ----------------------------------------------------------------------------------

static void fill(bool mailbox)
{
    build(mailbox, false);
    stub_become(1, peer);
    for (uint32_t i = 1; i <= MESSAGES; i++)
        CHECK(put(out, i) == WB_OK);
    stub_become(0, task);
}

static void build_receiver(void)
{
    fill(false);
}

static void build_mailbox_receiver(void)
{
    fill(true);
}

static void hold_and_release(void)
{
    const uint32_t *slot;

    for (uint32_t i = 1; i <= MESSAGES; i++) {
        CHECK(wb_port_hold(in, (const void **)&slot, 0) == WB_OK && *slot == i);
        CHECK(wb_port_release(in) == WB_OK);
        *killed_progress() = i;
    }
}

static void check_redelivered(void)
{
    uint32_t message = MESSAGES + 1;

    die();
    if (get(&message) == WB_OK)
        for (uint32_t next = message + 1; next <= MESSAGES; next++) {
            uint32_t following;
            CHECK(get(&following) == WB_OK && following == next);
        }
    CHECK(message >= *killed_progress() + 1 && message <= *killed_progress() + 2);
    check_whole();
}

TEST(messages_that_a_killed_receiver_had_not_released_come_again)
{
    killed_show(&(struct killed){ build_receiver, hold_and_release, check_redelivered },
                4 * MESSAGES);
}

TEST(messages_of_a_mailbox_that_a_killed_receiver_had_not_released_come_again)
{
    killed_show(&(struct killed){ build_mailbox_receiver, hold_and_release, check_redelivered },
                4 * MESSAGES);
}

// A void slot lies between two messages.
static void build_receiver_of_void(void)
{
    void *slot;

    build(true, false);
    stub_become(1, peer);
    CHECK(put(out, 1) == WB_OK);
    CHECK(wb_port_claim(other_out, &slot, 0) == WB_OK);
    CHECK(put(out, 2) == WB_OK);
    wb_port_close(other_out);
    other_out = NULL;
    stub_become(0, task);
}

static void pass_over(void)
{
    uint32_t message;

    for (uint32_t i = 1; i <= 2; i++) {
        CHECK(get(&message) == WB_OK && message == i);
        *killed_progress() = i;
    }
    CHECK(get(&message) == WB_ERR_EMPTY);
}

static void check_passed_over(void)
{
    uint32_t message, expected = *killed_progress() + 1;

    die();
    while (get(&message) == WB_OK) {
        CHECK(message == expected || message == expected + 1);
        expected = message + 1;
    }
    check_whole();
}

TEST(a_receiver_killed_while_it_passes_over_a_void_slot_is_not_stuck)
{
    killed_show(&(struct killed){ build_receiver_of_void, pass_over, check_passed_over }, 10);
}
