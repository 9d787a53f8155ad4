// SPDX-License-Identifier: Apache-2.0
// The index arithmetic of ring.h, for every number of slots that a channel may have, and that of
// size classes (kingsley.h) and of runs in the pool (pool.h).
//
// Sizes are tried one by one up to SIZES_MAX, and around each boundary above. Words of the pool are
// tried with every pattern of their lower half, of their upper half, and of both alike.
//
// Every index is tried. Pairs of indices are tried in full up to PAIRS_MAX slots; above that, each
// index with those that are 0, 1, n - 1, n, n + 1 and 2n - 1 steps ahead, for some n.

#include <stdbool.h>
#include <stdio.h>

#include "../src/memory/memory.h"
#include "../src/word/ring.h"

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

// ---- Size classes -------------------------------------------------------------------------------

enum { SIZES_MAX = 1 << 22 };

static uint32_t class_by_counting(size_t bytes)
{
    uint32_t size_class = 0;
    size_t room = 32;

    while (size_class < WB_HEAP_CLASSES && (bytes > SIZE_MAX - 16 || bytes + 16 > room)) {
        size_class++;
        room *= 2;
    }
    return size_class;
}

// Of one size and, for n up to 26, of those around the boundary of a class.
static bool class_is_the_smallest_with_room(uint32_t n)
{
    const size_t bytes = n - 1, edge = ((size_t)32 << n % 32) - 16;
    bool good = kingsley_class(bytes) == class_by_counting(bytes);

    for (size_t i = edge - 3; i < edge + 4; i++)
        good &= kingsley_class(i) == class_by_counting(i);
    return good && kingsley_class(SIZE_MAX - n) == WB_HEAP_CLASSES;
}

static bool a_run_holds_whole_blocks_of_its_class(uint32_t n)
{
    const uint32_t size_class = n - 1;
    const size_t run = pool_extent_bytes(size_class), block = kingsley_bytes(size_class);

    return run % block == 0 && run >= block && (run == block || run == WB_POOL_PAGE_BYTES) &&
           run == (size_t)WB_POOL_PAGE_BYTES << pool_order(size_class);
}

// ---- Runs in a word -----------------------------------------------------------------------------

static bool bits_are_clear(uint32_t word, uint32_t from, uint32_t n)
{
    for (uint32_t i = from; i < from + n; i++)
        if ((word >> i & 1) != 0)
            return false;
    return true;
}

static bool finds_the_lowest(uint32_t word)
{
    bool good = true;

    for (uint32_t order = 0; order <= POOL_WORD_ORDER; order++) {
        int lowest = POOL_NONE;
        for (uint32_t at = 32; at > 0 && good; at -= 1u << order)
            if (bits_are_clear(word, at - (1u << order), 1u << order))
                lowest = (int)(at - (1u << order));
        good &= pool_find(word, order) == lowest;
    }
    return good;
}

static bool runs_are_found(uint32_t n)
{
    const uint32_t half = n - 1;

    return finds_the_lowest(half) && finds_the_lowest(half << 16) &&
           finds_the_lowest(half | half << 16) && finds_the_lowest(~half) &&
           finds_the_lowest(~(half << 16));
}

static bool masks_are_as_long_as_their_run(uint32_t n)
{
    const uint32_t order = n - 1;
    uint32_t all = 0;

    for (uint32_t at = 0; at < 32; at += 1u << order) {
        const uint32_t mask = pool_mask(order, at);
        if (__builtin_popcount(mask) != 1 << order || (all & mask) != 0 ||
            !bits_are_clear(~mask, at, 1u << order))
            return false;
        all |= mask;
    }
    return all == UINT32_MAX;
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
        printf("not ok %u %s: with %u\n", tests, name, n);
}

int main(void)
{
    check("the_next_index_stays_in_bounds", next_stays_in_bounds, SLOTS_MAX, 1);
    check("every_index_has_its_slot", slot_stays_in_bounds, SLOTS_MAX, 1);
    check("distances_are_exact", all_distances_are_exact, PAIRS_MAX, 1);
    check("distances_of_full_and_empty_are_exact", distances_at_the_edges_are_exact, SLOTS_MAX,
          STRIDE);
    check("the_class_of_a_size_is_the_smallest_with_room", class_is_the_smallest_with_room,
          SIZES_MAX, 1);
    check("a_run_holds_whole_blocks_of_its_class", a_run_holds_whole_blocks_of_its_class,
          WB_HEAP_CLASSES, 1);
    check("the_lowest_free_run_of_a_word_is_found", runs_are_found, 1 << 16, 1);
    check("the_masks_of_a_word_are_disjoint_and_whole", masks_are_as_long_as_their_run,
          POOL_WORD_ORDER + 1, 1);
    printf("%u passed, %u failed\n", tests - failures, failures);
    return failures != 0;
}
