// SPDX-License-Identifier: Apache-2.0
// A kernel killed at any instruction of a hand-off leaves each task with exactly one living core,
// and no request without an end.
// with: check.c build.c kernel_stub.c killed.c
#include <stdlib.h>

#include "check.h"
#include "kernel_stub.h"
#include "killed.h"

// Core 0 dies. `mine` runs there, `theirs` runs on core 1; core 2 is idle.
static struct wb_task *mine, *theirs;

static void build(void)
{
    stub_open(&(struct wb_system_config){ .cores = 3,
                                          .tasks = 2,
                                          .core_align = WB_LINE_BYTES,
                                          .record_migrations = 4,
                                          .offer_timeout_ns = 1000 });
    mine = stub_task("mine", 0);
    theirs = stub_task("theirs", 1);
    mine->restart = theirs->restart = true;
    stub.now_ns = 100;
    stub_start(stub.system);
    stub_run(theirs);
    stub_run(mine);
}

static enum wb_task_state state(const struct wb_task *task)
{
    return wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST));
}

static void serve_the_living(void)
{
    for (int round = 0; round < 3; round++)
        for (uint32_t core = 1; core < 3; core++)
            stub_serve(core);
}

static void moves_on(struct wb_task *task)
{
    serve_the_living();
    CHECK(state(task) == WB_TASK_READY);
}

// The task is on one living core, its request comes to an end, and the next one succeeds.
static void check_task(struct wb_task *task)
{
    serve_the_living();
    const uint32_t core = wb_task_core(task);
    CHECK(core == 1 || core == 2);
    CHECK(state(task) == WB_TASK_READY || state(task) == WB_TASK_RUNNING);
    stub_run(task);
    stub.now_ns += 1000000;
    wb_system_sweep(stub.system, stub.now_ns);
    serve_the_living();
    CHECK(!wb_migration_pending(task));
    CHECK(wb_migration_request(task, 3 - core, 5000, NULL) == WB_OK);
    stub.on_away = moves_on;
    wb_checkpoint();
    CHECK(wb_task_core(task) == 3 - core && !wb_migration_pending(task));
    CHECK(wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == WB_OK);
}

static void check_all(void)
{
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    check_task(mine);
    check_task(theirs);
    CHECK(wb_word_load(&stub.system->live, WB_SEQ_CST) == 2);
}

// ---- The requester ------------------------------------------------------------------------------

static void ask(void)
{
    CHECK(wb_migration_request(theirs, 2, 5000, mine) == WB_OK);
}

TEST(a_requester_killed_while_it_asks)
{
    killed_show(&(struct killed){ build, ask, check_all }, 10);
}

static void build_asked(void)
{
    build();
    ask();
}

static void withdraw(void)
{
    wb_migration_cancel(theirs, WB_ERR_TIMEOUT);
    CHECK(!wb_migration_pending(theirs));
}

TEST(a_requester_killed_while_it_withdraws)
{
    killed_show(&(struct killed){ build_asked, withdraw, check_all }, 6);
}

// ---- The source ---------------------------------------------------------------------------------

static void build_source(void)
{
    build();
    CHECK(wb_migration_request(mine, 2, 5000, theirs) == WB_OK);
}

static _Noreturn void offered(struct wb_task *away)
{
    CHECK(state(away) == WB_TASK_OFFERED);
    _Exit(0);
}

static void depart(void)
{
    stub.on_away = offered;
    wb_checkpoint();
}

TEST(a_source_killed_while_it_hands_off)
{
    killed_show(&(struct killed){ build_source, depart, check_all }, 6);
}

static void refuse(void)
{
    stub.depart = WB_ERR_HELD;
    wb_checkpoint();
    CHECK(!wb_migration_pending(mine));
}

TEST(a_source_killed_while_it_refuses)
{
    killed_show(&(struct killed){ build_source, refuse, check_all }, 5);
}

static void leave_an_offer(struct wb_task *task, uint32_t target)
{
    CHECK(wb_migration_request(task, target, 5000, NULL) == WB_OK);
    const uint32_t request = wb_word_load(&task->request, WB_SEQ_CST);
    wb_word_store(&task->request,
                  wb_request(WB_REQUEST_ACCEPTED, target, wb_request_number(request)), WB_SEQ_CST);
    stub_become(wb_task_core(task), NULL);
    wb_task_departed(task, stub.now_ns, stub.now_ns);
}

static void build_returned(void)
{
    build();
    leave_an_offer(mine, 2);
    wb_migration_cancel(mine, WB_ERR_TIMEOUT);
    CHECK(state(mine) == WB_TASK_RETURNED);
}

static void take_back(void)
{
    CHECK(stub_serve(0) > 0 && state(mine) == WB_TASK_READY);
    stub_run(mine);
}

TEST(a_source_killed_while_it_takes_the_task_back)
{
    killed_show(&(struct killed){ build_returned, take_back, check_all }, 8);
}

// ---- The target ---------------------------------------------------------------------------------

static void build_target(void)
{
    build();
    leave_an_offer(theirs, 0);
}

static void take(void)
{
    CHECK(stub_serve(0) > 0 && state(theirs) == WB_TASK_READY);
    stub_run(theirs);
    CHECK(!wb_migration_pending(theirs));
}

TEST(a_target_killed_while_it_takes_the_task)
{
    killed_show(&(struct killed){ build_target, take, check_all }, 8);
}

// ---- Switches -----------------------------------------------------------------------------------

static void pause_and_resume(void)
{
    stub_pause(WB_TASK_BLOCKED);
    wb_task_wake(mine);
    stub_serve(0);
    stub_run(mine);
    stub_pause(WB_TASK_READY);
    stub_run(mine);
}

TEST(a_kernel_killed_while_it_switches)
{
    killed_show(&(struct killed){ build, pause_and_resume, check_all }, 10);
}
