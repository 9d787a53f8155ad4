// SPDX-License-Identifier: Apache-2.0
// Unit tests of migration: withdrawing a request at every step.
// with: check.c build.c kernel_stub.c
#include "check.h"
#include "kernel_stub.h"

static struct wb_task *task, *requester;

static void setup(void)
{
    stub_system(3);
    task = stub_task("task", 0);
    requester = stub_task("requester", 2);
    stub.now_ns = 100;
    stub_start(stub.system);
    stub_run(task);
    stub.attaches = stub.unblocks = 0;
    CHECK(wb_migration_request(task, 1, 5000, requester) == WB_OK);
}

static enum wb_task_state state(void)
{
    return wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST));
}

static enum wb_status outcome(void)
{
    return wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST));
}

static bool stayed(enum wb_status why)
{
    return !wb_migration_pending(task) && outcome() == why && wb_task_core(task) == 0;
}

TEST(a_request_withdrawn_before_the_checkpoint_is_never_seen)
{
    setup();
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    CHECK(stayed(WB_ERR_TIMEOUT) && !wb_checkpoint_wanted(task));
    wb_checkpoint();
    CHECK(stayed(WB_ERR_TIMEOUT) && state() == WB_TASK_RUNNING);
}

TEST(whoever_asked_is_woken_when_it_is_withdrawn)
{
    setup();
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    CHECK(stub_serve(2) == 1 && stub.unblocked == requester);
}

TEST(withdrawing_without_a_request_does_nothing)
{
    setup();
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    wb_migration_cancel(task, WB_ERR_GONE);
    CHECK(stayed(WB_ERR_TIMEOUT));
}

static void withdraw_too_early(void)
{
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    CHECK(wb_migration_pending(task) && state() == WB_TASK_RUNNING);
}

static void take_it(struct wb_task *away)
{
    (void)away;
    CHECK(stub_serve(1) == 1 && stub.attached == task);
}

TEST(between_checkpoint_and_offer_nobody_can_withdraw)
{
    setup();
    stub.on_depart = withdraw_too_early;
    stub.on_away = take_it;
    wb_checkpoint();
    CHECK(outcome() == WB_OK && wb_task_core(task) == 1);
}

static void withdraw_the_offer(struct wb_task *away)
{
    (void)away;
    CHECK(state() == WB_TASK_OFFERED);
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    CHECK(state() == WB_TASK_RETURNED && wb_migration_pending(task));
    CHECK(stub_serve(1) == 1 && stub.attaches == 0);  // the target comes too late
    CHECK(stub_serve(0) == 1 && stub.attached == task);
    CHECK(state() == WB_TASK_READY && stayed(WB_ERR_TIMEOUT));
}

TEST(a_withdrawn_offer_goes_back_to_its_source_with_the_reason)
{
    struct wb_migration m;

    setup();
    stub.on_away = withdraw_the_offer;
    wb_checkpoint();
    CHECK(stub.core == 0 && state() == WB_TASK_RUNNING && stayed(WB_ERR_TIMEOUT));
    CHECK(wb_counter_get(&task->stats.refused) == 1 && wb_task_migrations(task) == 0);
    CHECK(wb_ring_take(&stub.system->cores[0]->record.migrations, &m));
    CHECK(m.status == WB_ERR_TIMEOUT && m.parked_ns == 100 && m.attached_ns == 0);
}

static void withdraw_twice(struct wb_task *away)
{
    (void)away;
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    wb_migration_cancel(task, WB_ERR_GONE);
    CHECK(stub_serve(0) == 1);
}

TEST(the_first_reason_stands)
{
    setup();
    stub.on_away = withdraw_twice;
    wb_checkpoint();
    CHECK(stayed(WB_ERR_TIMEOUT));
}

static void take_it_then_withdraw(struct wb_task *away)
{
    take_it(away);
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    CHECK(state() == WB_TASK_READY && wb_task_core(task) == 1);
    CHECK(stub_serve(0) <= 1 && stub.attaches == 1);
}

TEST(who_comes_too_late_to_withdraw_changes_nothing)
{
    setup();
    stub.on_away = take_it_then_withdraw;
    wb_checkpoint();
    CHECK(outcome() == WB_OK && wb_task_core(task) == 1);
}

static void pass_the_old_deadline(struct wb_task *away)
{
    wb_system_sweep(stub.system, 5100);
    CHECK(state() == WB_TASK_OFFERED);
    take_it(away);
}

TEST(a_request_has_a_deadline_of_its_own)
{
    setup();
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    stub.now_ns = 4500;
    CHECK(wb_migration_request(task, 1, 5000, NULL) == WB_OK);
    stub.on_away = pass_the_old_deadline;
    wb_checkpoint();
    CHECK(outcome() == WB_OK);
}

TEST(after_a_withdrawal_the_task_can_move)
{
    setup();
    stub.on_away = withdraw_the_offer;
    wb_checkpoint();
    stub.on_away = take_it;
    CHECK(wb_migration_request(task, 1, 5000, NULL) == WB_OK);
    wb_checkpoint();
    CHECK(outcome() == WB_OK && wb_task_core(task) == 1);
}

// ---- Sweeps -------------------------------------------------------------------------------------

TEST(a_sweep_withdraws_a_request_when_it_is_overdue_and_not_before)
{
    setup();
    wb_system_sweep(stub.system, 5099);
    CHECK(wb_migration_pending(task));
    wb_system_sweep(stub.system, 5100);
    CHECK(stayed(WB_ERR_TIMEOUT));
}

TEST(a_request_for_ever_is_never_overdue)
{
    setup();
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
    wb_system_sweep(stub.system, UINT64_MAX - 1);
    CHECK(wb_migration_pending(task));
}

static void sweep_the_offer(struct wb_task *away)
{
    (void)away;
    wb_system_sweep(stub.system, stub.now_ns + 999);
    CHECK(state() == WB_TASK_OFFERED);
    wb_system_sweep(stub.system, stub.now_ns + 1000);
    CHECK(state() == WB_TASK_RETURNED);
    CHECK(stub_serve(0) == 1);
}

TEST(a_target_that_does_not_take_it_in_time_loses_the_offer)
{
    setup();
    stub.on_away = sweep_the_offer;
    wb_checkpoint();
    CHECK(stayed(WB_ERR_TIMEOUT));
}

TEST(a_sweep_withdraws_what_goes_to_a_dead_core)
{
    setup();
    wb_word_store(&stub.system->cores[1]->state, WB_CORE_DEAD, WB_SEQ_CST);
    wb_system_sweep(stub.system, stub.now_ns);
    CHECK(stayed(WB_ERR_GONE));
}

static uint32_t swept_after(void)
{
    wb_system_sweep(stub.system, 0);
    return wb_word_load(&stub.system->sweep, WB_SEQ_CST);
}

TEST(a_sweep_looks_at_tasks_while_a_request_is_under_way_and_after_a_death)
{
    setup();
    CHECK(swept_after() == WB_SWEEP_REQUESTS);
    CHECK(wb_migration_request(task, 1, 5000, NULL) == WB_ERR_BUSY);
    CHECK(swept_after() == WB_SWEEP_REQUESTS);
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    CHECK(swept_after() == 0);
    CHECK(wb_migration_request(task, 1, 5000, NULL) == WB_OK);
    CHECK(swept_after() == WB_SWEEP_REQUESTS);
    stub.on_away = take_it;
    wb_checkpoint();
    CHECK(outcome() == WB_OK && swept_after() == 0);
    CHECK(wb_core_died(stub.system, 2) == 0 && swept_after() == WB_SWEEP_DEATHS);
}

static void take_it_back(struct wb_task *away)
{
    (void)away;
    CHECK(state() == WB_TASK_RETURNED);
    CHECK(stub_serve(0) == 1);
}

TEST(a_task_that_departs_for_a_dead_core_comes_back)
{
    setup();
    wb_word_store(&stub.system->cores[1]->state, WB_CORE_DEAD, WB_SEQ_CST);
    stub.on_away = take_it_back;
    wb_checkpoint();
    CHECK(stayed(WB_ERR_GONE) && state() == WB_TASK_RUNNING);
}
