// SPDX-License-Identifier: Apache-2.0
// with: check.c kernel_stub.c build.c
// Energy: how residency is split between operating points, and what it comes to.

#include "wb/launcher.h"
#include "wb/system.h"

#include "check.h"
#include "kernel_stub.h"

enum { START_NS = 500, SECOND_NS = 1000000000 };

static const struct wb_point points[] = {
    { .hz = 100000000, .active_uw = 84000, .idle_uw = 8400 },
    { .hz = 500000000, .active_uw = 1000000, .idle_uw = 100000 },
};

static struct wb_core *one_core(uint32_t start)
{
    struct wb_core *core = stub_system(1)->cores[0];

    CHECK(wb_core_set_points(core, points, 2, start) == WB_OK);
    return core;
}

// A task runs on core 0 for `ns`.
static void run(struct wb_task *task, uint64_t ns)
{
    stub_become(0, task);
    wb_task_resumed(task, stub.now_ns);
    stub.now_ns += ns;
    wb_task_paused(task, WB_TASK_READY, stub.now_ns);
    stub_become(0, NULL);
}

static void starts(struct wb_core *core)
{
    stub.now_ns = START_NS;
    CHECK(wb_system_start(core->system, START_NS) == WB_OK);
}

static bool is(struct wb_residence at, uint64_t active_ns, uint64_t idle_ns)
{
    return at.active_ns == active_ns && at.idle_ns == idle_ns;
}

TEST(a_core_begins_at_the_point_it_was_given)
{
    const struct wb_core *core = one_core(1);

    CHECK(core->n_points == 2 && core->points != points);
    CHECK(wb_word_load(&core->point, WB_SEQ_CST) == 1 &&
          wb_word_load(&core->wanted_point, WB_SEQ_CST) == 1);
    CHECK(core->points[1].hz == 500000000);
}

TEST(points_that_do_not_ascend_or_a_start_that_is_none_of_them_are_refused)
{
    struct wb_core *core = stub_system(1)->cores[0];
    const struct wb_point falling[] = { { .hz = 2 }, { .hz = 1 } },
                          twice[] = { { .hz = 1 }, { .hz = 1 } };
    const struct wb_point zero = { .hz = 0 };

    CHECK(wb_core_set_points(core, points, 0, 0) == WB_ERR_INVAL);
    CHECK(wb_core_set_points(core, points, 2, 2) == WB_ERR_INVAL);
    CHECK(wb_core_set_points(core, falling, 2, 0) == WB_ERR_INVAL);
    CHECK(wb_core_set_points(core, twice, 2, 0) == WB_ERR_INVAL);
    CHECK(wb_core_set_points(core, &zero, 1, 0) == WB_ERR_INVAL);
    CHECK(core->n_points == 0);
}

TEST(points_that_do_not_fit_the_arena_are_refused)
{
    struct wb_core *core = stub_system(1)->cores[0];

    core->system->arena = core->system->arena_end;
    CHECK(wb_core_set_points(core, points, 2, 0) == WB_ERR_NOMEM);
    CHECK(core->n_points == 0);
}

TEST(a_core_without_points_has_no_energy)
{
    const struct wb_system *system = stub_system(1);

    CHECK(wb_core_energy(system->cores[0], SECOND_NS) == 0);
}

TEST(time_in_tasks_is_active_and_the_rest_is_idle)
{
    struct wb_core *core = one_core(0);
    struct wb_task *task = stub_task("t", 0);

    starts(core);
    run(task, 300);
    stub.now_ns += 700;
    CHECK(is(wb_core_residence(core, 0, stub.now_ns), 300, 700));
    CHECK(is(wb_core_residence(core, 1, stub.now_ns), 0, 0));
}

TEST(what_was_done_at_a_point_stays_with_it)
{
    struct wb_core *core = one_core(0);
    struct wb_task *task = stub_task("t", 0);

    starts(core);
    run(task, 300);
    stub.now_ns += 700;
    wb_core_enter_point(core, 1, stub.now_ns);
    CHECK(wb_word_load(&core->point, WB_SEQ_CST) == 1);
    run(task, 20);
    stub.now_ns += 30;
    CHECK(is(wb_core_residence(core, 0, stub.now_ns), 300, 700));
    CHECK(is(wb_core_residence(core, 1, stub.now_ns), 20, 30));
    wb_core_enter_point(core, 0, stub.now_ns);
    run(task, 5);
    CHECK(is(wb_core_residence(core, 0, stub.now_ns), 305, 700));
    CHECK(is(wb_core_residence(core, 1, stub.now_ns), 20, 30));
}

TEST(a_task_that_changes_the_point_splits_its_own_run)
{
    struct wb_core *core = one_core(0);
    struct wb_task *task = stub_task("t", 0);

    starts(core);
    stub_become(0, task);
    wb_task_resumed(task, stub.now_ns);
    stub.now_ns += 40;
    wb_core_enter_point(core, 1, stub.now_ns);
    stub.now_ns += 60;
    wb_task_paused(task, WB_TASK_READY, stub.now_ns);
    CHECK(is(wb_core_residence(core, 0, stub.now_ns), 40, 0));
    CHECK(is(wb_core_residence(core, 1, stub.now_ns), 60, 0));
    CHECK(wb_counter_get(&task->stats.busy_ns) == 100);
    CHECK(wb_counter_get(&core->stats.switches) == 1);
}

TEST(energy_is_power_times_time_at_each_point)
{
    struct wb_core *core = one_core(1);
    struct wb_task *task = stub_task("t", 0);

    starts(core);
    run(task, 2ull * SECOND_NS);
    stub.now_ns += SECOND_NS;
    CHECK(wb_core_energy(core, stub.now_ns) == 2100000);
    wb_core_enter_point(core, 0, stub.now_ns);
    run(task, SECOND_NS / 2);
    stub.now_ns += SECOND_NS / 2;
    CHECK(wb_core_energy(core, stub.now_ns) == 2100000 + 42000 + 4200);
}

TEST(energy_does_not_overflow_in_a_run_of_years)
{
    const struct wb_point greedy = { .hz = 1, .active_uw = UINT32_MAX, .idle_uw = UINT32_MAX };
    struct wb_core *core = stub_system(1)->cores[0];
    const uint64_t years_s = 3600ull * 24 * 365 * 10;

    CHECK(wb_core_set_points(core, &greedy, 1, 0) == WB_OK);
    starts(core);
    CHECK(wb_core_energy(core, START_NS + years_s * SECOND_NS) == years_s * UINT32_MAX);
}

TEST(points_that_the_kernels_cannot_change_are_refused_but_for_a_single_one)
{
    struct wb_system *system = stub_system(1);

    stub.cannot = WB_CAN_SET_POINTS;
    CHECK(wb_core_set_points(system->cores[0], points, 2, 0) == WB_ERR_UNABLE);
    CHECK(system->cores[0]->n_points == 0);
    CHECK(wb_core_set_points(system->cores[0], points, 1, 0) == WB_OK);
}
