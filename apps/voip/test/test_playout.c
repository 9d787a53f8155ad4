// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "../playout.h"
#include "check.h"

enum { DEPTH = 2 };

static struct playout playout;

static void put(int number)
{
    const uint8_t payload = (uint8_t)number;

    playout_put(&playout, (uint16_t)number, false, 0, &payload, 1);
}

// The number that is played in a period; -1: lost, -2: nothing.
static int take(void)
{
    const struct playout_packet *packet;
    const enum playout_next next = playout_take(&playout, &packet);

    if (next == PLAYOUT_PACKET)
        CHECK(packet->bytes == 1 && packet->payload[0] == (uint8_t)packet->number);
    return next == PLAYOUT_PACKET ? packet->number : next == PLAYOUT_LOST ? -1 : -2;
}

static void start(int number)
{
    playout_start(&playout, DEPTH);
    CHECK(take() == -2);
    put(number);
    CHECK(take() == -2 && take() == -2);
}

TEST(packets_come_in_the_order_of_their_numbers_each_in_its_period)
{
    start(65534);
    put(0);
    put(65535);
    CHECK(take() == 65534 && take() == 65535 && take() == 0);
}

TEST(what_has_not_come_in_its_period_is_lost_and_late_after_it)
{
    start(7);
    put(9);
    CHECK(take() == 7 && take() == -1);
    put(8);
    CHECK(take() == 9 && playout.lost == 1 && playout.late == 1);
}

TEST(what_comes_twice_is_played_once)
{
    start(7);
    put(8);
    put(8);
    CHECK(take() == 7 && take() == 8 && take() == -1 && playout.twice == 1);
}

TEST(a_stream_that_ends_is_over_after_ten_periods_and_may_begin_anywhere)
{
    start(7);
    CHECK(take() == 7);
    for (int i = 0; i < 10; i++)
        CHECK(take() == -1);
    CHECK(take() == -2);
    put(3);
    CHECK(take() == -2 && take() == -2 && take() == 3);
}

TEST(a_sender_that_jumps_is_followed_at_its_third_packet)
{
    start(7);
    put(1000);
    put(1001);
    CHECK(take() == 7);
    put(1002);
    put(1003);
    CHECK(take() == -2 && take() == -2 && take() == 1002 && take() == 1003);
}

TEST(a_single_stray_packet_changes_nothing)
{
    start(7);
    put(30000);
    put(8);
    put(30000);
    put(9);
    put(30000);
    put(10);
    CHECK(take() == 7 && take() == 8 && take() == 9 && take() == 10);
}

TEST(a_payload_that_is_too_long_is_none)
{
    static uint8_t payload[CODEC_PAYLOAD_BYTES + 1];

    start(7);
    playout_put(&playout, 8, false, 0, payload, sizeof payload);
    CHECK(take() == 7 && take() == -1);
}

// Of the kind of a telephone event.
static void put_soundless(int number)
{
    playout_put(&playout, (uint16_t)number, false, 0, NULL, 0);
}

TEST(packets_without_sound_are_neither_lost_nor_played)
{
    start(7);
    CHECK(take() == 7);
    for (int number = 8; number < 18; number++) {
        put_soundless(number);
        CHECK(take() == -2);
    }
    put(18);
    put(19);
    CHECK(take() == -2 && take() == -2 && take() == 18 && take() == 19);
    CHECK(playout.lost == 0 && playout.late == 0);
}

TEST(packets_without_sound_between_others_take_no_time)
{
    start(7);
    put_soundless(8);
    put(9);
    put_soundless(10);
    put(11);
    CHECK(take() == 7 && take() == 9 && take() == 11 && playout.lost == 0);
}

TEST(a_packet_that_is_lost_after_one_without_sound_is_lost)
{
    start(7);
    put_soundless(8);
    put(10);
    CHECK(take() == 7 && take() == -1 && take() == 10 && playout.lost == 1);
}

TEST(a_sender_that_pauses_has_lost_nothing_and_goes_on_where_it_was)
{
    start(7);
    CHECK(take() == 7 && take() == -1 && take() == -1);
    const uint8_t payload = 8;
    playout_put(&playout, 8, true, 0, &payload, 1);
    CHECK(take() == -2 && take() == -2 && take() == 8 && playout.lost == 0 && playout.late == 0);
    for (int i = 0; i < 100; i++)
        CHECK(take() == (i < 10 ? -1 : -2));
    put(9);
    CHECK(take() == -2 && take() == -2 && take() == 9 && playout.lost == 0);
}

TEST(what_a_network_drops_for_long_is_lost)
{
    start(7);
    CHECK(take() == 7);
    for (int i = 0; i < 20; i++)
        (void)take();
    put(28);
    CHECK(take() == -2 && take() == -2 && take() == 28 && playout.lost == 20);
}

TEST(nothing_is_lost_between_two_streams)
{
    start(7);
    CHECK(take() == 7 && take() == -1);
    playout_leave(&playout);
    CHECK(take() == -2);
    put(30);
    CHECK(take() == -2 && take() == -2 && take() == 30 && playout.lost == 0);
}
