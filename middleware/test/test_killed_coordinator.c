// SPDX-License-Identifier: Apache-2.0
// A kernel killed at any instruction of its tick leaves a coordinator, and no migration that it
// asked for without an end.
// with: check.c build.c kernel_stub.c killed.c
#include <stdlib.h>

#include "check.h"
#include "kernel_stub.h"
#include "killed.h"

enum { PERIOD_NS = 1000 };

// Core 0 is the coordinator and dies. `theirs` is on core 1; core 2 is idle.
static struct wb_task *theirs;
static uint32_t to;

static void spread(const struct wb_snapshot *snapshot, const int64_t *params,
                   struct wb_decision *decision)
{
    (void)params;
    if (snapshot->tasks[0].core != to)
        wb_decide_move(decision, 0, to);
    wb_decide_move(decision, 9, 0);
}

static const struct wb_policy policy = { .name = "spread", .decide = spread };

static void build(void)
{
    stub_open(&(struct wb_system_config){ .cores = 3,
                                          .tasks = 1,
                                          .core_align = WB_LINE_BYTES,
                                          .record_migrations = 4,
                                          .offer_timeout_ns = 1000,
                                          .agent_period_ns = PERIOD_NS });
    theirs = stub_task("theirs", 1);
    stub.now_ns = 10000;
    stub_start(stub.system);
    // Each begins its first period, and reports it.
    for (uint32_t period = 0; period < 2; period++, stub.now_ns += PERIOD_NS)
        for (uint32_t i = 0; i < 3; i++)
            (void)wb_agent_tick(stub.system->cores[i], stub.now_ns);
    to = 2;
    CHECK(wb_system_set_policy(stub.system, &policy, NULL) == WB_OK);
    stub_run(theirs);
    stub_pause(WB_TASK_READY);
}

static void decide(void)
{
    stub_become(0, NULL);
    (void)wb_agent_tick(stub.system->cores[0], stub.now_ns);
    CHECK(wb_migration_pending(theirs));
}

static void serve_the_living(struct wb_task *away)
{
    (void)away;
    for (int round = 0; round < 3; round++)
        for (uint32_t core = 1; core < 3; core++)
            stub_serve(core);
}

static void reach_a_checkpoint(void)
{
    serve_the_living(NULL);
    stub_run(theirs);
    stub.on_away = serve_the_living;
    wb_checkpoint();
    stub_pause(WB_TASK_READY);
    CHECK(!wb_migration_pending(theirs));
}

static void check_all(void)
{
    struct wb_system *system = stub.system;

    stub_leave();
    CHECK(wb_core_died(system, 0) == 0);
    CHECK(wb_word_load(&system->control.coordinator, WB_SEQ_CST) == 1);
    reach_a_checkpoint();
    // The next coordinator decides the same, if that has not been done yet, and then otherwise.
    for (uint32_t core = 2; core > 0; core--) {
        to = core;
        stub.now_ns += PERIOD_NS;
        stub_become(1, NULL);
        (void)wb_agent_tick(system->cores[1], stub.now_ns);
        reach_a_checkpoint();
        CHECK(wb_task_core(theirs) == to);
    }
}

TEST(a_coordinator_killed_while_it_decides)
{
    killed_show(&(struct killed){ build, decide, check_all }, 20);
}

static void build_two_dead(void)
{
    build();
    stub_become(0, NULL);
    (void)wb_agent_tick(stub.system->cores[0], stub.now_ns);
    stub.now_ns += PERIOD_NS;
    wb_word_store(&stub.system->control.coordinator, 2, WB_SEQ_CST);
    wb_word_store(&stub.system->cores[2]->state, WB_CORE_DEAD, WB_SEQ_CST);
}

static void replace(void)
{
    stub_become(0, NULL);
    (void)wb_agent_tick(stub.system->cores[0], stub.now_ns);
    CHECK(wb_word_load(&stub.system->control.coordinator, WB_SEQ_CST) == 0);
}

static void check_replaced(void)
{
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    CHECK(wb_core_died(stub.system, 2) == 0);
    CHECK(wb_word_load(&stub.system->control.coordinator, WB_SEQ_CST) == 1);
}

TEST(a_kernel_killed_while_it_replaces_a_dead_coordinator)
{
    killed_show(&(struct killed){ build_two_dead, replace, check_replaced }, 4);
}
