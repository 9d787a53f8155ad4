// SPDX-License-Identifier: Apache-2.0
// What an adaptive receiver expects: the arithmetic of RFC 6298, exact in integers.
// with: check.c build.c kernel_stub.c

#include "../src/channel/guess.h"
#include "check.h"

TEST(a_time_that_is_always_the_same_is_expected_exactly)
{
    struct wb_guess guess = { 0 };

    for (int i = 0; i < 200; i++)
        guess_learn(&guess, 1234567);
    CHECK(guess_mean(&guess) == 1234567 && guess_spread(&guess) == 0);
}

TEST(the_first_time_is_expected_and_half_of_it_is_how_far_that_may_be_off)
{
    struct wb_guess guess = { 0 };

    guess_learn(&guess, 1000);
    CHECK(guess_mean(&guess) == 1000 && guess_spread(&guess) == 500);
    // R' of the RFC: 7/8 of 1000 and an eighth of 1800; 3/4 of 500 and a quarter of 800.
    guess_learn(&guess, 1800);
    CHECK(guess_mean(&guess) == 1100 && guess_spread(&guess) == 575);
}

TEST(a_new_rhythm_is_learned_to_the_nanosecond)
{
    struct wb_guess guess = { 0 };

    for (int i = 0; i < 100; i++)
        guess_learn(&guess, 20000000);
    for (int i = 0; i < 300; i++)
        guess_learn(&guess, 5000001);
    CHECK(guess_mean(&guess) == 5000001 && guess_spread(&guess) == 0);
}

TEST(the_spread_is_the_mean_deviation_of_what_comes)
{
    struct wb_guess guess = { 0 };

    for (int i = 0; i < 1000; i++)
        guess_learn(&guess, i % 2 != 0 ? 900 : 1100);
    CHECK(guess_mean(&guess) >= 980 && guess_mean(&guess) <= 1020);
    CHECK(guess_spread(&guess) >= 90 && guess_spread(&guess) <= 110);
}

TEST(no_time_is_too_long_and_none_too_short)
{
    struct wb_guess guess = { 0 };

    guess_learn(&guess, 0);
    CHECK(guess_mean(&guess) == 0 && guess_spread(&guess) == 0);
    for (int i = 0; i < 500; i++)
        guess_learn(&guess, UINT64_MAX >> 8);
    CHECK(guess_mean(&guess) == UINT64_MAX >> 8);
}

TEST(a_look_is_two_deviations_later_and_never_more_than_half_of_the_bound)
{
    CHECK(guess_margin(0, 3200) == 100);
    CHECK(guess_margin(50, 3200) == 200);
    CHECK(guess_margin(100000, 3200) == 1600);
    CHECK(guess_margin(0, 0) == 0);
}
