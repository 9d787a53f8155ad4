// SPDX-License-Identifier: Apache-2.0
// Unit tests of mailboxes. Never blocking; see test_port.c for waits.
// with: check.c build.c kernel_stub.c
#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

enum { SENDERS = 3, LAPS = 1 << 17, LAP_SHIFT = 15 };

static struct wb_channel *mailbox;
static struct wb_port *out[SENDERS], *in;

static void setup(uint32_t slots)
{
    static const char *const names[SENDERS] = { "a", "b", "c" };

    stub_system(2);
    mailbox = stub_channel("m", slots, sizeof(uint32_t), true);
    for (int i = 0; i < SENDERS; i++)
        out[i] = build_port(stub_task(names[i], 0), mailbox, WB_OUT);
    in = build_port(stub_task("receiver", 1), mailbox, WB_IN);
    stub_start(stub.system);
    stub_become(0, out[0]->task);
}

static enum wb_status put(int sender, uint32_t value)
{
    return wb_port_send(out[sender], &value, 0);
}

static bool get(uint32_t expected)
{
    uint32_t value;
    return wb_port_receive(in, &value, 0) == WB_OK && value == expected;
}

static bool is_empty(void)
{
    uint32_t value;
    return wb_port_receive(in, &value, 0) == WB_ERR_EMPTY;
}

static uint32_t *claim(struct wb_port *port)
{
    void *slot;
    CHECK(wb_port_claim(port, &slot, 0) == WB_OK);
    return slot;
}

static const uint32_t sizes[] = { 1, 2, 3, 14 };
enum { SIZES = sizeof sizes / sizeof sizes[0] };

TEST(a_full_mailbox_refuses_every_sender_and_keeps_its_order)
{
    for (int s = 0; s < SIZES; s++) {
        setup(sizes[s]);
        for (uint32_t i = 0; i < sizes[s]; i++)
            CHECK(put((int)(i % SENDERS), i) == WB_OK);
        for (int sender = 0; sender < SENDERS; sender++)
            CHECK(put(sender, 99) == WB_ERR_FULL);
        CHECK(wb_channel_depth(mailbox) == sizes[s]);
        for (uint32_t i = 0; i < sizes[s]; i++)
            CHECK(get(i));
        CHECK(is_empty() && wb_channel_depth(mailbox) == 0);
    }
}

TEST(it_goes_round_at_every_fill_level)
{
    for (int s = 0; s < SIZES; s++)
        for (uint32_t fill = 1; fill <= sizes[s]; fill++) {
            setup(sizes[s]);
            uint32_t sent = 0, received = 0;
            for (int round = 0; round < 50; round++) {
                for (; sent - received < fill; sent++)
                    CHECK(put((int)(sent % SENDERS), sent) == WB_OK);
                CHECK(get(received++));
            }
        }
}

TEST(laps_may_wrap)
{
    for (int s = 0; s < SIZES; s++) {
        setup(sizes[s]);
        const uint32_t last_lap = LAPS - 1;
        wb_word_store(&mailbox->tail, last_lap * sizes[s], WB_SEQ_CST);
        wb_word_store(&mailbox->head, last_lap * sizes[s], WB_SEQ_CST);
        in->committed = in->claimed = last_lap * sizes[s];
        for (uint32_t i = 0; i < sizes[s]; i++)
            wb_word_store(&mailbox->tickets[i], last_lap << LAP_SHIFT, WB_SEQ_CST);
        for (uint32_t i = 0; i < 4 * sizes[s]; i++) {
            CHECK(put((int)(i % SENDERS), i) == WB_OK);
            CHECK(wb_channel_depth(mailbox) == 1);
            CHECK(get(i));
        }
        CHECK(wb_word_load(&mailbox->tail, WB_SEQ_CST) == 3 * sizes[s]);
        CHECK(wb_word_load(&in->high, WB_SEQ_CST) == 1);
    }
}

TEST(the_largest_mailbox_wraps_at_the_end_of_32_bits)
{
    const uint32_t slots = 1 << 10;  // any more would not fit the memory of the test

    setup(slots);
    const uint32_t end = slots * LAPS;
    wb_word_store(&mailbox->tail, end - 1, WB_SEQ_CST);
    wb_word_store(&mailbox->head, end - 1, WB_SEQ_CST);
    in->committed = in->claimed = end - 1;
    wb_word_store(&mailbox->tickets[slots - 1], (uint32_t)(LAPS - 1) << LAP_SHIFT, WB_SEQ_CST);
    CHECK(put(0, 1) == WB_OK && put(1, 2) == WB_OK);
    CHECK(wb_channel_depth(mailbox) == 2);
    CHECK(get(1) && get(2) && is_empty());
    CHECK(wb_word_load(&in->high, WB_SEQ_CST) == 2);
}

// ---- Claims -------------------------------------------------------------------------------------

TEST(messages_come_in_the_order_of_the_claims)
{
    setup(4);
    uint32_t *first = claim(out[0]), *second = claim(out[1]);
    *second = 2;
    CHECK(wb_port_commit(out[1]) == WB_OK);
    CHECK(is_empty());
    *first = 1;
    CHECK(wb_port_commit(out[0]) == WB_OK);
    CHECK(get(1) && get(2));
}

TEST(a_sender_commits_its_own_claims_in_order)
{
    setup(6);
    for (uint32_t i = 0; i < 3; i++) {
        *claim(out[0]) = i;
        *claim(out[1]) = 10 + i;
    }
    for (int i = 0; i < 3; i++)
        CHECK(wb_port_commit(out[1]) == WB_OK);
    CHECK(wb_port_commit(out[1]) == WB_ERR_INVAL);
    for (int i = 0; i < 3; i++)
        CHECK(wb_port_commit(out[0]) == WB_OK);
    CHECK(wb_port_commit(out[0]) == WB_ERR_INVAL);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(get(i) && get(10 + i));
}

TEST(two_ports_of_one_task_do_not_mix_their_claims)
{
    setup(4);
    struct wb_port *other = build_port(out[0]->task, mailbox, WB_OUT);
    uint32_t *first = claim(out[0]), *theirs = claim(other), *second = claim(out[0]);

    *first = 1;
    *second = 3;
    CHECK(wb_port_commit(out[0]) == WB_OK && wb_port_commit(out[0]) == WB_OK);
    CHECK(wb_port_commit(out[0]) == WB_ERR_INVAL);
    CHECK(get(1) && is_empty());
    *theirs = 2;
    CHECK(wb_port_commit(other) == WB_OK);
    CHECK(get(2) && get(3));
}

TEST(a_copy_is_refused_while_slots_are_claimed)
{
    setup(4);
    claim(out[0]);
    CHECK(put(0, 1) == WB_ERR_INVAL);
    CHECK(put(1, 1) == WB_OK);
}

TEST(several_messages_can_be_held_and_are_released_in_order)
{
    const uint32_t *slot[3];

    setup(3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(put(0, i) == WB_OK);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(wb_port_hold(in, (const void **)&slot[i], 0) == WB_OK && *slot[i] == i);
    CHECK(put(1, 9) == WB_ERR_FULL);
    CHECK(wb_port_release(in) == WB_OK && put(1, 3) == WB_OK && put(1, 9) == WB_ERR_FULL);
    CHECK(*slot[1] == 1 && *slot[2] == 2);
    CHECK(wb_port_release(in) == WB_OK && wb_port_release(in) == WB_OK);
    CHECK(wb_port_release(in) == WB_ERR_INVAL);
    CHECK(get(3));
}

TEST(the_high_mark_is_the_most_that_was_ever_in_it)
{
    setup(5);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(put(0, i) == WB_OK);
    CHECK(get(0) && get(1) && get(2));
    CHECK(put(0, 3) == WB_OK && get(3));
    CHECK(wb_word_load(&in->high, WB_SEQ_CST) == 3);
    // Two more than ever before, across the end of the slots.
    for (uint32_t i = 0; i < 5; i++)
        CHECK(put(1, i) == WB_OK);
    CHECK(get(0));
    CHECK(wb_word_load(&in->high, WB_SEQ_CST) == 5);
}

// ---- Ends ---------------------------------------------------------------------------------------

TEST(a_mailbox_is_over_when_its_last_sender_is)
{
    uint32_t value;

    setup(4);
    CHECK(put(2, 1) == WB_OK);
    wb_port_close(out[0]);
    wb_port_close(out[2]);
    CHECK(get(1) && is_empty());
    CHECK(put(1, 2) == WB_OK);
    wb_port_close(out[1]);
    CHECK(get(2));
    CHECK(wb_port_receive(in, &value, WB_FOREVER) == WB_ERR_GONE);
}

TEST(senders_are_told_that_the_receiver_is_over)
{
    setup(4);
    wb_port_close(in);
    for (int sender = 0; sender < SENDERS; sender++)
        CHECK(put(sender, 0) == WB_ERR_GONE);
}

TEST(the_receiver_passes_over_what_a_closed_port_had_claimed)
{
    setup(6);
    CHECK(put(1, 1) == WB_OK);
    claim(out[0]);
    CHECK(put(1, 2) == WB_OK);
    claim(out[0]);
    claim(out[0]);
    CHECK(get(1) && is_empty());
    wb_port_close(out[0]);
    CHECK(get(2) && is_empty());
    for (uint32_t i = 0; i < 6; i++)
        CHECK(put(2, i) == WB_OK);
    CHECK(put(2, 9) == WB_ERR_FULL);
    for (uint32_t i = 0; i < 6; i++)
        CHECK(get(i));
}

TEST(a_void_slot_behind_held_ones_is_freed_with_them)
{
    const void *slot;

    setup(2);
    CHECK(put(1, 1) == WB_OK);
    claim(out[0]);
    CHECK(wb_port_hold(in, &slot, 0) == WB_OK);
    wb_port_close(out[0]);
    CHECK(wb_port_hold(in, &slot, 0) == WB_ERR_EMPTY);
    CHECK(put(1, 2) == WB_ERR_FULL);
    CHECK(wb_port_release(in) == WB_OK);
    CHECK(put(1, 2) == WB_OK && put(1, 3) == WB_OK && put(1, 4) == WB_ERR_FULL);
    CHECK(get(2) && get(3));
}

TEST(a_sender_that_waits_for_room_is_woken_when_a_void_slot_makes_some)
{
    setup(1);
    claim(out[0]);
    CHECK(put(1, 1) == WB_ERR_FULL);
    wb_word_init(&out[1]->waiting, 1);
    wb_port_close(out[0]);
    stub_become(1, in->task);
    CHECK(is_empty());
    CHECK(wb_word_load(&out[1]->waiting, WB_SEQ_CST) == 0);
    CHECK(stub_serve(0) == 1 && stub.unblocked == out[1]->task);
    CHECK(put(1, 1) == WB_OK && get(1));
}

TEST(every_waiting_sender_is_woken_by_a_release)
{
    setup(2);
    CHECK(put(0, 1) == WB_OK && put(0, 2) == WB_OK);
    wb_word_init(&out[1]->waiting, 1);
    wb_word_init(&out[2]->waiting, 1);
    stub_become(1, in->task);
    CHECK(get(1));
    CHECK(stub_serve(0) == 2);
}
