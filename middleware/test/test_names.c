// SPDX-License-Identifier: Apache-2.0
// Unit tests of middleware/src/word/names.h.
// with: check.c build.c kernel_stub.c
#include "../src/word/names.h"

#include <stdio.h>

#include "check.h"

enum { NAMES = 20000 };

static struct wb_name slots[4 * NAMES];
static struct wb_names names = { .slots = slots };

// How many slots lie between where the search for a hash begins and where it ends.
static uint32_t distance(uint32_t hash)
{
    const struct wb_name *slot = wb_names_next(&names, hash, NULL);
    return (uint32_t)(slot - slots - (hash & names.mask)) & names.mask;
}

TEST(at_least_one_slot_in_two_is_free)
{
    for (uint32_t n = 0; n < 300; n++) {
        const uint32_t slots_of_n = wb_names_slots(n);
        CHECK(slots_of_n >= 2 * n && slots_of_n >= 2 && (slots_of_n & (slots_of_n - 1)) == 0);
    }
}

// However many there are: what a search costs is counted, and not timed.
TEST(names_that_are_counted_up_are_found_after_a_slot_or_two)
{
    char name[32];
    uint64_t looks = 0;
    uint32_t worst = 0;

    names.mask = wb_names_slots(NAMES) - 1;
    CHECK(names.mask < sizeof slots / sizeof slots[0]);
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, i % 2 == 0 ? "stage" : "task_%u", i);
        const uint32_t hash = wb_name_hash(name, i % 2 == 0 ? i : 0);
        const uint32_t far = distance(hash);
        looks += far + 1;
        worst = far > worst ? far : worst;
        *wb_names_next(&names, hash, NULL) = (struct wb_name){ .hash = hash, .number = i + 1 };
    }
    CHECK(looks < (uint64_t)2 * NAMES);
    CHECK(worst < 100);
}

TEST(what_has_the_same_hash_is_found_one_after_the_other)
{
    struct wb_name few[4] = { { 0 } };
    const struct wb_names table = { .slots = few, .mask = 3 };

    few[3] = (struct wb_name){ .hash = 7, .number = 1 };
    few[0] = (struct wb_name){ .hash = 3, .number = 2 };
    few[1] = (struct wb_name){ .hash = 7, .number = 3 };
    const struct wb_name *first = wb_names_next(&table, 7, NULL);
    const struct wb_name *second = wb_names_next(&table, 7, first);
    CHECK(first->number == 1 && second->number == 3);
    CHECK(wb_names_next(&table, 7, second)->number == 0);
    CHECK(wb_names_next(&table, 3, NULL)->number == 2);
    CHECK(wb_names_next(&table, 2, NULL)->number == 0);
}
