// SPDX-License-Identifier: Apache-2.0
// Unit tests of the coordinator: what a policy sees, what becomes of its decision, who decides.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "check.h"
#include "kernel_stub.h"

enum { PERIOD_NS = 1000, CORES = 3 };

static struct wb_system *sys;
static struct wb_task *a, *b;

// What the test's policy decides next, and what it has seen.
static struct wb_move moves[4];
static struct wb_set_point set_points[4];
static uint32_t n_moves, n_points;
static uint32_t asked[CORES];
static struct wb_snapshot seen;
static struct wb_snapshot_core seen_cores[CORES];
static struct wb_snapshot_task seen_tasks[2];
static int64_t seen_params[WB_POLICY_PARAMS];

static void play(const struct wb_snapshot *snapshot, const int64_t *params,
                 struct wb_decision *decision)
{
    asked[snapshot->self]++;
    seen = *snapshot;
    memcpy(seen_cores, snapshot->cores, sizeof seen_cores);
    memcpy(seen_tasks, snapshot->tasks, sizeof seen_tasks);
    memcpy(seen_params, params, sizeof seen_params);
    for (uint32_t i = 0; i < n_moves; i++)
        wb_decide_move(decision, moves[i].task, moves[i].core);
    for (uint32_t i = 0; i < n_points; i++)
        wb_decide_point(decision, set_points[i].core, set_points[i].point);
}

static const struct wb_policy global = {
    .name = "global", .n_params = 2, .params = { { .name = "x" }, { .name = "y" } }, .decide = play
};
static const struct wb_policy local = { .name = "local", .local = true, .decide = play };

static void let(const struct wb_policy *policy)
{
    const int64_t params[WB_POLICY_PARAMS] = { -5, INT64_MAX };

    CHECK(wb_system_set_policy(sys, policy, params) == WB_OK);
}

static void setup(void)
{
    sys = stub_open(&(struct wb_system_config){ .cores = CORES,
                                                .tasks = 2,
                                                .core_align = WB_LINE_BYTES,
                                                .record_migrations = 16,
                                                .offer_timeout_ns = 1000,
                                                .agent_period_ns = PERIOD_NS,
                                                .coordinator = 1 });
    a = stub_task("a", 0);
    b = stub_task("b", 1);
    stub.now_ns = 10000;
    stub_start(sys);
    for (uint32_t i = 0; i < CORES; i++)
        (void)wb_agent_tick(sys->cores[i], stub.now_ns);
    n_moves = n_points = 0;
    memset(asked, 0, sizeof asked);
    let(&global);
}

static void tick(uint32_t core)
{
    stub_become(core, NULL);
    (void)wb_agent_tick(sys->cores[core], stub.now_ns);
    stub_leave();
}

// A period passes.
static void pass(void)
{
    stub.now_ns += PERIOD_NS;
    for (uint32_t i = 0; i < CORES; i++)
        if (atomic_load(&sys->cores[i]->state) == WB_CORE_UP)
            tick(i);
}

static void decide_move(uint32_t task, uint32_t core)
{
    moves[n_moves++] = (struct wb_move){ task, core };
}

static void decide_point(uint32_t core, uint32_t point)
{
    set_points[n_points++] = (struct wb_set_point){ core, point };
}

static uint32_t wanted(const struct wb_task *task)
{
    const uint32_t request = atomic_load(&task->request);

    return wb_request_phase(request) == WB_REQUEST_PENDING ? wb_request_core(request)
                                                           : WB_CORE_NONE;
}

static uint32_t coordinator(void)
{
    return atomic_load(&sys->control.coordinator);
}

// Any core's next advice.
static bool advice(struct wb_advice *told)
{
    for (uint32_t i = 0; i < CORES; i++)
        if (wb_ring_take(&sys->cores[i]->report.advice, told))
            return true;
    return false;
}

// ---- What a policy sees -------------------------------------------------------------------------

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
    static const struct wb_point points[] = { { 100, 1, 1 }, { 500, 3, 1 } };

    setup();
    sys->cores[2]->points = points;
    sys->cores[2]->n_points = 2;
    atomic_store(&sys->cores[2]->point, 1);
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
    CHECK(seen_tasks[0].here_ns == 1000 && seen_tasks[0].away_ns == 0);
    CHECK(seen_tasks[0].last_core == 0 && seen_tasks[0].migration_ns != 0);
}

TEST(a_task_that_moved_is_seen_with_where_it_was_and_what_it_cost)
{
    setup();
    atomic_store(&a->report.last_core, 2);
    atomic_store(&a->report.migration_ns, 777);
    wb_counter_set(&a->report.since_ns, 10400);
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
    static const struct wb_point points[] = { { 100, 1, 1 }, { 500, 3, 1 } };

    setup();
    sys->cores[2]->points = points;
    sys->cores[2]->n_points = 2;
    decide_point(2, 1);
    const uint32_t rings = stub.rings[2];
    pass();
    pass();
    CHECK(stub.rings[2] == rings + 1 && stub.points == 0);
    CHECK(atomic_load(&sys->cores[2]->inbox.summary) != 0);
    stub_serve(2);
    CHECK(stub.points == 1 && atomic_load(&sys->cores[2]->point) == 1);
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
    CHECK(atomic_load(&sys->cores[0]->wanted_point) == WB_NO_POINT);
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
    atomic_fetch_add(&sys->control.choice, 1);
    pass();
    CHECK(asked[1] == 0);
    atomic_fetch_add(&sys->control.choice, 1);
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

// ---- Who decides --------------------------------------------------------------------------------

TEST(the_next_living_core_takes_the_part_of_a_dead_coordinator)
{
    setup();
    CHECK(coordinator() == 1);
    CHECK(wb_core_died(sys, 1) == 0);
    CHECK(coordinator() == 2);
    pass();
    CHECK(asked[1] == 0 && asked[2] == 1);
    CHECK(wb_core_died(sys, 2) == 0);
    CHECK(coordinator() == 0);
    pass();
    CHECK(asked[0] == 1);
}

TEST(an_agent_notices_a_dead_coordinator_by_itself)
{
    setup();
    atomic_store(&sys->cores[1]->state, WB_CORE_DEAD);
    pass();
    CHECK(coordinator() == 2 && asked[2] == 1 && asked[0] == 0);
}

TEST(the_death_of_another_core_leaves_the_coordinator)
{
    setup();
    CHECK(wb_core_died(sys, 2) == 0);
    CHECK(coordinator() == 1);
}

static void taken_in(struct wb_task *task)
{
    stub_serve(2);
    CHECK(wb_task_core(task) == 2);
}

TEST(a_migration_that_a_dead_coordinator_asked_for_completes)
{
    setup();
    decide_move(a->id, 2);
    pass();
    n_moves = 0;
    CHECK(wb_core_died(sys, 1) == 0);
    stub_run(a);
    stub.on_away = taken_in;
    wb_checkpoint();
    CHECK(wb_task_core(a) == 2 && !wb_migration_pending(a));
    CHECK((enum wb_status)atomic_load(&a->outcome) == WB_OK && a->settled.by == WB_BY_POLICY);
}

TEST(a_system_whose_coordinator_has_no_core_is_refused)
{
    static _Alignas(64) unsigned char memory[1 << 16];
    const struct wb_system_config config = { .cores = 2, .core_align = 64, .coordinator = 2 };

    CHECK(wb_system_init(&sys, memory, sizeof memory, &config) == WB_ERR_INVAL);
}
