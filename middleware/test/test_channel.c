// SPDX-License-Identifier: Apache-2.0
// Unit tests of channels: slots, order, marks. Never blocking; see test_port.c for waits.
// with: check.c build.c kernel_stub.c
#include "wb/wb.h"

#include "check.h"
#include "kernel_stub.h"

static struct wb_channel *channel;
static struct wb_port *out, *in;

static void setup(uint32_t slots)
{
    stub_system(2);
    struct wb_task *sender = stub_task("sender", 0), *receiver = stub_task("receiver", 1);

    channel = stub_channel("c", slots, sizeof(uint32_t), false);
    out = build_port(sender, channel, WB_OUT);
    in = build_port(receiver, channel, WB_IN);
    stub_start(stub.system);
    stub_become(0, sender);
}

static enum wb_status put(uint32_t value)
{
    return wb_port_send(out, &value, 0);
}

static bool get(uint32_t expected)
{
    uint32_t value;
    return wb_port_receive(in, &value, 0) == WB_OK && value == expected;
}

static const uint32_t sizes[] = { 1, 2, 3, 14, 100 };
enum { SIZES = sizeof sizes / sizeof sizes[0] };

TEST(a_full_channel_refuses_and_keeps_its_order)
{
    for (int s = 0; s < SIZES; s++) {
        setup(sizes[s]);
        for (uint32_t i = 0; i < sizes[s]; i++)
            CHECK(put(i) == WB_OK);
        CHECK(put(99) == WB_ERR_FULL);
        CHECK(wb_channel_depth(channel) == sizes[s]);
        for (uint32_t i = 0; i < sizes[s]; i++)
            CHECK(get(i));
        CHECK(wb_channel_depth(channel) == 0);
    }
}

TEST(an_empty_channel_leaves_the_buffer_alone)
{
    uint32_t value = 77;

    setup(4);
    CHECK(wb_port_receive(in, &value, 0) == WB_ERR_EMPTY);
    CHECK(value == 77);
}

TEST(indices_may_wrap_at_every_fill_level)
{
    for (int s = 0; s < SIZES; s++)
        for (uint32_t fill = 1; fill <= sizes[s]; fill += 1 + sizes[s] / 5) {
            setup(sizes[s]);
            uint32_t sent = 0, received = 0;
            for (int round = 0; round < 50; round++) {
                while (sent - received < fill)
                    CHECK(put(sent++) == WB_OK);
                CHECK(get(received++));
            }
            CHECK(wb_channel_depth(channel) == fill - 1);
        }
}

TEST(claimed_slots_are_sent_in_the_order_of_the_claims)
{
    uint32_t *slot[3];

    setup(3);
    for (int i = 0; i < 3; i++)
        CHECK(wb_port_claim(out, (void **)&slot[i], 0) == WB_OK);
    CHECK(slot[0] != slot[1] && slot[1] != slot[2] && slot[0] != slot[2]);
    for (uint32_t i = 3; i-- > 0;)
        *slot[i] = i;
    CHECK(!get(0));
    for (uint32_t i = 0; i < 3; i++) {
        CHECK(wb_port_commit(out) == WB_OK);
        CHECK(wb_channel_depth(channel) == 1);
        CHECK(get(i));
    }
    CHECK(wb_port_commit(out) == WB_ERR_INVAL);
}

TEST(held_slots_stay_until_they_are_released_in_order)
{
    const uint32_t *slot[3];

    setup(3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(put(i) == WB_OK);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(wb_port_hold(in, (const void **)&slot[i], 0) == WB_OK && *slot[i] == i);
    const void *more = in;
    CHECK(wb_port_hold(in, &more, 0) == WB_ERR_EMPTY && more == in);
    CHECK(put(9) == WB_ERR_FULL);
    CHECK(wb_port_release(in) == WB_OK);
    CHECK(put(3) == WB_OK && put(9) == WB_ERR_FULL);
    CHECK(*slot[1] == 1 && *slot[2] == 2);
    CHECK(wb_port_release(in) == WB_OK && wb_port_release(in) == WB_OK);
    CHECK(wb_port_release(in) == WB_ERR_INVAL);
    CHECK(get(3));
}

TEST(claiming_stops_at_the_last_slot)
{
    void *slot;

    setup(2);
    CHECK(wb_port_claim(out, &slot, 0) == WB_OK && wb_port_claim(out, &slot, 0) == WB_OK);
    CHECK(wb_port_claim(out, &slot, 0) == WB_ERR_FULL);
    CHECK(wb_port_commit(out) == WB_OK);
    CHECK(wb_port_claim(out, &slot, 0) == WB_ERR_FULL);
    CHECK(wb_port_commit(out) == WB_OK);
}

TEST(copies_are_refused_while_slots_are_out)
{
    uint32_t value = 1;
    void *slot;
    const void *message;

    setup(4);
    CHECK(put(0) == WB_OK);
    CHECK(wb_port_claim(out, &slot, 0) == WB_OK);
    CHECK(put(1) == WB_ERR_INVAL);
    CHECK(wb_port_hold(in, &message, 0) == WB_OK);
    CHECK(wb_port_receive(in, &value, 0) == WB_ERR_INVAL && value == 1);
}

TEST(a_port_works_in_its_direction_only)
{
    uint32_t value = 0;
    void *slot = &value;
    const void *message = &value;

    setup(4);
    CHECK(wb_port_send(in, &value, 0) == WB_ERR_INVAL);
    CHECK(wb_port_claim(in, &slot, 0) == WB_ERR_INVAL && slot == &value);
    CHECK(wb_port_commit(in) == WB_ERR_INVAL);
    CHECK(wb_port_receive(out, &value, 0) == WB_ERR_INVAL);
    CHECK(wb_port_hold(out, &message, 0) == WB_ERR_INVAL && message == &value);
    CHECK(wb_port_release(out) == WB_ERR_INVAL);
}

TEST(slots_are_aligned_to_a_line_and_as_large_as_asked)
{
    setup(3);
    CHECK(wb_port_slot_bytes(out) == 4 && wb_port_slot_bytes(in) == 4);
    for (int i = 0; i < 3; i++) {
        void *slot;
        CHECK(wb_port_claim(out, &slot, 0) == WB_OK && (uintptr_t)slot % WB_LINE_BYTES == 0);
    }
}

TEST(messages_are_counted_on_both_sides)
{
    setup(4);
    CHECK(put(0) == WB_OK && put(1) == WB_OK && get(0));
    CHECK(wb_port_messages(out) == 2 && wb_port_messages(in) == 1);
}

TEST(initial_messages_are_zeroed_and_come_first)
{
    struct wb_channel *loop;

    setup(4);
    CHECK(wb_channel_add(stub.system,
                         &(struct wb_channel_config){
                             .name = "loop", .slots = 3, .slot_bytes = 4, .initial = 2 },
                         &loop) == WB_OK);
    out = build_port(out->task, loop, WB_OUT);
    in = build_port(in->task, loop, WB_IN);
    CHECK(wb_channel_depth(loop) == 2);
    CHECK(put(5) == WB_OK && put(6) == WB_ERR_FULL);
    CHECK(get(0) && get(0) && get(5));
}

// ---- Marks --------------------------------------------------------------------------------------

static bool high_is(uint32_t depth)
{
    return wb_word_load(&channel->receiver->high, WB_SEQ_CST) == depth;
}

static bool low_is(uint32_t depth)
{
    return wb_word_load(&channel->receiver->low, WB_SEQ_CST) == depth;
}

TEST(the_high_mark_is_the_most_that_was_ever_in_it)
{
    setup(5);
    CHECK(high_is(0));
    CHECK(put(0) == WB_OK && put(1) == WB_OK && put(2) == WB_OK);
    CHECK(get(0) && high_is(3));
    CHECK(get(1) && get(2) && high_is(3));
    for (uint32_t i = 3; i < 20; i++)
        CHECK(put(i) == WB_OK && get(i) && high_is(3));
    for (uint32_t i = 0; i < 4; i++)
        CHECK(put(i) == WB_OK);
    CHECK(get(0) && high_is(4));
}

TEST(claims_do_not_raise_the_high_mark)
{
    void *slot;

    setup(5);
    for (int i = 0; i < 3; i++)
        CHECK(wb_port_claim(out, &slot, 0) == WB_OK);
    *(uint32_t *)slot = 0;
    CHECK(high_is(0));
    CHECK(wb_port_commit(out) == WB_OK);
    CHECK(get(0) && high_is(1));
}

TEST(the_low_mark_is_the_fewest_left_behind_since_it_was_full)
{
    setup(3);
    CHECK(put(0) == WB_OK && get(0) && put(1) == WB_OK && get(1));
    CHECK(low_is(4));  // it was never full
    for (uint32_t i = 2; i < 5; i++)
        CHECK(put(i) == WB_OK);
    CHECK(get(2) && low_is(2));
    CHECK(put(5) == WB_OK && get(3) && low_is(2));
    CHECK(get(4) && low_is(1));
    CHECK(get(5) && low_is(0));
    CHECK(put(6) == WB_OK && put(7) == WB_OK && get(6) && low_is(0));
}

TEST(marks_hold_over_the_wrap_for_any_number_of_slots)
{
    for (int s = 0; s < SIZES; s++) {
        setup(sizes[s]);
        for (uint32_t i = 0; i < sizes[s]; i++)
            CHECK(put(i) == WB_OK);
        for (uint32_t i = 0; i < 5 * sizes[s]; i++)
            CHECK(get(i) && put(i + sizes[s]) == WB_OK);
        CHECK(high_is(sizes[s]) && low_is(sizes[s] - 1));
    }
}
