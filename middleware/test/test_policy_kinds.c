// SPDX-License-Identifier: Apache-2.0
// The policies on a platform of two kinds of cores.
// with: check.c build.c kernel_stub.c snapshot.c
#include "check.h"
#include "snapshot.h"

enum { LOAD_PPM = 350000 };

static struct world w;

// Cores 0 and 1 are of kind 0, cores 2 and 3 of kind 1. Core 0 is overloaded and hot with three
// tasks, core 1 has one, the others are empty and the coolest.
static void open(uint32_t not_on)
{
    world_open(&w, 4);
    w.cores[2].kind = w.cores[3].kind = 1;
    for (uint32_t i = 0; i < 3; i++)
        world_add(&w, 0, LOAD_PPM);
    world_add(&w, 1, LOAD_PPM);
    for (uint32_t i = 0; i < 4; i++) {
        w.tasks[i].not_on = not_on;
        w.cores[i].temperature_mc = 60000 - 10000 * (int32_t)i;
    }
}

static const char *const moving[] = { "balance", "consolidate", "gossip",
                                      "spread",  "sticky",      "thermal" };

enum { MOVING = sizeof moving / sizeof *moving };

TEST(a_lighter_core_of_another_kind_is_passed_over)
{
    for (uint32_t i = 0; i < MOVING; i++) {
        open(1 << 1);
        world_decide(&w, wb_policy_find(moving[i]));
        CHECK(w.decision.n_moves == 1 && w.decision.moves[0].core == 1);
        CHECK(w.tasks[w.decision.moves[0].task].core == 0);
    }
}

TEST(a_task_of_both_kinds_goes_to_a_core_of_the_other)
{
    static const char *const evening[] = { "balance", "spread", "sticky", "thermal" };

    for (uint32_t i = 0; i < sizeof evening / sizeof *evening; i++) {
        open(1 << 1);
        w.tasks[2].not_on = 0;
        w.cores[2].temperature_mc = 10000;
        world_decide(&w, wb_policy_find(evening[i]));
        CHECK(world_moved_to(&w, 2) == 2);
    }
}

TEST(a_task_whose_kind_has_no_other_core_stays)
{
    for (uint32_t i = 0; i < MOVING; i++) {
        open(1 << 1);
        w.cores[1].kind = 1;
        w.tasks[3].not_on = 1 << 0;
        world_decide(&w, wb_policy_find(moving[i]));
        for (uint32_t task = 0; task < 3; task++)
            CHECK(world_moved_to(&w, task) == UINT32_MAX);
    }
}

TEST(a_core_gives_to_the_least_loaded_neighbour_that_can_take_its_tasks)
{
    open(1 << 1);
    w.snapshot.self = 3;  // none of its kind has anything to give
    world_decide(&w, wb_policy_find("gossip"));
    CHECK(w.decision.n_moves == 0);
    w.snapshot.self = 0;
    world_decide(&w, wb_policy_find("gossip"));
    CHECK(w.decision.n_moves == 1 && w.decision.moves[0].core == 1);
}

TEST(a_row_of_a_table_that_names_a_core_of_another_kind_is_passed_over)
{
    static const uint32_t row_points[] = { 2, 2, 2, 2 }, row_cores[] = { 2, 1, 0, 3 };
    const struct wb_table_row row = { 1000, row_points, row_cores };

    open(1 << 1);
    w.snapshot.rows = &row;
    w.snapshot.n_rows = 1;
    w.snapshot.rate_millihz = 1000;
    world_decide(&w, wb_policy_find("table"));
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, 1) == 1);
}
