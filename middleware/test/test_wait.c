// SPDX-License-Identifier: Apache-2.0
// Unit tests of waiting for a set: what is ready, in which order, and who is woken.
// with: check.c build.c kernel_stub.c
#include "wb/wb.h"

#include "check.h"
#include "kernel_stub.h"

// `waiter` and `other` on core 0, `peer` on core 1.
static struct wb_task *waiter, *other, *peer;
static struct wb_channel *in_channel, *out_channel;
static struct wb_port *in, *out, *sender, *receiver;
static struct wb_semaphore semaphore, second;
static uint32_t message = 7;

static void setup_with(bool mailboxes)
{
    stub_system(2);
    waiter = stub_task("waiter", 0);
    other = stub_task("other", 0);
    peer = stub_task("peer", 1);
    in_channel = stub_channel("in", 2, sizeof message, mailboxes);
    out_channel = stub_channel("out", 1, sizeof message, mailboxes);
    in = build_port(waiter, in_channel, WB_IN);
    out = build_port(waiter, out_channel, WB_OUT);
    sender = build_port(peer, in_channel, WB_OUT);
    receiver = build_port(peer, out_channel, WB_IN);
    CHECK(wb_semaphore_init(&semaphore, 0, 2) == WB_OK);
    CHECK(wb_semaphore_init(&second, 0, 2) == WB_OK);
    stub_start(stub.system);
    stub_run(waiter);
}

static void setup(void)
{
    setup_with(false);
}

static void as_peer(void)
{
    stub_become(1, peer);
}

static void as_waiter(void)
{
    stub_become(0, waiter);
}

static void peer_sends(void)
{
    as_peer();
    CHECK(wb_port_send(sender, &message, 0) == WB_OK);
    as_waiter();
}

static void peer_gives(void)
{
    as_peer();
    CHECK(wb_semaphore_give(&semaphore) == WB_OK);
    as_waiter();
}

// ---- What is ready ------------------------------------------------------------------------------

TEST(a_set_has_one_of_either_and_only_ports_of_the_task)
{
    setup();
    CHECK(wb_wait(&(struct wb_wait){ 0 }, 1, 0) == WB_ERR_INVAL);
    CHECK(wb_wait(&(struct wb_wait){ .port = in, .semaphore = &semaphore }, 1, 0) == WB_ERR_INVAL);
    CHECK(wb_wait(&(struct wb_wait){ .port = sender }, 1, 0) == WB_ERR_INVAL);
    CHECK(wb_wait(&(struct wb_wait){ .port = in }, 1, 0) == WB_ERR_EMPTY);
}

TEST(a_set_of_nothing_lets_the_time_pass)
{
    setup();
    stub.now_ns = 5;
    CHECK(wb_wait(NULL, 0, 0) == WB_ERR_EMPTY && stub.blocks == 0);
    CHECK(wb_wait(NULL, 0, 100) == WB_ERR_TIMEOUT && stub.now_ns == 105);
}

static void messages_and_permits(bool mailboxes)
{
    struct wb_wait set[3];

    setup_with(mailboxes);
    set[0] = (struct wb_wait){ .semaphore = &semaphore };
    set[1] = (struct wb_wait){ .port = in };
    set[2] = (struct wb_wait){ .port = out };
    CHECK(wb_wait(set, 3, 0) == 2 && !set[0].ready && !set[1].ready && set[2].ready);
    peer_sends();
    CHECK(wb_wait(set, 3, 0) == 1 && !set[0].ready && set[1].ready && set[2].ready);
    peer_gives();
    CHECK(wb_wait(set, 3, 0) == 0 && set[0].ready && set[1].ready && set[2].ready);
    // It has taken nothing.
    CHECK(wb_semaphore_take(&semaphore, 0) == WB_OK);
    CHECK(wb_port_receive(in, &message, 0) == WB_OK && message == 7);
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    CHECK(wb_wait(set, 3, 0) == WB_ERR_EMPTY && !set[0].ready && !set[1].ready && !set[2].ready);
    CHECK(stub.blocks == 0 && stub.spins == 0);
}

TEST(the_first_of_those_that_are_ready_is_told_and_nothing_is_taken)
{
    messages_and_permits(false);
    messages_and_permits(true);
}

static void with_one_in_hand(bool mailboxes)
{
    struct wb_wait set[1];
    const void *slot;

    setup_with(mailboxes);
    set[0] = (struct wb_wait){ .port = in };
    message = 1;
    peer_sends();
    CHECK(wb_port_hold(in, &slot, 0) == WB_OK);
    CHECK(wb_wait(set, 1, 0) == WB_ERR_EMPTY);
    message = 2;
    peer_sends();
    CHECK(wb_wait(set, 1, 0) == 0 && wb_wait(set, 1, 0) == 0);
    CHECK(*(const uint32_t *)slot == 1);
    CHECK(wb_port_hold(in, &slot, 0) == WB_OK && *(const uint32_t *)slot == 2);
    CHECK(wb_port_release(in) == WB_OK && wb_port_release(in) == WB_OK);
    CHECK(wb_port_release(in) == WB_ERR_INVAL);
    message = 7;
}

TEST(messages_in_hand_stay_there_and_the_next_one_counts)
{
    with_one_in_hand(false);
    with_one_in_hand(true);
}

TEST(a_claimed_slot_is_no_room)
{
    struct wb_wait set[1];
    void *slot;

    setup();
    set[0] = (struct wb_wait){ .port = out };
    CHECK(wb_port_claim(out, &slot, 0) == WB_OK);
    CHECK(wb_wait(set, 1, 0) == WB_ERR_EMPTY);
    CHECK(wb_port_commit(out) == WB_OK);
    CHECK(wb_port_commit(out) == WB_ERR_INVAL);
}

static void closed_and_gone(bool mailboxes)
{
    struct wb_wait set[2];

    setup_with(mailboxes);
    set[0] = (struct wb_wait){ .port = in };
    set[1] = (struct wb_wait){ .port = out };
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    CHECK(wb_wait(set, 2, 0) == WB_ERR_EMPTY);
    as_peer();
    wb_port_close(receiver);
    as_waiter();
    CHECK(wb_wait(set, 2, 0) == 1 && !set[0].ready);
    CHECK(wb_port_send(out, &message, 0) == WB_ERR_GONE);
    as_peer();
    wb_port_close(sender);
    as_waiter();
    CHECK(wb_wait(set, 2, 0) == 0);
    CHECK(wb_port_receive(in, &message, 0) == WB_ERR_GONE);
    wb_port_close(in);
    CHECK(wb_wait(set, 1, 0) == 0);
}

TEST(what_is_over_is_ready_so_that_its_call_can_say_so)
{
    closed_and_gone(false);
    closed_and_gone(true);
}

TEST(what_a_killed_sender_left_is_no_message_and_hides_none)
{
    struct wb_wait set[1];
    void *slot;

    setup_with(true);
    struct wb_port *another = build_port(other, in_channel, WB_OUT);
    set[0] = (struct wb_wait){ .port = in };
    stub_run(peer);
    CHECK(wb_port_claim(sender, &slot, 0) == WB_OK);
    stub_leave();
    CHECK(wb_core_died(stub.system, 1) == 1);
    as_waiter();
    CHECK(wb_wait(set, 1, 0) == WB_ERR_EMPTY);
    stub_become(0, other);
    CHECK(wb_port_send(another, &message, 0) == WB_OK);
    as_waiter();
    CHECK(wb_wait(set, 1, 0) == 0 && wb_wait(set, 1, 0) == 0);
    CHECK(wb_port_receive(in, &message, 0) == WB_OK && message == 7);
    CHECK(wb_wait(set, 1, 0) == WB_ERR_EMPTY);
}

// ---- Waiting ------------------------------------------------------------------------------------

static bool waits_nowhere(void)
{
    return wb_word_load(&in->waiting, WB_SEQ_CST) == 0 &&
           wb_word_load(&out->waiting, WB_SEQ_CST) == 0 &&
           wb_word_load(&waiter->sync.waits_for, WB_SEQ_CST) == NULL;
}

TEST(a_wait_in_vain_times_out_and_waits_nowhere)
{
    struct wb_wait set[2];

    setup();
    set[0] = (struct wb_wait){ .port = in };
    set[1] = (struct wb_wait){ .semaphore = &semaphore };
    stub.now_ns = 7;
    CHECK(wb_wait(set, 2, 100) == WB_ERR_TIMEOUT);
    CHECK(stub.now_ns == 107 && stub.blocks == 1 && stub.spins > 0 && waits_nowhere());
}

static struct wb_wait several[4];

static int wait_for_several(uint64_t timeout_ns)
{
    several[0] = (struct wb_wait){ .semaphore = &second };
    several[1] = (struct wb_wait){ .port = in };
    several[2] = (struct wb_wait){ .semaphore = &semaphore };
    several[3] = (struct wb_wait){ .port = out };
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    return wb_wait(several, 4, timeout_ns);
}

static void block_and_give(uint64_t until_ns)
{
    (void)until_ns;
    peer_gives();
    CHECK(stub_serve(0) == 1 && stub.unblocked == waiter);
}

static void block_and_send(uint64_t until_ns)
{
    (void)until_ns;
    peer_sends();
    CHECK(stub_serve(0) == 1 && stub.unblocked == waiter);
}

static void block_and_make_room(uint64_t until_ns)
{
    (void)until_ns;
    as_peer();
    CHECK(wb_port_receive(receiver, &message, 0) == WB_OK);
    as_waiter();
    CHECK(stub_serve(0) == 1 && stub.unblocked == waiter);
}

TEST(whatever_comes_first_wakes_the_task)
{
    setup();
    stub.on_block = block_and_give;
    CHECK(wait_for_several(WB_FOREVER) == 2 && waits_nowhere() && stub.blocks == 1);
    setup();
    stub.on_block = block_and_send;
    CHECK(wait_for_several(WB_FOREVER) == 1 && waits_nowhere() && stub.blocks == 1);
    setup();
    stub.on_block = block_and_make_room;
    CHECK(wait_for_several(WB_FOREVER) == 3 && waits_nowhere() && stub.blocks == 1);
}

static void give_at_the_last_moment(uint64_t until_ns)
{
    stub.now_ns = until_ns;
    peer_gives();
}

TEST(what_comes_with_the_timeout_is_told)
{
    setup();
    stub.on_block = give_at_the_last_moment;
    CHECK(wait_for_several(100) == 2 && stub.now_ns == 100);
}

static void wake_for_nothing(uint64_t until_ns)
{
    (void)until_ns;
    if (stub.blocks == 3)
        peer_sends();
}

TEST(a_task_that_is_woken_for_nothing_waits_on)
{
    setup();
    stub.on_block = wake_for_nothing;
    CHECK(wait_for_several(WB_FOREVER) == 1 && stub.blocks == 3 && waits_nowhere());
}

static void give_at_the_first_turn(void)
{
    if (stub.spins == 1)
        peer_gives();
}

TEST(what_comes_just_before_it_would_block_is_told)
{
    setup();
    stub.on_spin = give_at_the_first_turn;
    CHECK(wait_for_several(WB_FOREVER) == 2 && stub.blocks == 0 && waits_nowhere());
}

// ---- Beside others at a semaphore ---------------------------------------------------------------

// `other` waits for the semaphore alone, as block() of wait_queue.c leaves it.
static void give_where_both_wait(uint64_t until_ns)
{
    (void)until_ns;
    wb_word_init(&other->sync.waits_for, &semaphore.queue);
    (void)wb_word_or(&semaphore.queue.waited, WB_WAITED_ALONE, WB_SEQ_CST);
    stub.unblocks = 0;
    peer_gives();
    CHECK(stub_serve(0) == 2 && stub.unblocks == 2);
}

TEST(who_waits_for_a_permit_is_not_passed_over_for_who_only_looks)
{
    setup();
    stub.on_block = give_where_both_wait;
    CHECK(wait_for_several(WB_FOREVER) == 2);
    CHECK(wb_word_load(&other->sync.waits_for, WB_SEQ_CST) == NULL);
}

static void give_another(uint64_t until_ns)
{
    struct wb_semaphore elsewhere[8];

    (void)until_ns;
    stub.unblocks = 0;
    as_peer();
    for (int i = 0; i < 8; i++) {
        CHECK(wb_semaphore_init(&elsewhere[i], 0, 1) == WB_OK);
        (void)wb_word_or(&elsewhere[i].queue.waited, WB_WAITED_IN_SET, WB_SEQ_CST);
        CHECK(wb_semaphore_give(&elsewhere[i]) == WB_OK);
    }
    as_waiter();
    stub_serve(0);
    // Two of 32 bits are its own: by chance some others have the same.
    CHECK(stub.unblocks < 8);
    block_and_give(0);
}

TEST(most_semaphores_that_are_not_in_the_set_leave_the_task_alone)
{
    setup();
    stub.on_block = give_another;
    CHECK(wait_for_several(WB_FOREVER) == 2);
}

static void look_at_inheritance(uint64_t until_ns)
{
    struct wb_mutex mutex;

    wb_mutex_init(&mutex);
    stub_become(1, peer);
    CHECK(wb_mutex_lock(&mutex, 0) == WB_OK && wb_mutex_unlock(&mutex) == WB_OK);
    CHECK(wb_sync_priority(&peer->sync) == wb_own_priority(peer));
    as_waiter();
    block_and_give(until_ns);
}

TEST(who_waits_for_a_set_lends_its_priority_to_nobody)
{
    setup();
    stub.on_block = look_at_inheritance;
    CHECK(wait_for_several(WB_FOREVER) == 2);
}

// ---- Files --------------------------------------------------------------------------------------

TEST(a_file_is_in_a_set_once_and_for_events_that_there_are)
{
    struct wb_wait set[] = { { .file = 3, .events = WB_FILE_READABLE },
                             { .file = 3, .events = WB_FILE_WRITABLE } };

    setup();
    CHECK(wb_wait(set, 2, 0) == WB_ERR_INVAL);
    set[1].file = 4;
    CHECK(wb_wait(set, 2, 0) == 0);
    set[1].events = 4;
    CHECK(wb_wait(set, 2, 0) == WB_ERR_INVAL);
    set[1].events = WB_FILE_READABLE;
    set[1].port = in;
    CHECK(wb_wait(set, 2, 0) == WB_ERR_INVAL);
}

TEST(where_there_are_no_files_and_where_they_cannot_be_watched_that_is_told)
{
    struct wb_wait set[] = { { .port = NULL }, { .file = 3, .events = WB_FILE_READABLE } };

    setup();
    set[0].port = in;
    stub.file = WB_ERR_UNABLE;
    CHECK(wb_wait(set, 2, WB_FOREVER) == WB_ERR_UNABLE);
    stub.file = WB_ERR_NOMEM;
    CHECK(wb_wait(set, 2, WB_FOREVER) == WB_ERR_NOMEM);
    CHECK(stub.blocks == 0 && waits_nowhere());
}

static void file_is_ready(uint64_t until_ns)
{
    (void)until_ns;
    CHECK(stub.watches == 1 && wb_word_load(&in->waiting, WB_SEQ_CST) == 1);
    stub.file = WB_OK;
}

TEST(a_file_wakes_the_task_beside_its_ports)
{
    struct wb_wait set[] = { { .port = NULL }, { .file = 3, .events = WB_FILE_READABLE } };

    setup();
    set[0].port = in;
    stub.file = WB_ERR_EMPTY;
    stub.on_block = file_is_ready;
    CHECK(wb_wait(set, 2, WB_FOREVER) == 1 && !set[0].ready && set[1].ready);
    CHECK(stub.blocks == 1 && waits_nowhere());
}
