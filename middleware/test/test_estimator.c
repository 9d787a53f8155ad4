// SPDX-License-Identifier: Apache-2.0
// What an adaptive receiver expects: the arithmetic of RFC 6298, exact in integers.
// with: check.c build.c kernel_stub.c

#include "../src/channel/estimator.h"
#include "check.h"

TEST(a_time_that_is_always_the_same_is_expected_exactly)
{
    struct wb_estimator estimator = { 0 };

    for (int i = 0; i < 200; i++)
        estimator_learn(&estimator, 1234567);
    CHECK(estimator_mean(&estimator) == 1234567 && estimator_spread(&estimator) == 0);
}

TEST(the_first_time_is_expected_and_half_of_it_is_how_far_that_may_be_off)
{
    struct wb_estimator estimator = { 0 };

    estimator_learn(&estimator, 1000);
    CHECK(estimator_mean(&estimator) == 1000 && estimator_spread(&estimator) == 500);
    // R' of the RFC: 7/8 of 1000 and an eighth of 1800; 3/4 of 500 and a quarter of 800.
    estimator_learn(&estimator, 1800);
    CHECK(estimator_mean(&estimator) == 1100 && estimator_spread(&estimator) == 575);
}

TEST(a_new_rhythm_is_learned_to_the_nanosecond)
{
    struct wb_estimator estimator = { 0 };

    for (int i = 0; i < 100; i++)
        estimator_learn(&estimator, 20000000);
    for (int i = 0; i < 300; i++)
        estimator_learn(&estimator, 5000001);
    CHECK(estimator_mean(&estimator) == 5000001 && estimator_spread(&estimator) == 0);
}

TEST(the_spread_is_the_mean_deviation_of_what_comes)
{
    struct wb_estimator estimator = { 0 };

    for (int i = 0; i < 1000; i++)
        estimator_learn(&estimator, i % 2 != 0 ? 900 : 1100);
    CHECK(estimator_mean(&estimator) >= 980 && estimator_mean(&estimator) <= 1020);
    CHECK(estimator_spread(&estimator) >= 90 && estimator_spread(&estimator) <= 110);
}

TEST(no_time_is_too_long_and_none_too_short)
{
    struct wb_estimator estimator = { 0 };

    estimator_learn(&estimator, 0);
    CHECK(estimator_mean(&estimator) == 0 && estimator_spread(&estimator) == 0);
    for (int i = 0; i < 500; i++)
        estimator_learn(&estimator, UINT64_MAX >> 8);
    CHECK(estimator_mean(&estimator) == UINT64_MAX >> 8);
}

TEST(a_look_is_two_deviations_later_and_never_more_than_half_of_the_bound)
{
    CHECK(estimator_margin(0, 3200) == 100);
    CHECK(estimator_margin(50, 3200) == 200);
    CHECK(estimator_margin(100000, 3200) == 1600);
    CHECK(estimator_margin(0, 0) == 0);
}
