// SPDX-License-Identifier: Apache-2.0
// The index arithmetic of ring.h, for every number of slots that a channel may have.
//
// Every index is tried. Pairs of indices are tried in full up to PAIRS_MAX slots; above that, each
// index with those that are 0, 1, n - 1, n, n + 1 and 2n - 1 steps ahead, for some n.

#include <stdbool.h>
#include <stdio.h>

#include "../src/ring.h"

enum { SLOTS_MAX = 1 << 15, PAIRS_MAX = 200, STRIDE = 97 };

static bool next_stays_in_bounds(uint32_t n)
{
    bool good = true;

    for (uint32_t i = 0; i < 2 * n; i++)
        good &= ring_next(i, n) == (i + 1) % (2 * n);
    return good;
}

static bool slot_stays_in_bounds(uint32_t n)
{
    bool good = true;

    for (uint32_t i = 0; i < 2 * n; i++)
        good &= ring_slot(i, n) < n && (i < n ? ring_slot(i, n) == i : ring_slot(i, n) == i - n);
    return good;
}

static bool distance_is_exact(uint32_t from, uint32_t steps, uint32_t n)
{
    const uint32_t sum = from + steps;
    const uint32_t to = sum < 2 * n ? sum : sum - 2 * n;

    return ring_distance(from, to, n) == steps;
}

static bool all_distances_are_exact(uint32_t n)
{
    bool good = true;

    for (uint32_t from = 0; from < 2 * n; from++)
        for (uint32_t steps = 0; steps < 2 * n; steps++)
            good &= distance_is_exact(from, steps, n);
    return good;
}

static bool distances_at_the_edges_are_exact(uint32_t n)
{
    bool good = true;

    for (uint32_t from = 0; from < 2 * n; from++)
        good &= distance_is_exact(from, 0, n) && distance_is_exact(from, 1, n) &&
                distance_is_exact(from, n - 1, n) && distance_is_exact(from, n, n) &&
                distance_is_exact(from, (n + 1) % (2 * n), n) &&
                distance_is_exact(from, 2 * n - 1, n);
    return good;
}

static uint32_t tests, failures;

static void check(const char *name, bool (*holds)(uint32_t), uint32_t last, uint32_t stride)
{
    uint32_t n = 1;

    while (n <= last && holds(n))
        n = n == last || n + stride <= last ? n + stride : last;
    tests++;
    failures += n <= last;
    if (n > last)
        printf("ok %u %s\n", tests, name);
    else
        printf("not ok %u %s: with %u slots\n", tests, name, n);
}

int main(void)
{
    check("the_next_index_stays_in_bounds", next_stays_in_bounds, SLOTS_MAX, 1);
    check("every_index_has_its_slot", slot_stays_in_bounds, SLOTS_MAX, 1);
    check("distances_are_exact", all_distances_are_exact, PAIRS_MAX, 1);
    check("distances_of_full_and_empty_are_exact", distances_at_the_edges_are_exact, SLOTS_MAX,
          STRIDE);
    printf("%u passed, %u failed\n", tests - failures, failures);
    return failures != 0;
}
