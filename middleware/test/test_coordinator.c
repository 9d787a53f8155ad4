// SPDX-License-Identifier: Apache-2.0
// Unit tests of the coordinator: what a policy sees, what becomes of its decision, who decides.
// with: check.c build.c kernel_stub.c
#include "coordinator_case.h"

TEST(only_the_coordinator_asks_a_global_policy)
{
    setup();
    pass();
    pass();
    CHECK(asked[0] == 0 && asked[1] == 2 && asked[2] == 0);
    CHECK(seen_params[0] == -5 && seen_params[1] == INT64_MAX);
}

TEST(the_snapshot_is_what_the_agents_reported)
{
    static const struct wb_point points[] = { { .hz = 100, .active_uw = 1, .idle_uw = 1 },
                                              { .hz = 500, .active_uw = 3, .idle_uw = 1 } };

    setup();
    sys->cores[2]->points = points;
    sys->cores[2]->n_points = 2;
    wb_word_store(&sys->cores[2]->point, 1, WB_SEQ_CST);
    wb_system_set_rate(sys, 25000);
    b->migratable = false;
    stub_run(a);
    stub.now_ns += 300;
    stub_pause(WB_TASK_BLOCKED);
    stub.now_ns -= 300;
    pass();
    CHECK(seen.now_ns == 11000 && seen.period_ns == PERIOD_NS && seen.rate_millihz == 25000);
    CHECK(seen.self == 1 && seen.n_cores == CORES && seen.n_tasks == 2 && seen.n_rows == 0);
    CHECK(seen_cores[0].up && seen_cores[0].n_points == 0 && seen_cores[0].busy_ppm == 300000);
    CHECK(seen_cores[0].load_ppm == 300000 && seen_cores[1].load_ppm == 0);
    CHECK(seen_cores[0].temperature_mc == WB_NO_TEMPERATURE);
    CHECK(seen_cores[2].points == points && seen_cores[2].n_points == 2);
    CHECK(seen_cores[2].point == 1);
    CHECK(strcmp(seen_tasks[0].name, "a") == 0 && seen_tasks[0].core == 0);
    CHECK(seen_tasks[0].load_ppm == 300000 && seen_tasks[0].movable && !seen_tasks[1].movable);
    CHECK(seen_tasks[0].here_ns == 2000 && seen_tasks[0].away_ns == 0);
    CHECK(seen_tasks[0].last_core == 0 && seen_tasks[0].migration_ns != 0);
}

TEST(a_task_that_moved_is_seen_with_where_it_was_and_what_it_cost)
{
    setup();
    wb_word_store(&a->report.last_core, 2, WB_SEQ_CST);
    wb_word_store(&a->report.migration_ns, 777, WB_SEQ_CST);
    wb_stamp_set(&a->report.since_ns, 10400);
    pass();
    CHECK(seen_tasks[0].last_core == 2 && seen_tasks[0].here_ns == 600);
    CHECK(seen_tasks[0].away_ns == 600 && seen_tasks[0].migration_ns == 777);
}

TEST(a_task_is_not_movable_while_it_moves_or_once_it_is_over)
{
    setup();
    CHECK(wb_migration_request(a, 2, WB_FOREVER, NULL) == WB_OK);
    stub_run(b);
    stub_pause(WB_TASK_ENDED);
    pass();
    CHECK(!seen_tasks[0].movable && !seen_tasks[1].movable && seen_tasks[1].load_ppm == 0);
}

TEST(a_dead_core_is_not_up)
{
    setup();
    CHECK(wb_core_died(sys, 2) == 0);
    pass();
    CHECK(seen_cores[1].up && !seen_cores[2].up);
}

// ---- What becomes of a decision -----------------------------------------------------------------

TEST(a_move_becomes_a_request_in_the_name_of_the_policy)
{
    setup();
    decide_move(a->id, 2);
    pass();
    CHECK(wanted(a) == 2 && a->migration.by == WB_BY_POLICY);
    CHECK(stub.rings[0] > 0);
}

TEST(others_ask_in_their_own_name)
{
    setup();
    CHECK(wb_migration_request(a, 2, WB_FOREVER, NULL) == WB_OK);
    CHECK(a->migration.by == WB_BY_USER);
    wb_migration_cancel(a, WB_ERR_TIMEOUT);
    stub_run(b);
    stub.depart = WB_ERR_HELD;
    CHECK(wb_migrate(b, 2, 100) == WB_ERR_HELD && b->migration.by == WB_BY_TASK);
}

TEST(a_move_to_where_the_task_is_asks_for_nothing)
{
    setup();
    decide_move(a->id, 0);
    pass();
    CHECK(!wb_migration_pending(a));
}

TEST(a_request_whose_task_finds_no_checkpoint_is_withdrawn_in_the_end)
{
    setup();
    decide_move(a->id, 2);
    pass();
    n_moves = 0;
    wb_system_sweep(sys, stub.now_ns + 999999999);
    CHECK(wanted(a) == 2);
    wb_system_sweep(sys, stub.now_ns + 1000000000);
    CHECK(!wb_migration_pending(a) && wb_task_core(a) == 0);
}

TEST(a_point_is_set_by_the_agent_of_its_core)
{
    static const struct wb_point points[] = { { .hz = 100, .active_uw = 1, .idle_uw = 1 },
                                              { .hz = 500, .active_uw = 3, .idle_uw = 1 } };

    setup();
    sys->cores[2]->points = points;
    sys->cores[2]->n_points = 2;
    decide_point(2, 1);
    const uint32_t rings = stub.rings[2];
    for (int i = 0; i < 2; i++) {
        stub.now_ns += PERIOD_NS;
        tick(1);
    }
    CHECK(stub.rings[2] == rings + 1 && stub.points == 0);
    CHECK(wb_word_load(&sys->cores[2]->inbox.summary, WB_SEQ_CST) != 0);
    stub_serve(2);
    CHECK(stub.points == 1 && wb_word_load(&sys->cores[2]->point, WB_SEQ_CST) == 1);
}

TEST(the_coordinator_sets_the_point_of_its_own_core_at_once)
{
    static const struct wb_point points[] = { { .hz = 100, .active_uw = 1, .idle_uw = 1 },
                                              { .hz = 500, .active_uw = 3, .idle_uw = 1 } };

    setup();
    sys->cores[1]->points = points;
    sys->cores[1]->n_points = 2;
    decide_point(1, 1);
    stub.now_ns += PERIOD_NS;
    tick(1);
    CHECK(stub.points == 1 && wb_word_load(&sys->cores[1]->point, WB_SEQ_CST) == 1);
}

TEST(nonsense_is_ignored_and_reported_once)
{
    struct wb_advice told;

    setup();
    decide_move(7, 0);
    decide_move(a->id, 2);
    decide_move(b->id, CORES);
    decide_point(0, 3);
    pass();
    CHECK(wanted(a) == 2 && !wb_migration_pending(b));
    CHECK(wb_word_load(&sys->cores[0]->wanted_point, WB_SEQ_CST) == WB_NO_POINT);
    CHECK(advice(&told) && told.core == 1 && told.time_ns == 11000 && told.policy == &global);
    CHECK(strstr(told.text, "task 7") != NULL);
    moves[1] = (struct wb_move){ b->id, 2 };
    moves[2] = (struct wb_move){ b->id, 2 };
    n_moves = 1;
    n_points = 0;
    pass();
    CHECK(advice(&told));
    pass();
    CHECK(!advice(&told));
    let(&global);
    pass();
    CHECK(advice(&told) && !advice(&told));
}

TEST(a_decision_that_makes_sense_is_no_advice)
{
    struct wb_advice told;

    setup();
    decide_move(a->id, 2);
    pass();
    CHECK(!advice(&told));
}

// ---- Which policy -------------------------------------------------------------------------------

TEST(the_policy_may_change_and_end_while_the_system_runs)
{
    setup();
    pass();
    CHECK(wb_system_policy(sys) == &global && asked[1] == 1);
    let(NULL);
    pass();
    CHECK(wb_system_policy(sys) == NULL && asked[1] == 1);
    let(&local);
    pass();
    CHECK(asked[0] == 1 && asked[1] == 2 && asked[2] == 1);
}

TEST(a_policy_that_is_being_changed_is_not_asked)
{
    setup();
    wb_word_store(&sys->control.choice, wb_word_load(&sys->control.choice, WB_SEQ_CST) + 1,
                  WB_SEQ_CST);
    pass();
    CHECK(asked[1] == 0);
    wb_word_store(&sys->control.choice, wb_word_load(&sys->control.choice, WB_SEQ_CST) + 1,
                  WB_SEQ_CST);
    pass();
    CHECK(asked[1] == 1);
}

TEST(without_agents_no_policy_can_decide)
{
    sys = stub_system(1);
    CHECK(wb_system_set_policy(sys, &global, NULL) == WB_ERR_INVAL);
    CHECK(wb_system_policy(sys) == NULL);
}

TEST(a_local_policy_is_asked_by_each_core_and_may_move_its_own_tasks_only)
{
    struct wb_advice told;

    setup();
    let(&local);
    decide_move(a->id, 2);
    pass();
    CHECK(asked[0] == 1 && asked[1] == 1 && asked[2] == 1);
    CHECK(wanted(a) == 2);
    CHECK(advice(&told) && told.core == 1);

    setup();
    let(&local);
    decide_move(b->id, 2);
    stub.now_ns += PERIOD_NS;
    tick(0);
    CHECK(!wb_migration_pending(b));
    tick(1);
    CHECK(wanted(b) == 2);
}

TEST(a_policy_waits_for_the_first_report_of_every_core_but_no_longer_than_a_period)
{
    setup_silent();
    let(&global);
    pass();
    CHECK(asked[1] == 0);

    setup_silent();
    let(&global);
    wb_word_store(&sys->cores[2]->state, WB_CORE_DEAD, WB_SEQ_CST);
    pass();
    CHECK(asked[1] == 1);

    // A task keeps core 2.
    setup_silent();
    let(&global);
    for (uint32_t period = 0; period < 2; period++) {
        CHECK(asked[1] == 0);
        stub.now_ns += PERIOD_NS;
        tick(0);
        tick(1);
    }
    CHECK(asked[1] == 1);
}

// ---- Who decides --------------------------------------------------------------------------------
