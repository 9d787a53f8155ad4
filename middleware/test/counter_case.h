// SPDX-License-Identifier: Apache-2.0
// What both kinds of counters do.
#ifndef WB_TEST_COUNTER_CASE_H
#define WB_TEST_COUNTER_CASE_H

#include <stddef.h>

#include "check.h"
#include "wb/word.h"

TEST(a_counter_holds_64_bits)
{
    static const uint64_t values[] = {
        0, 1, UINT32_MAX, 1ull << 32, 0x123456789abcdef0, UINT64_MAX
    };
    struct wb_counter c = { 0 };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        wb_counter_set(&c, values[i]);
        CHECK(wb_counter_get(&c) == values[i]);
    }
}

TEST(adding_carries_into_the_high_half)
{
    struct wb_counter c = { 0 };

    wb_counter_set(&c, UINT32_MAX - 1);
    wb_counter_add(&c, 1);
    CHECK(wb_counter_get(&c) == UINT32_MAX);
    wb_counter_add(&c, 1);
    CHECK(wb_counter_get(&c) == 1ull << 32);
    wb_counter_add(&c, 3ull << 32);
    CHECK(wb_counter_get(&c) == 4ull << 32);
}

TEST(a_stamp_holds_64_bits_forth_and_back)
{
    static const uint64_t values[] = { 5ull << 32, 1, UINT64_MAX, 0, 0x123456789abcdef0 };
    struct wb_stamp s = { 0 };

    CHECK(wb_stamp_get(&s) == 0);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        wb_stamp_set(&s, values[i]);
        CHECK(wb_stamp_get(&s) == values[i]);
    }
}

TEST(a_stamp_that_is_lowered_stays_where_it_is_earlier)
{
    struct wb_stamp s = { 0 };

    wb_stamp_set(&s, 5ull << 32 | 1);
    wb_stamp_lower(&s, 6ull << 32);
    CHECK(wb_stamp_get(&s) == (5ull << 32 | 1));
    wb_stamp_lower(&s, 5ull << 32);
    CHECK(wb_stamp_get(&s) == 5ull << 32);
    wb_stamp_lower(&s, UINT32_MAX);
    CHECK(wb_stamp_get(&s) == UINT32_MAX);
    wb_stamp_lower(&s, UINT64_MAX);
    CHECK(wb_stamp_get(&s) == UINT32_MAX);
}

#endif
