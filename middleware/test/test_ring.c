// SPDX-License-Identifier: Apache-2.0
// Unit tests of middleware/src/word/ring.h.
// with: check.c build.c kernel_stub.c
#include "../src/word/ring.h"

#include "check.h"

static const uint32_t sizes[] = { 1, 2, 3, 14, 64, 1u << 15 };
enum { SIZES = sizeof sizes / sizeof sizes[0] };

TEST(an_index_comes_back_after_two_rounds)
{
    for (int s = 0; s < SIZES; s++) {
        uint32_t index = 0;
        for (uint32_t i = 0; i < 2 * sizes[s]; i++) {
            CHECK(index == i);
            index = ring_next(index, sizes[s]);
        }
        CHECK(index == 0);
    }
}

TEST(both_rounds_use_the_same_slots)
{
    for (int s = 0; s < SIZES; s++)
        for (uint32_t i = 0; i < sizes[s]; i++) {
            CHECK(ring_slot(i, sizes[s]) == i);
            CHECK(ring_slot(i + sizes[s], sizes[s]) == i);
        }
}

TEST(a_distance_counts_the_steps_also_over_the_wrap)
{
    for (int s = 0; s < SIZES; s++)
        for (uint32_t from = 0; from < 2 * sizes[s]; from += 1 + sizes[s] / 7) {
            uint32_t to = from;
            for (uint32_t steps = 0; steps <= sizes[s]; steps++) {
                CHECK(ring_distance(from, to, sizes[s]) == steps);
                to = ring_next(to, sizes[s]);
            }
        }
}

TEST(full_and_empty_differ)
{
    for (int s = 0; s < SIZES; s++) {
        CHECK(ring_distance(0, 0, sizes[s]) == 0);
        CHECK(ring_distance(0, sizes[s], sizes[s]) == sizes[s]);
        CHECK(ring_slot(sizes[s], sizes[s]) == ring_slot(0, sizes[s]));
    }
}
