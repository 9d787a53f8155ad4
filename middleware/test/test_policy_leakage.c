// SPDX-License-Identifier: Apache-2.0
// The leakage policy.
// with: check.c build.c kernel_stub.c snapshot.c
#include "check.h"
#include "snapshot.h"

static struct world w;

// A core takes 400 mW, of which 200 mW leak at 45 degrees, and twice as much 34.66 degrees above;
// at half the frequency 150 mW, of which 100 mW leak.
static const struct wb_point points[] = {
    { .hz = 500000000,
      .active_uw = 150000,
      .idle_uw = 100000,
      .static_uw = 100000,
      .reference_mk = 318150,
      .slope_mk = 50000 },
    { .hz = 1000000000,
      .active_uw = 400000,
      .idle_uw = 200000,
      .static_uw = 200000,
      .reference_mk = 318150,
      .slope_mk = 50000 },
};

static void open(uint32_t cores)
{
    world_open(&w, cores);
    for (uint32_t i = 0; i < cores; i++) {
        w.cores[i].points = points;
        w.cores[i].n_points = 2;
        w.cores[i].point = 1;
        w.cores[i].temperature_mc = 45000;
    }
}

static void decide(void)
{
    world_decide(&w, wb_policy_find("leakage"));
}

TEST(a_core_that_another_makes_superfluous_is_emptied_and_off)
{
    open(2);
    world_add(&w, 0, 200000);
    world_add(&w, 1, 100000);
    world_add(&w, 1, 100000);
    decide();
    // Core 0 decides, and stays on.
    CHECK(w.decision.n_moves == 2 && world_moved_to(&w, 1) == 0 && world_moved_to(&w, 2) == 0);
    CHECK(world_point(&w, 1) == WB_POINT_OFF);
    CHECK(world_point(&w, 0) == 0 || world_point(&w, 0) == UINT32_MAX);
}

TEST(a_core_has_the_lowest_point_at_which_its_load_fits)
{
    open(1);
    world_add(&w, 0, 300000);
    decide();
    CHECK(world_point(&w, 0) == 0);
    world_add(&w, 0, 300000);
    decide();
    CHECK(world_point(&w, 0) == UINT32_MAX);  // it has the highest
}

TEST(of_two_cores_the_one_that_is_hotter_is_emptied)
{
    open(3);
    world_add(&w, 1, 100000);
    world_add(&w, 2, 100000);
    w.cores[0].up = false;
    w.cores[1].temperature_mc = 60000;
    decide();
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, 0) == 2);
    w.cores[1].temperature_mc = 45000;
    w.cores[2].temperature_mc = 60000;
    decide();
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, 1) == 1);
}

// At half the frequency two cores take 2 * (100 + 0.6 * 50) mW, one at the whole 200 + 0.6 * 200.
TEST(cores_that_are_slow_together_are_not_emptied_into_one_that_is_fast)
{
    open(2);
    world_add(&w, 0, 300000);
    world_add(&w, 1, 300000);
    decide();
    CHECK(w.decision.n_moves == 0 && world_point(&w, 0) == 0 && world_point(&w, 1) == 0);
}

TEST(a_task_leaves_a_core_that_has_become_hotter_than_one_that_is_off)
{
    open(3);
    world_add(&w, 1, 300000);
    w.cores[0].up = false;
    w.cores[2].off = true;
    w.cores[1].temperature_mc = 48000;  // 136 mW against 132: less than 5 % more
    w.cores[2].temperature_mc = 46000;
    decide();
    CHECK(w.decision.n_moves == 0);
    w.cores[1].temperature_mc = 60000;
    decide();
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, 0) == 2);
    CHECK(world_point(&w, 1) == WB_POINT_OFF && world_point(&w, 2) == 0);
}

TEST(a_task_that_has_just_come_stays)
{
    open(2);
    world_add(&w, 0, 200000);
    world_add(&w, 1, 100000);
    w.tasks[1].here_ns = 999999999;
    decide();
    CHECK(w.decision.n_moves == 0);
}

TEST(a_core_with_too_much_load_gives_some_to_one_that_is_off)
{
    open(2);
    world_add(&w, 0, 500000);
    world_add(&w, 0, 400000);
    w.cores[1].off = true;
    decide();
    CHECK(w.decision.n_moves == 1);
    CHECK(world_point(&w, 1) == 1);
}

TEST(without_operating_points_nothing_is_decided)
{
    open(2);
    world_add(&w, 0, 200000);
    world_add(&w, 1, 100000);
    w.cores[0].n_points = w.cores[1].n_points = 0;
    decide();
    CHECK(w.decision.n_moves == 0 && w.decision.n_points == 0);
}

TEST(a_slower_core_that_takes_less_for_the_same_cycles_is_chosen)
{
    static const struct wb_point little[] = {
        { .hz = 500000000, .active_uw = 50000, .idle_uw = 10000 }
    };
    open(2);
    world_add(&w, 1, 200000);
    w.cores[0].points = little;
    w.cores[0].n_points = 1;
    w.cores[0].point = 0;
    w.cores[0].kind = 1;
    decide();
    CHECK(world_moved_to(&w, 0) == 0);
    // Of the slower core it is twice the load, which does not fit.
    w.tasks[0].load_ppm = w.cores[1].load_ppm = 450000;
    decide();
    CHECK(world_moved_to(&w, 0) == UINT32_MAX);
}

TEST(beyond_ten_doublings_leakage_grows_no_more)
{
    open(2);
    world_add(&w, 1, 200000);
    w.cores[0].temperature_mc = w.cores[1].temperature_mc = INT32_MAX;
    decide();
    w.cores[0].temperature_mc = w.cores[1].temperature_mc = INT32_MIN + 1;
    decide();
    CHECK(!w.decision.overflow);
}
