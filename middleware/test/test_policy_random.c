// SPDX-License-Identifier: Apache-2.0
// What holds of every policy on any snapshot: thousands of random ones.
// with: check.c build.c kernel_stub.c snapshot.c
#include <string.h>

#include "check.h"
#include "snapshot.h"

enum { SEEDS = 3000, OVERFLOWS = 300, PERIODS = 64 };

// The policies that even out the loads.
static const char *const evening[] = { "balance", "gossip", "spread", "sticky" };

static struct world w, before, again;

// A table for any system: rows that name every point and core, also such that do not exist.
static struct wb_table_row rows[2];
static uint32_t row_points[2][WORLD_CORES], row_cores[2][WORLD_TASKS];

static void open_random(uint32_t seed)
{
    uint32_t state = seed + 1;

    world_random(&w, seed);
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t core = 0; core < WORLD_CORES; core++)
            row_points[i][core] = world_next(&state) % (WORLD_POINTS + 1);
        for (uint32_t task = 0; task < WORLD_TASKS; task++)
            row_cores[i][task] = world_next(&state) % (w.snapshot.n_cores + 1);
        rows[i] = (struct wb_table_row){ 1000 * (i + 1), row_points[i], row_cores[i] };
    }
    w.snapshot.rows = rows;
    w.snapshot.n_rows = seed % 3;
    w.snapshot.rate_millihz = world_next(&state) % 3000;
}

TEST(no_policy_decides_what_cannot_be_carried_out)
{
    const struct wb_policy *policy;

    for (uint32_t i = 0; (policy = wb_policy_at(i)) != NULL; i++) {
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            open_random(seed);
            world_decide(&w, policy);
            CHECK(wb_decision_check(&w.decision, &w.snapshot, policy, w.text, sizeof w.text) == 0);
        }
    }
}

TEST(a_policy_is_pure_the_snapshot_stays_and_the_decision_repeats)
{
    const struct wb_policy *policy;

    for (uint32_t i = 0; (policy = wb_policy_at(i)) != NULL; i++) {
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            open_random(seed);
            before = w;
            world_decide(&w, policy);
            again = w;
            CHECK(memcmp(&w.snapshot, &before.snapshot, sizeof w.snapshot) == 0);
            CHECK(memcmp(w.cores, before.cores, sizeof w.cores) == 0);
            CHECK(memcmp(w.tasks, before.tasks, sizeof w.tasks) == 0);
            world_decide(&w, policy);
            CHECK(memcmp(&w.decision, &again.decision, sizeof w.decision) == 0);
            CHECK(memcmp(w.moves, again.moves, sizeof w.moves) == 0);
            CHECK(memcmp(w.points, again.points, sizeof w.points) == 0);
        }
    }
}

TEST(a_policy_without_room_ends_and_what_it_decided_is_good)
{
    const struct wb_policy *policy;

    for (uint32_t i = 0; (policy = wb_policy_at(i)) != NULL; i++) {
        for (uint32_t seed = 0; seed < OVERFLOWS; seed++) {
            for (uint32_t room = 0; room < 3; room++) {
                open_random(seed);
                w.decision.max_moves = w.decision.max_points = room;
                world_decide(&w, policy);
                const bool overflow = w.decision.overflow;
                CHECK(w.decision.n_moves <= room && w.decision.n_points <= room);
                CHECK(wb_decision_check(&w.decision, &w.snapshot, policy, w.text, sizeof w.text) ==
                      overflow);
            }
        }
    }
}

TEST(evening_out_never_raises_the_highest_load)
{
    for (uint32_t i = 0; i < sizeof evening / sizeof *evening; i++) {
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            open_random(seed);
            const uint32_t highest = world_highest(&w);
            world_decide_all(&w, wb_policy_find(evening[i]));
            world_apply(&w);
            CHECK(world_highest(&w) <= highest);
        }
    }
}

TEST(evening_out_comes_to_rest_also_when_all_cores_decide_at_once)
{
    for (uint32_t i = 0; i < sizeof evening / sizeof *evening; i++) {
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            open_random(seed);
            CHECK(world_settle(&w, wb_policy_find(evening[i]), PERIODS) <= PERIODS);
        }
    }
}

// Each sees what those before it did.
TEST(gossip_comes_to_rest_when_the_cores_decide_one_after_the_other)
{
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        uint32_t quiet = 0;
        open_random(seed);
        for (uint32_t turn = 0; quiet < w.snapshot.n_cores; turn++) {
            CHECK(turn < PERIODS * WORLD_CORES);
            w.snapshot.self = turn % w.snapshot.n_cores;
            world_decide(&w, wb_policy_find("gossip"));
            quiet = w.decision.n_moves == 0 ? quiet + 1 : 0;
            world_apply(&w);
        }
    }
}

TEST(consolidating_fills_no_core_above_its_limit_and_uses_no_more_of_them)
{
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        open_random(seed);
        const uint32_t highest = world_highest(&w), used = world_in_use(&w);
        world_decide(&w, wb_policy_find("consolidate"));
        world_apply(&w);
        if (highest <= 800000)
            CHECK(world_in_use(&w) <= used && world_highest(&w) <= 800000);
        else
            CHECK(world_highest(&w) <= highest);
    }
}

TEST(consolidating_comes_to_rest)
{
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        open_random(seed);
        CHECK(world_settle(&w, wb_policy_find("consolidate"), PERIODS) <= PERIODS);
    }
}

TEST(a_table_comes_to_rest_at_once)
{
    for (uint32_t seed = 0; seed < SEEDS; seed++) {
        open_random(seed);
        CHECK(world_settle(&w, wb_policy_find("table"), 1) <= 1);
    }
}
