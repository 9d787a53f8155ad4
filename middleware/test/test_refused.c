// SPDX-License-Identifier: Apache-2.0
// Migrations that cannot be, of tasks of every mode: each says why, and the task runs on where it
// was.
// with: check.c build.c kernel_stub.c
#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

static struct wb_task *task;
static int lockable;

static const void *unreadable(uint32_t core, const void *address)
{
    (void)core;
    (void)address;
    return NULL;
}

// On core 0 of two, running.
static void setup(enum wb_mode mode)
{
    stub_system(2);
    stub.private = unreadable;
    stub.load = WB_ERR_NOMEM;
    task = stub_task("task", 0);
    task->mode = mode;
    task->restart = true;
    stub_start(stub.system);
    stub_run(task);
}

static void ask(void)
{
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
}

// Refused at its checkpoint or after it, for this reason; it runs on, and may be asked for again.
static void expect_refused(enum wb_status why)
{
    CHECK(wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST)) == why &&
          !wb_migration_pending(task));
    CHECK(wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == WB_TASK_RUNNING);
    CHECK(wb_task_core(task) == 0 && wb_word_load(&task->memory_core, WB_SEQ_CST) == 0);
    CHECK(wb_task_migrations(task) == 0 && task->restarts == 0);
    wb_word_store(&stub.system->cores[1]->state, WB_CORE_UP, WB_SEQ_CST);
    ask();
}

TEST(a_pinned_task_of_any_mode_runs_on)
{
    for (enum wb_mode mode = 0; mode <= WB_RECREATE; mode++) {
        setup(mode);
        task->migratable = false;
        CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_ERR_PINNED);
        wb_checkpoint();
        CHECK(wb_task_core(task) == 0 && !wb_migration_pending(task));
    }
}

TEST(a_task_of_any_mode_that_locked_an_address_runs_on)
{
    for (enum wb_mode mode = 0; mode <= WB_RECREATE; mode++) {
        setup(mode);
        CHECK(wb_lock(&lockable, 0) == WB_OK);
        ask();
        wb_checkpoint();
        expect_refused(WB_ERR_HELD);
    }
}

TEST(a_task_of_any_mode_that_holds_something_of_its_kernel_runs_on)
{
    for (enum wb_mode mode = 0; mode <= WB_RECREATE; mode++) {
        setup(mode);
        stub.depart = WB_ERR_HELD;
        ask();
        wb_checkpoint();
        expect_refused(WB_ERR_HELD);
    }
}

TEST(a_task_of_any_mode_whose_target_is_dead_runs_on)
{
    for (enum wb_mode mode = 0; mode <= WB_RECREATE; mode++) {
        setup(mode);
        CHECK(wb_core_died(stub.system, 1) == 0);
        CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_ERR_GONE);
        wb_checkpoint();
        CHECK(wb_task_core(task) == 0 && !wb_migration_pending(task));
    }
}

TEST(a_task_of_any_mode_whose_target_dies_before_the_checkpoint_runs_on)
{
    for (enum wb_mode mode = 0; mode <= WB_RECREATE; mode++) {
        setup(mode);
        ask();
        stub_leave();
        CHECK(wb_core_died(stub.system, 1) == 0);
        stub_become(0, task);
        wb_checkpoint();
        expect_refused(WB_ERR_GONE);
    }
}

static void target_dies(struct wb_task *away)
{
    CHECK(wb_task_state_of(wb_word_load(&away->owner_state, WB_SEQ_CST)) == WB_TASK_OFFERED);
    stub_leave();
    CHECK(wb_core_died(stub.system, 1) == 0);
    stub_serve(0);
}

TEST(a_task_of_any_mode_whose_target_dies_after_the_checkpoint_runs_on)
{
    for (enum wb_mode mode = 0; mode <= WB_RECREATE; mode++) {
        setup(mode);
        stub.on_away = target_dies;
        ask();
        wb_checkpoint();
        expect_refused(WB_ERR_GONE);
    }
}

static void target_looks(struct wb_task *away)
{
    stub_serve(1);
    CHECK(wb_task_state_of(wb_word_load(&away->owner_state, WB_SEQ_CST)) == WB_TASK_RETURNED);
    stub_serve(0);
}

// One that is handed off needs none there.
TEST(a_task_whose_target_has_no_memory_for_it_runs_on)
{
    for (enum wb_mode mode = WB_REPLICATE; mode <= WB_RECREATE; mode++) {
        setup(mode);
        stub.on_away = target_looks;
        stub.system->config.transport = WB_TRANSPORT_ALIAS;
        ask();
        wb_checkpoint();
        expect_refused(WB_ERR_NOMEM);
    }
}

TEST(a_recreated_task_that_finds_the_transfer_buffer_taken_runs_on)
{
    setup(WB_RECREATE);
    stub.depart = WB_ERR_FULL;  // as wb_recreation_park() says
    ask();
    wb_checkpoint();
    expect_refused(WB_ERR_FULL);
}
