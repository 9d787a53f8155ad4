// SPDX-License-Identifier: Apache-2.0
// Unit tests of migration: refusals, and each phase of a hand-off that succeeds.
// with: check.c build.c kernel_stub.c
#include <string.h>

#include "../src/move/move.h"
#include "check.h"
#include "kernel_stub.h"

static struct wb_task *task, *other, *pinned, *next;
static struct wb_channel *channel;
static struct wb_port *out;

static void setup(void)
{
    stub_system(3);
    task = stub_task("task", 0);
    other = stub_task("other", 1);
    pinned = stub_task("pinned", 0);
    next = stub_task("next", 0);
    pinned->migratable = false;
    channel = stub_channel("c", 4, 4, false);
    out = build_port(task, channel, WB_OUT);
    build_port(other, channel, WB_IN);
    stub.now_ns = 100;
    stub_start(stub.system);
    stub_run(task);
}

static enum wb_status request(uint32_t core)
{
    return wb_migration_request(task, core, 5000, NULL);
}

static enum wb_task_state state(void)
{
    return wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST));
}

static enum wb_status outcome(void)
{
    return wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST));
}

static bool last_record(struct wb_migration *migration)
{
    for (uint32_t i = 0; i < stub.system->n_cores; i++)
        if (wb_ring_take(&stub.system->cores[i]->record.migrations, migration))
            return true;
    return wb_ring_take(&stub.system->record.migrations, migration);
}

// ---- Refusals -----------------------------------------------------------------------------------

TEST(a_core_that_does_not_exist_is_refused)
{
    setup();
    CHECK(request(3) == WB_ERR_INVAL && request(UINT32_MAX) == WB_ERR_INVAL);
    CHECK(wb_migrate(task, 3, 1000) == WB_ERR_INVAL);
}

TEST(a_pinned_task_is_refused_but_may_stay_where_it_is)
{
    setup();
    CHECK(wb_migration_request(pinned, 1, 1000, NULL) == WB_ERR_PINNED);
    CHECK(wb_migrate(pinned, 1, 1000) == WB_ERR_PINNED);
    CHECK(wb_migrate(pinned, 0, 1000) == WB_OK);
}

TEST(a_dead_or_stopped_target_is_refused)
{
    setup();
    wb_word_store(&stub.system->cores[2]->state, WB_CORE_DEAD, WB_SEQ_CST);
    CHECK(request(2) == WB_ERR_GONE);
    wb_word_store(&stub.system->cores[2]->state, WB_CORE_STOPPED, WB_SEQ_CST);
    CHECK(request(2) == WB_ERR_GONE);
    wb_word_store(&stub.system->cores[2]->state, WB_CORE_DOWN, WB_SEQ_CST);
    CHECK(request(2) == WB_OK);
}

TEST(a_second_request_is_refused_while_one_is_under_way)
{
    setup();
    CHECK(!wb_migration_pending(task));
    CHECK(request(1) == WB_OK && wb_migration_pending(task));
    CHECK(request(2) == WB_ERR_BUSY);
    CHECK(wb_migrate(task, 2, 1000) == WB_ERR_BUSY);
    CHECK(wb_request_core(wb_word_load(&task->request, WB_SEQ_CST)) == 1);
}

TEST(a_task_that_is_over_is_gone)
{
    setup();
    stub_pause(WB_TASK_ENDED);
    CHECK(request(1) == WB_OK);
    CHECK(!wb_migration_pending(task) && outcome() == WB_ERR_GONE);
    stub_run(other);
    CHECK(wb_migrate(task, 2, 1000) == WB_ERR_GONE);
    CHECK(wb_migrate(task, 0, 1000) == WB_ERR_GONE);
}

TEST(a_task_that_ends_first_is_gone)
{
    setup();
    CHECK(request(1) == WB_OK);
    stub_pause(WB_TASK_ENDED);
    CHECK(!wb_migration_pending(task) && outcome() == WB_ERR_GONE);
}

TEST(a_task_that_is_deleted_at_its_checkpoint_is_gone)
{
    setup();
    CHECK(request(1) == WB_OK);
    CHECK(wb_departure_accept(task));
    stub_pause(WB_TASK_ENDED);
    CHECK(!wb_migration_pending(task) && outcome() == WB_ERR_GONE);
}

TEST(a_task_that_holds_something_stays_and_goes_on)
{
    struct wb_migration m;

    setup();
    stub.depart = WB_ERR_HELD;
    CHECK(request(1) == WB_OK);
    wb_checkpoint();
    CHECK(!wb_migration_pending(task) && outcome() == WB_ERR_HELD);
    CHECK(wb_task_core(task) == 0 && state() == WB_TASK_RUNNING);
    CHECK(wb_counter_get(&task->stats.refused) == 1 && wb_task_migrations(task) == 0);
    CHECK(last_record(&m) && m.status == WB_ERR_HELD && m.parked_ns == 0);
}

// ---- A hand-off, phase by phase -----------------------------------------------------------------

static void target_takes_it(struct wb_task *away)
{
    CHECK(away == task && state() == WB_TASK_OFFERED);
    CHECK(wb_target_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == 1 &&
          wb_task_core(task) == 0);
    stub.now_ns += 20;
    CHECK(stub_serve(1) == 1 && stub.attached == task);
    CHECK(state() == WB_TASK_READY && wb_task_core(task) == 1);
    CHECK(wb_migration_pending(task));
    stub.now_ns += 30;
}

TEST(a_request_rings_the_source_and_is_seen_by_it)
{
    setup();
    stub.rings[0] = 0;
    CHECK(!wb_checkpoint_wanted(task));
    CHECK(request(1) == WB_OK);
    CHECK(stub.rings[0] == 1 && wb_checkpoint_wanted(task));
    CHECK(stub_serve(0) == 1 && state() == WB_TASK_RUNNING);
}

TEST(each_phase_is_timed)
{
    struct wb_migration m;

    setup();
    CHECK(request(1) == WB_OK);
    stub.now_ns = 110;
    stub.on_away = target_takes_it;
    wb_checkpoint();
    CHECK(stub.core == 1 && state() == WB_TASK_RUNNING && !wb_migration_pending(task));
    CHECK(outcome() == WB_OK && wb_task_migrations(task) == 1);
    CHECK(!last_record(&m));  // its first output is still to come
    stub.now_ns = 200;
    CHECK(wb_port_send(out, &(uint32_t){ 0 }, 0) == WB_OK);
    CHECK(last_record(&m) && m.status == WB_OK && m.task == task->id);
    CHECK(m.source == 0 && m.target == 1);
    CHECK(m.request_ns == 100 && m.parked_ns == 110 && m.attached_ns == 130);
    CHECK(m.running_ns == 160 && m.output_ns == 200);
}

TEST(a_migration_without_output_is_recorded_at_the_next_one_or_the_end)
{
    struct wb_migration m;

    setup();
    stub.on_away = target_takes_it;
    CHECK(request(1) == WB_OK);
    wb_checkpoint();
    CHECK(!last_record(&m));
    stub_pause(WB_TASK_ENDED);
    CHECK(last_record(&m) && m.status == WB_OK && m.output_ns == 0);
}

static void core_2_takes_it(struct wb_task *away)
{
    CHECK(stub_serve(2) == 1 && stub.attached == away);
}

TEST(a_task_without_outputs_is_settled_by_what_it_receives)
{
    struct wb_migration m;
    uint32_t message = 7;

    setup();
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    stub_run(other);
    stub.on_away = core_2_takes_it;
    CHECK(wb_migration_request(other, 2, 5000, NULL) == WB_OK);
    wb_checkpoint();
    stub.now_ns = 333;
    CHECK(wb_port_receive(wb_port_find_any(other, "in", 0), &message, 0) == WB_OK);
    CHECK(last_record(&m) && m.task == other->id && m.output_ns == 333);
}

TEST(a_checkpoint_without_a_request_stays)
{
    setup();
    wb_checkpoint();
    CHECK(stub.core == 0 && state() == WB_TASK_RUNNING && stub.yields == 1);
    CHECK(stub.floor == wb_own_priority(task) + 1);
}

// Preemptive kernels switch tasks also between a checkpoint and the departure.
static void is_preempted(void)
{
    stub_pause(WB_TASK_READY);
    stub_run(task);
    CHECK(wb_migration_pending(task) && wb_task_migrations(task) == 0);
}

TEST(a_task_preempted_at_its_checkpoint_still_moves)
{
    setup();
    stub.on_depart = is_preempted;
    stub.on_away = target_takes_it;
    CHECK(request(1) == WB_OK);
    wb_checkpoint();
    CHECK(wb_task_core(task) == 1 && outcome() == WB_OK && wb_task_migrations(task) == 1);
}

// ---- wb_migrate ---------------------------------------------------------------------------------

TEST(a_task_moves_itself_inside_the_call)
{
    setup();
    stub.on_away = target_takes_it;
    CHECK(wb_migrate(task, 1, 5000) == WB_OK);
    CHECK(stub.core == 1 && wb_task_core(task) == 1);
    CHECK(wb_migrate(task, 1, 5000) == WB_OK && wb_task_migrations(task) == 1);
}

static void the_other_one_moves(uint64_t until_ns)
{
    (void)until_ns;
    stub_become(0, task);
    stub.on_away = target_takes_it;
    wb_checkpoint();
    stub_become(1, other);
    stub_serve(1);
}

TEST(a_requester_is_woken_at_the_end)
{
    setup();
    stub_run(other);
    stub.on_block = the_other_one_moves;
    CHECK(wb_migrate(task, 1, 5000) == WB_OK);
    CHECK(stub.blocks == 1 && stub.unblocked == other);
}

static void it_moves_and_is_asked_to_move_again(uint64_t until_ns)
{
    the_other_one_moves(until_ns);
    stub.on_block = NULL;
    CHECK(request(2) == WB_OK);
    wb_migration_cancel(task, WB_ERR_HELD);
    CHECK(outcome() == WB_ERR_HELD);
    CHECK(request(2) == WB_OK);
}

TEST(a_requester_is_told_its_own_outcome_though_others_ask_next)
{
    setup();
    stub_run(other);
    stub.on_block = it_moves_and_is_asked_to_move_again;
    CHECK(wb_migrate(task, 1, 5000) == WB_OK);
    CHECK(stub.blocks == 1);
    CHECK(wb_migration_pending(task));
}

TEST(a_requester_withdraws_what_is_overdue)
{
    setup();
    stub_run(other);
    stub.now_ns = 1000;
    CHECK(wb_migrate(task, 1, 2500000) == WB_ERR_TIMEOUT);
    CHECK(stub.now_ns >= 2501000 && stub.now_ns < 3600000);
    CHECK(!wb_migration_pending(task) && wb_task_core(task) == 0);
}

TEST(request_numbers_wrap)
{
    setup();
    wb_word_store(&task->request, wb_request(WB_REQUEST_NONE, 0, 0xffff), WB_SEQ_CST);
    stub.on_away = target_takes_it;
    CHECK(wb_migrate(task, 1, 5000) == WB_OK);
    CHECK(wb_request_number(wb_word_load(&task->request, WB_SEQ_CST)) == 0);
}

static void is_taken_and_does_not_run(uint64_t until_ns)
{
    stub.now_ns = until_ns;
    if (wb_task_core(task) == 1)
        return;
    stub_become(0, NULL);
    const uint32_t request_word = wb_word_load(&task->request, WB_SEQ_CST);
    wb_word_store(&task->request,
                  wb_request(WB_REQUEST_ACCEPTED, 1, wb_request_number(request_word)), WB_SEQ_CST);
    wb_task_departed(task, stub.now_ns, stub.now_ns);
    stub_serve(1);
    stub_become(2, other);
}

TEST(a_requester_does_not_wait_for_the_first_run_beyond_its_time)
{
    setup();
    stub_run(other);
    stub.on_block = is_taken_and_does_not_run;
    CHECK(wb_migrate(task, 1, 5000000) == WB_OK);
    CHECK(stub.now_ns < 8000000 && wb_migration_pending(task));
    stub_run(task);
    CHECK(!wb_migration_pending(task) && outcome() == WB_OK);
}

static void the_next_is_refused_and_then_the_first_runs(uint64_t until_ns)
{
    (void)until_ns;
    stub_run(next);
    stub.depart = WB_ERR_HELD;
    wb_checkpoint();
    stub_pause(WB_TASK_READY);
    CHECK(!wb_migration_pending(next) && wb_migration_pending(task));
    stub_run(task);
    CHECK(!wb_migration_pending(task) && outcome() == WB_OK);
    stub_become(1, other);
    stub_serve(1);
}

TEST(a_requester_is_not_told_the_late_end_of_the_migration_that_it_asked_for_before)
{
    setup();
    stub_run(other);
    stub.on_block = is_taken_and_does_not_run;
    CHECK(wb_migrate(task, 1, 5000000) == WB_OK && wb_migration_pending(task));
    stub.on_block = the_next_is_refused_and_then_the_first_runs;
    CHECK(wb_migrate(next, 2, 5000000) == WB_ERR_HELD);
    CHECK(wb_task_core(next) == 0);
}

// ---- Whoever is no task -------------------------------------------------------------------------

static uint32_t begin(uint32_t core)
{
    uint32_t number;

    CHECK(wb_migration_begin(task, core, 5000, &number) == WB_OK);
    CHECK(wb_migration_outcome(task, number) == WB_ERR_EMPTY);
    return number;
}

static void refuse(void)
{
    stub.depart = WB_ERR_HELD;
    wb_checkpoint();
    stub.depart = WB_OK;
}

TEST(an_outcome_is_told_by_the_number_of_its_request)
{
    setup();
    stub.on_away = target_takes_it;
    const uint32_t first = begin(1);
    wb_checkpoint();
    CHECK(wb_migration_outcome(task, first) == WB_OK);
    const uint32_t second = begin(2);
    refuse();
    CHECK(wb_migration_outcome(task, second) == WB_ERR_HELD);
    CHECK(wb_migration_outcome(task, first) == WB_ERR_BUSY);
}

TEST(what_policies_and_tasks_ask_for_next_leaves_the_outcome_as_it_is)
{
    setup();
    stub.on_away = target_takes_it;
    const uint32_t number = begin(1);
    wb_checkpoint();
    CHECK(wb_migration_ask(task, 2, 5000, WB_BY_POLICY) == WB_OK);
    refuse();
    CHECK(!wb_migration_pending(task) && wb_migration_outcome(task, number) == WB_OK);
    stub.depart = WB_ERR_HELD;
    CHECK(wb_migrate(task, 2, 5000) == WB_ERR_HELD);
    CHECK(wb_migration_outcome(task, number) == WB_OK);
}

TEST(nobody_withdraws_the_request_of_another_by_its_number)
{
    setup();
    const uint32_t first = begin(1);
    refuse();
    const uint32_t second = begin(1);
    wb_migration_withdraw(task, first, WB_ERR_TIMEOUT);
    CHECK(wb_migration_pending(task));
    wb_migration_withdraw(task, second, WB_ERR_TIMEOUT);
    CHECK(wb_migration_outcome(task, second) == WB_ERR_TIMEOUT);
}

TEST(a_request_that_is_refused_has_no_number_and_spoils_no_outcome)
{
    uint32_t number = 77;

    setup();
    const uint32_t first = begin(1);
    CHECK(wb_migration_begin(task, 2, 5000, &number) == WB_ERR_BUSY);
    CHECK(wb_migration_begin(pinned, 1, 5000, &number) == WB_ERR_PINNED);
    CHECK(wb_migration_begin(task, 3, 5000, &number) == WB_ERR_INVAL);
    refuse();
    CHECK(wb_migration_outcome(task, first) == WB_ERR_HELD);
}
