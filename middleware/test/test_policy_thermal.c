// SPDX-License-Identifier: Apache-2.0
// The thermal policy.
// with: check.c build.c kernel_stub.c snapshot.c
#include "check.h"
#include "snapshot.h"

static struct world w;

static void open_at(int32_t hot_mc, int32_t cool_mc)
{
    world_open(&w, 3);
    world_add(&w, 0, 200000);
    world_add(&w, 0, 300000);
    world_add(&w, 1, 100000);
    w.cores[0].temperature_mc = hot_mc;
    w.cores[1].temperature_mc = cool_mc;
}

static void decide(void)
{
    world_decide(&w, wb_policy_find("thermal"));
}

TEST(the_largest_task_moves_from_the_hottest_core_to_the_coolest)
{
    open_at(75001, 70000);
    decide();
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, 1) == 1);
    CHECK(w.decision.n_points == 0);
}

TEST(temperatures_that_hardly_differ_are_left)
{
    open_at(75000, 70000);
    decide();
    CHECK(w.decision.n_moves == 0);
}

TEST(without_temperatures_nothing_is_decided)
{
    open_at(WB_NO_TEMPERATURE, WB_NO_TEMPERATURE);
    w.cores[0].point = 0;
    decide();
    CHECK(w.decision.n_moves == 0 && w.decision.n_points == 0);
}

TEST(a_core_that_is_down_is_neither_cool_nor_hot)
{
    open_at(75001, 20000);
    w.cores[1].up = false;
    decide();
    CHECK(w.decision.n_moves == 0 && w.decision.n_points == 0);
}

TEST(a_task_that_does_not_fit_on_the_coolest_core_stays)
{
    open_at(75001, 70000);
    w.cores[1].load_ppm = 750000;
    decide();
    CHECK(w.decision.n_moves == 1 && world_moved_to(&w, 0) == 1);
    w.cores[1].load_ppm = 800001;
    decide();
    CHECK(w.decision.n_moves == 0);
}

TEST(a_task_that_has_just_come_to_a_hot_core_stays)
{
    open_at(75001, 70000);
    w.tasks[0].here_ns = w.tasks[1].here_ns = 999999999;
    decide();
    CHECK(w.decision.n_moves == 0);
}

TEST(a_core_above_the_limit_is_slowed_down_a_point_at_a_time)
{
    open_at(80001, 80000);
    decide();
    CHECK(w.decision.n_points == 1 && world_point(&w, 0) == WORLD_POINTS - 2);
    w.cores[0].point = 0;
    decide();
    CHECK(w.decision.n_points == 0);
}

TEST(a_core_that_has_cooled_down_is_sped_up_again)
{
    open_at(70000, 69999);
    w.cores[0].point = w.cores[1].point = 1;
    decide();
    CHECK(w.decision.n_points == 1 && world_point(&w, 1) == 2);
}
