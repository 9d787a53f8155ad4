// SPDX-License-Identifier: Apache-2.0
// Unit tests of ports: finding them, waiting, waking, closing.
// with: check.c build.c kernel_stub.c
#include "wb/wb.h"

#include <string.h>

#include "check.h"
#include "kernel_stub.h"

static struct wb_channel *channel;
static struct wb_task *sender, *receiver;
static struct wb_port *out, *in;
static uint32_t message;

static void setup(void)
{
    stub_system(2);
    sender = stub_task("sender", 0);
    receiver = stub_task("receiver", 1);
    channel = stub_channel("c", 1, sizeof message, false);
    out = build_port(sender, channel, WB_OUT);
    in = build_port(receiver, channel, WB_IN);
    stub_start(stub.system);
    stub_become(0, sender);
    message = 1;
}

TEST(ports_are_found_by_name_and_index)
{
    setup();
    struct wb_port *second = build_port(sender, stub_channel("d", 1, 1, false), WB_OUT);

    CHECK(wb_port_find_any(sender, "out", 0) == out &&
          wb_port_find_any(sender, "out", 1) == second);
    CHECK(wb_port_find_any(sender, "out", 2) == NULL && wb_port_find_any(sender, "in", 0) == NULL);
    CHECK(wb_port_count(sender, "out") == 2 && wb_port_count(sender, "ou") == 0);
    CHECK(wb_port_find_any(receiver, "in", 0) == in);
}

static bool blames(enum wb_fault_kind kind, uint32_t of_channel, const char *text)
{
    const struct wb_fault *fault = &stub.system->fault;

    return fault->kind == kind && fault->task == sender->id && fault->channel == of_channel &&
           strcmp(fault->text, text) == 0;
}

TEST(a_port_is_found_for_messages_of_the_size_of_its_slots)
{
    setup();
    const uint32_t bytes = wb_port_slot_bytes(out);
    CHECK(wb_port_find(sender, "out", 0, bytes) == out);
    CHECK(wb_port_find_room(sender, "out", 0, bytes - 1) == out);
    CHECK(stub.system->fault.kind == WB_FAULT_NONE);
}

TEST(a_size_that_is_not_that_of_the_slots_ends_the_run_with_both)
{
    setup();
    struct wb_channel *d = stub_channel("d", 1, 1000, false);
    build_port(sender, d, WB_OUT);
    CHECK(HALTS(wb_port_find(sender, "out", 1, 1234567890)));
    CHECK(blames(WB_FAULT_PORT, d->id,
                 "it sends messages of 1234567890 bytes by its port `out[1]`, and the slots of "
                 "channel `d` have 1000"));
}

TEST(slots_with_too_little_room_end_the_run_with_both)
{
    setup();
    struct wb_channel *d = stub_channel("d", 1, 1000, false);
    build_port(sender, d, WB_IN);
    CHECK(HALTS(wb_port_find_room(sender, "in", 0, 1001)));
    CHECK(blames(WB_FAULT_PORT, d->id,
                 "it receives messages of up to 1001 bytes by its port `in`, and the slots of "
                 "channel `d` have 1000"));
}

TEST(a_port_that_is_missing_ends_the_run_with_those_that_there_are)
{
    setup();
    build_port(sender, stub_channel("d", 1, 1, false), WB_OUT);
    CHECK(HALTS(wb_port_find(sender, "outt", 2, 4)));
    CHECK(blames(WB_FAULT_PORT, UINT32_MAX,
                 "it has no port `outt[2]`; its ports are `out`, `out[1]`"));
}

TEST(a_task_without_ports_is_told_so)
{
    setup();
    sender->ports = NULL;
    CHECK(HALTS(wb_port_find(sender, "out", 0, 4)));
    CHECK(blames(WB_FAULT_PORT, UINT32_MAX, "it has no port `out`; it has none"));
}

TEST(more_ports_than_an_error_has_room_for_are_cut_off)
{
    setup();
    struct wb_port many[8];
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        many[i] = *out;
        many[i].next_of_task = i + 1 < sizeof many / sizeof *many ? &many[i + 1] : NULL;
    }
    sender->ports = many;
    for (struct wb_port *port = sender->ports; port != NULL; port = port->next_of_task)
        memset(port->name, 'x', sizeof port->name - 1);
    CHECK(HALTS(wb_port_find(sender, "out", 0, 4)));
    CHECK(strlen(stub.system->fault.text) == WB_ERROR_BYTES - 1);
}

// ---- Time ---------------------------------------------------------------------------------------

TEST(a_wait_without_time_never_blocks)
{
    setup();
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    CHECK(wb_port_send(out, &message, 0) == WB_ERR_FULL);
    CHECK(stub.blocks == 0 && stub.spins == 0);
}

TEST(a_wait_ends_when_its_time_has_passed)
{
    setup();
    stub.now_ns = 500;
    CHECK(wb_port_receive(in, &message, 100) == WB_ERR_TIMEOUT);
    CHECK(stub.now_ns == 600 && message == 1);
    CHECK(wb_port_send(out, &message, 100) == WB_OK);
    CHECK(wb_port_send(out, &message, 100) == WB_ERR_TIMEOUT);
    CHECK(stub.now_ns == 700);
    CHECK(wb_word_load(&in->waiting, WB_SEQ_CST) == 0 &&
          wb_word_load(&out->waiting, WB_SEQ_CST) == 0);
}

TEST(a_timeout_that_passes_the_end_of_time_is_for_ever)
{
    setup();
    stub.now_ns = 500;
    stub.on_block = NULL;
    CHECK(wb_port_send(out, &message, UINT64_MAX - 1) == WB_OK);
}

static void send_one(uint64_t until_ns)
{
    (void)until_ns;
    CHECK(wb_word_load(&in->waiting, WB_SEQ_CST) == 1);
    stub_become(0, sender);
    CHECK(wb_port_send(out, &(uint32_t){ 42 }, 0) == WB_OK);
    stub_become(1, receiver);
}

TEST(a_blocked_receiver_takes_what_comes_meanwhile)
{
    setup();
    stub_become(1, receiver);
    stub.on_block = send_one;
    CHECK(wb_port_receive(in, &message, WB_FOREVER) == WB_OK);
    CHECK(message == 42 && stub.blocks == 1);
    CHECK(wb_word_load(&in->waiting, WB_SEQ_CST) == 0);
}

static void send_at_the_last_moment(uint64_t until_ns)
{
    send_one(until_ns);
    stub.now_ns = until_ns;
}

TEST(a_message_that_comes_with_the_timeout_is_not_lost)
{
    setup();
    stub_become(1, receiver);
    stub.on_block = send_at_the_last_moment;
    CHECK(wb_port_receive(in, &message, 100) == WB_OK && message == 42);
}

static int early;

static void wake_without_reason(uint64_t until_ns)
{
    if (--early == 0)
        stub.now_ns = until_ns;
}

TEST(a_block_that_returns_early_is_blocked_again)
{
    setup();
    early = 5;
    stub.on_block = wake_without_reason;
    CHECK(wb_port_receive(in, &message, 100) == WB_ERR_TIMEOUT);
    CHECK(stub.blocks == 5 && stub.now_ns == 100);
}

// ---- Waiting for a task of the same core --------------------------------------------------------

// The receiver runs on core 0, where the sender is as well, and does not run.
static void setup_neighbours(void)
{
    stub_system(2);
    sender = stub_task("sender", 0);
    receiver = stub_task("receiver", 0);
    channel = stub_channel("c", 1, sizeof message, false);
    out = build_port(sender, channel, WB_OUT);
    in = build_port(receiver, channel, WB_IN);
    stub_start(stub.system);
    stub_run(receiver);
    stub.rings[0] = stub.unblocks = 0;
}

static void send_as_neighbour(void)
{
    stub_become(0, sender);
    CHECK(wb_port_send(out, &(uint32_t){ 42 }, 0) == WB_OK);
    stub_become(0, receiver);
}

// Kernels that preempt let the sender run between the attempt and the block.
TEST(what_a_neighbour_sends_just_before_the_block_is_taken_without_one)
{
    setup_neighbours();
    stub.on_spin = send_as_neighbour;
    CHECK(wb_port_receive(in, &message, WB_FOREVER) == WB_OK && message == 42);
    CHECK(stub.blocks == 0 && wb_word_load(&in->waiting, WB_SEQ_CST) == 0);
}

static void send_while_blocked(uint64_t until_ns)
{
    (void)until_ns;
    CHECK(wb_word_load(&in->waiting, WB_SEQ_CST) == 1);
    send_as_neighbour();
    CHECK(stub.unblocked == receiver && stub.rings[0] == 0);
}

TEST(a_neighbour_wakes_who_waits_without_a_note)
{
    setup_neighbours();
    stub.on_block = send_while_blocked;
    CHECK(wb_port_receive(in, &message, WB_FOREVER) == WB_OK && message == 42);
    CHECK(stub.blocks == 1 && stub.unblocks == 1);
    CHECK(wb_word_load(&in->waiting, WB_SEQ_CST) == 0);
}

static void move_away_and_send(uint64_t until_ns)
{
    (void)until_ns;
    wb_word_store(&receiver->owner_state, wb_owner_state(WB_TASK_BLOCKED, 0), WB_SEQ_CST);
    wb_word_store(&sender->owner_state, wb_owner_state(WB_TASK_RUNNING, 1), WB_SEQ_CST);
    stub_become(1, sender);
    CHECK(wb_port_send(out, &(uint32_t){ 42 }, 0) == WB_OK);
    CHECK(stub.rings[0] == 1 && stub.unblocks == 0);
    CHECK(stub_serve(0) == 1 && stub.unblocked == receiver);
    stub_become(0, receiver);
}

TEST(a_neighbour_that_has_moved_away_wakes_who_waits_by_a_note)
{
    setup_neighbours();
    stub.on_block = move_away_and_send;
    CHECK(wb_port_receive(in, &message, WB_FOREVER) == WB_OK && message == 42);
    CHECK(stub.blocks == 1);
}

// ---- Waking -------------------------------------------------------------------------------------

TEST(nobody_is_rung_while_nobody_waits)
{
    setup();
    stub.rings[0] = stub.rings[1] = 0;
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    stub_become(1, receiver);
    CHECK(wb_port_receive(in, &message, 0) == WB_OK);
    CHECK(stub.rings[0] == 0 && stub.rings[1] == 0 && stub.unblocks == 0);
}

TEST(a_waiting_receiver_is_woken_once_on_its_core)
{
    setup();
    stub.rings[1] = 0;
    wb_word_init(&in->waiting, 1);
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    CHECK(wb_word_load(&in->waiting, WB_SEQ_CST) == 0 && stub.rings[1] == 1 && stub.unblocks == 0);
    CHECK(stub_serve(1) == 1 && stub.unblocked == receiver);
}

TEST(a_waiting_sender_is_woken_by_a_release)
{
    setup();
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    wb_word_init(&out->waiting, 1);
    stub_become(1, receiver);
    CHECK(wb_port_receive(in, &message, 0) == WB_OK);
    CHECK(stub_serve(0) == 1 && stub.unblocked == sender);
}

TEST(a_task_of_the_same_core_is_woken_without_a_note)
{
    setup();
    struct wb_task *neighbour = stub_task("neighbour", 0);
    struct wb_channel *near = stub_channel("near", 1, 4, false);
    struct wb_port *to = build_port(sender, near, WB_OUT), *at = build_port(neighbour, near, WB_IN);

    stub_start(stub.system);
    stub_become(0, sender);
    stub.rings[0] = stub.unblocks = 0;
    wb_word_init(&at->waiting, 1);
    CHECK(wb_port_send(to, &message, 0) == WB_OK);
    CHECK(stub.unblocks == 1 && stub.unblocked == neighbour && stub.rings[0] == 0);
}

// ---- Closing ------------------------------------------------------------------------------------

TEST(a_receiver_drains_a_closed_channel_before_it_sees_the_end)
{
    setup();
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    wb_port_close(out);
    CHECK(wb_port_receive(in, &message, WB_FOREVER) == WB_OK);
    CHECK(wb_port_receive(in, &message, WB_FOREVER) == WB_ERR_GONE);
    CHECK(stub.blocks == 0);
}

TEST(a_sender_is_told_that_the_receiver_is_over)
{
    void *slot;

    setup();
    wb_port_close(in);
    CHECK(wb_port_send(out, &message, WB_FOREVER) == WB_ERR_GONE);
    CHECK(wb_port_claim(out, &slot, WB_FOREVER) == WB_ERR_GONE);
}

TEST(closing_wakes_who_waits_for_the_other_side)
{
    setup();
    wb_word_init(&in->waiting, 1);
    wb_port_close(out);
    CHECK(stub_serve(1) == 1 && stub.unblocked == receiver);
    wb_word_init(&out->waiting, 1);
    stub_become(1, receiver);
    wb_port_close(in);
    CHECK(stub_serve(0) == 1 && stub.unblocked == sender);
}

static void close_sender(uint64_t until_ns)
{
    (void)until_ns;
    wb_port_close(out);
}

TEST(a_blocked_receiver_sees_the_end)
{
    setup();
    stub.on_block = close_sender;
    CHECK(wb_port_receive(in, &message, WB_FOREVER) == WB_ERR_GONE);
    CHECK(stub.blocks == 1);
}

TEST(claimed_slots_of_a_closed_port_are_given_up)
{
    void *slot;

    setup();
    CHECK(wb_port_claim(out, &slot, 0) == WB_OK);
    wb_port_close(out);
    CHECK(wb_port_commit(out) == WB_ERR_INVAL);
    CHECK(wb_port_receive(in, &message, 0) == WB_ERR_GONE);
}

TEST(a_closed_port_refuses_everything_and_closing_twice_is_harmless)
{
    setup();
    wb_port_close(out);
    wb_port_close(out);
    CHECK(wb_port_send(out, &message, 0) == WB_ERR_GONE);
    wb_port_close(in);
    wb_port_close(in);
    CHECK(wb_port_receive(in, &message, 0) == WB_ERR_GONE);
    CHECK(wb_port_release(in) == WB_ERR_INVAL);
}

TEST(a_channel_without_another_end_is_gone_at_once)
{
    setup();
    struct wb_port *alone = build_port(sender, stub_channel("lonely", 4, 4, false), WB_OUT);
    struct wb_port *dry = build_port(receiver, stub_channel("dry", 4, 4, false), WB_IN);

    CHECK(wb_port_send(alone, &message, WB_FOREVER) == WB_ERR_GONE);
    CHECK(wb_port_receive(dry, &message, WB_FOREVER) == WB_ERR_GONE);
}

TEST(a_task_that_ends_closes_all_its_ports)
{
    setup();
    stub_run(sender);
    stub_pause(WB_TASK_ENDED);
    CHECK(wb_port_receive(in, &message, WB_FOREVER) == WB_ERR_GONE);
}

TEST(what_copies_cost_is_charged_by_the_byte)
{
    setup();
    CHECK(wb_port_send(out, &message, 0) == WB_OK && wb_port_receive(in, &message, 0) == WB_OK);
    CHECK(stub.charged[WB_ACTION_SEND] == 4 && stub.charged[WB_ACTION_RECEIVE] == 4);
    CHECK(stub.charged[WB_ACTION_CLAIM] == 1 && stub.charged[WB_ACTION_RELEASE] == 1);
}
