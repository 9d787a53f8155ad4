// SPDX-License-Identifier: Apache-2.0
// with: check.c kernel_stub.c build.c
//
// Re-entry, and systems of two programs: cores 0 and 1 are of the launcher's, 2 and 3 of another.

#include "../src/context/context.h"
#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

static struct wb_system *system_;
static struct wb_task *task;

static int elsewhere(struct wb_task *self)
{
    (void)self;
    return 0;
}

static struct wb_task *add(const char *name, uint32_t core, enum wb_mode mode)
{
    struct wb_task *added = stub_task(name, core);

    added->mode = mode;
    added->restart = true;
    system_->programs[1].entries[added->id] = elsewhere;
    return added;
}

static void open_two(void)
{
    system_ = stub_open(&(struct wb_system_config){ .cores = 4,
                                                    .tasks = 8,
                                                    .channels = 4,
                                                    .ports = 16,
                                                    .core_align = WB_LINE_BYTES,
                                                    .record_migrations = 16,
                                                    .programs = 2,
                                                    .offer_timeout_ns = 1000 });
    for (uint32_t core = 2; core < 4; core++)
        CHECK(wb_core_set_program(system_->cores[core], 1) == WB_OK);
    system_->programs[1].can = WB_CAN_REPLICATE;
}

// A task on `core`, running.
static void start(enum wb_mode mode, uint32_t core)
{
    open_two();
    task = add("task", core, mode);
    stub_start(system_);
    stub_run(task);
}

static uint32_t owner_state(void)
{
    return wb_word_load(&task->owner_state, WB_SEQ_CST);
}

static enum wb_status outcome(void)
{
    return wb_outcome_status(wb_word_load(&task->outcome, WB_SEQ_CST));
}

// It is parked, and offered to `core`.
static void offer_to(uint32_t core)
{
    const uint32_t from = wb_task_core(task);

    CHECK(wb_migration_request(task, core, WB_FOREVER, NULL) == WB_OK);
    CHECK(wb_departure_accept(task));
    stub_become(from, NULL);
    wb_task_departed(task, stub.now_ns, stub.now_ns);
    stub.inits = 0;
}

static void die(uint32_t core)
{
    stub_leave();
    (void)wb_core_died(system_, core);
    for (uint32_t i = 0; i < system_->n_cores; i++)
        if (wb_word_load(&system_->cores[i]->state, WB_SEQ_CST) == WB_CORE_UP)
            stub_serve(i);
}

// As an emulator does: all of its cores at once.
static void die_both(void)
{
    wb_word_store(&system_->cores[2]->state, WB_CORE_DEAD, WB_SEQ_CST);
    wb_word_store(&system_->cores[3]->state, WB_CORE_DEAD, WB_SEQ_CST);
    stub_leave();
    (void)wb_core_died(system_, 2);
    die(3);
}

TEST(a_task_begins_anew_once_its_target_has_it)
{
    start(WB_REENTER, 0);
    offer_to(1);
    CHECK(stub.inits == 0);
    stub_serve(1);
    CHECK(wb_task_core(task) == 1 && stub.inits == 1 && stub.attached == task);
    CHECK(task->restarts == 0);
}

TEST(it_keeps_its_heap_and_its_state)
{
    start(WB_REENTER, 0);
    int *state = wb_malloc(sizeof *state);
    *state = 7;
    wb_task_set_state(task, state);
    const size_t used_bytes = task->heap.used_bytes;
    offer_to(2);
    stub_serve(2);
    CHECK(wb_task_state(task) == state && *state == 7 && task->heap.used_bytes == used_bytes);
}

TEST(one_that_is_taken_back_goes_on_where_it_left)
{
    start(WB_REENTER, 0);
    offer_to(2);
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    stub_serve(2);
    stub_serve(0);
    CHECK(wb_task_core(task) == 0 && stub.inits == 0 && outcome() == WB_ERR_TIMEOUT);
}

TEST(what_it_held_comes_again_and_what_it_claimed_is_given_up)
{
    const void *slot;
    const int message = 5;
    int got = 0;

    open_two();
    task = add("task", 0, WB_REENTER);
    struct wb_channel *channel = stub_channel("stream", 4, 4, false);
    struct wb_port *out = build_port(stub_task("sender", 0), channel, WB_OUT);
    struct wb_port *in = build_port(task, channel, WB_IN);
    stub_start(system_);
    stub_become(0, out->task);
    CHECK(wb_port_send(out, &message, 0) == WB_OK);
    stub_run(task);
    CHECK(wb_port_hold(in, &slot, 0) == WB_OK);
    offer_to(3);
    stub_serve(3);
    stub_become(3, task);
    CHECK(wb_port_receive(in, &got, 0) == WB_OK && got == 5);
}

TEST(a_hand_off_to_another_program_is_refused_before_anything_moves)
{
    start(WB_HANDOFF, 0);
    CHECK(wb_migration_request(task, 2, WB_FOREVER, NULL) == WB_ERR_UNABLE);
    CHECK(!wb_migration_pending(task));
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
}

TEST(a_task_does_not_go_where_it_has_no_function)
{
    start(WB_REENTER, 0);
    system_->programs[1].entries[task->id] = NULL;
    CHECK(wb_migration_request(task, 2, WB_FOREVER, NULL) == WB_ERR_INVAL);
}

TEST(the_function_of_a_task_is_that_of_its_core)
{
    start(WB_REENTER, 0);
    CHECK(wb_task_entry_on(task, system_->cores[1]) == task->entry);
    CHECK(wb_task_entry_on(task, system_->cores[2]) == elsewhere);
}

TEST(a_task_that_starts_on_another_program_gets_its_first_context_there)
{
    open_two();
    task = add("task", 2, WB_HANDOFF);
    CHECK(wb_system_reserve(system_) && wb_system_start(system_, 0) == WB_OK && stub.inits == 0);
    task->kernel[0] = 1;
    stub_serve(2);
    CHECK(stub.inits == 1 && stub.attached == task && task->kernel[0] == 0);
}

TEST(a_kernel_that_cannot_run_it_ends_the_run)
{
    start(WB_REENTER, 0);
    offer_to(2);
    stub.init = WB_ERR_INVAL;
    stub_serve(2);
    CHECK(wb_word_load(&system_->fault.complete, WB_SEQ_CST) == 1 &&
          system_->fault.task == task->id);
}

TEST(a_request_that_was_made_before_its_task_changed_programs_is_refused)
{
    start(WB_HANDOFF, 2);
    CHECK(wb_migration_request(task, 3, WB_FOREVER, NULL) == WB_OK);
    // The request outlives the death of its task's core.
    uint32_t request = wb_word_load(&task->request, WB_SEQ_CST);
    stub_pause(WB_TASK_READY);
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_READY, 0), WB_SEQ_CST);
    wb_word_store(&task->request, request, WB_SEQ_CST);
    stub_run(task);
    wb_checkpoint_enter();
    CHECK(outcome() == WB_ERR_UNABLE && wb_task_core(task) == 0 && !wb_migration_pending(task));
}

// ---- Deaths -------------------------------------------------------------------------------------

TEST(a_blocked_task_of_a_dead_kernel_counts_as_one_that_ran)
{
    start(WB_REENTER, 2);
    stub_pause(WB_TASK_BLOCKED);
    die(2);
    CHECK(task->restarts == 1 && wb_task_core(task) == 3);
}

TEST(a_hand_off_goes_on_where_its_context_is_of_use)
{
    start(WB_HANDOFF, 2);
    stub_pause(WB_TASK_BLOCKED);
    die(2);
    CHECK(task->restarts == 0 && wb_task_core(task) == 3);
}

TEST(and_starts_again_on_another_program_if_that_is_all_there_is)
{
    start(WB_HANDOFF, 2);
    stub_pause(WB_TASK_BLOCKED);
    die_both();
    CHECK(task->restarts == 1 && wb_task_core(task) < 2 && wb_revival(task) == WB_REVIVE_NOT);
}

TEST(one_that_may_not_start_again_is_lost)
{
    start(WB_HANDOFF, 2);
    task->restart = false;
    stub_pause(WB_TASK_BLOCKED);
    die_both();
    CHECK(wb_task_state_of(owner_state()) == WB_TASK_LOST);
}

TEST(one_on_its_way_between_two_dead_cores_starts_again)
{
    start(WB_HANDOFF, 2);
    offer_to(3);
    die_both();
    CHECK(task->restarts == 1 && wb_task_core(task) < 2 && outcome() == WB_ERR_GONE);
}

TEST(one_that_was_to_begin_anew_anyway_loses_nothing_on_its_way)
{
    start(WB_REENTER, 2);
    offer_to(3);
    die_both();
    CHECK(task->restarts == 0 && wb_task_core(task) < 2 && stub.inits == 1);
}

TEST(a_new_task_of_a_dead_program_begins_elsewhere)
{
    open_two();
    task = add("task", 2, WB_HANDOFF);
    task->restart = false;
    CHECK(wb_system_reserve(system_) && wb_system_start(system_, 0) == WB_OK);
    for (uint32_t i = 0; i < 2; i++)
        wb_word_store(&system_->cores[i]->state, WB_CORE_UP, WB_SEQ_CST);
    die_both();
    CHECK(task->restarts == 0 && wb_task_core(task) < 2 && stub.inits == 1);
}

// An emulator that is started anew: what its kernels had is gone.
static void return_both(void)
{
    for (uint32_t i = 2; i < 4; i++)
        system_->cores[i]->returns = true;
    die_both();
    for (uint32_t i = 2; i < 4; i++) {
        wb_word_store(&system_->cores[i]->state, WB_CORE_UP, WB_SEQ_CST);
        stub_serve(i);
    }
}

TEST(a_task_begins_anew_on_a_program_that_does)
{
    for (int blocked = 0; blocked < 2; blocked++) {
        start(blocked != 0 ? WB_HANDOFF : WB_REENTER, 2);
        task->work.not_on = 1;
        for (uint32_t i = 2; i < 4; i++)
            system_->cores[i]->kind = 1;
        if (blocked != 0)
            stub_pause(WB_TASK_BLOCKED);
        return_both();
        CHECK(task->restarts == 1 && wb_task_core(task) == 2 && stub.attached == task);
        CHECK(wb_revival(task) == WB_REVIVE_NOT && stub.inits != 0);
        CHECK(!wb_task_is_foreign(task, system_->cores[2]));
        // And once more.
        stub_run(task);
        return_both();
        CHECK(task->restarts == 2 && wb_task_core(task) == 2);
    }
}

TEST(an_offer_withdrawn_from_a_program_that_begins_anew_has_no_context_there)
{
    start(WB_HANDOFF, 2);
    task->work.not_on = 1;
    for (uint32_t i = 2; i < 4; i++)
        system_->cores[i]->kind = 1;
    offer_to(3);
    wb_migration_cancel(task, WB_ERR_TIMEOUT);
    return_both();
    CHECK(task->restarts == 1 && wb_task_core(task) == 2 && stub.inits == 1);
    CHECK(outcome() == WB_ERR_TIMEOUT);
}

TEST(one_without_a_function_elsewhere_is_lost)
{
    start(WB_HANDOFF, 0);
    system_->programs[1].entries[task->id] = NULL;
    stub_pause(WB_TASK_BLOCKED);
    wb_word_store(&system_->cores[1]->state, WB_CORE_DEAD, WB_SEQ_CST);
    die(0);
    CHECK(wb_task_state_of(owner_state()) == WB_TASK_LOST);
}

TEST(private_memory_is_not_read_across_programs)
{
    start(WB_REPLICATE, 2);
    stub_pause(WB_TASK_BLOCKED);
    die_both();
    CHECK(wb_task_state_of(owner_state()) == WB_TASK_LOST);
}

TEST(the_coordinator_stays_with_the_launchers_program)
{
    open_two();
    stub_start(system_);
    die(0);
    CHECK(wb_core_successor(system_, 0)->index == 1);
    die(1);
    CHECK(wb_core_successor(system_, 1) == NULL);
}

static void sees_kinds(const struct wb_snapshot *s, const int64_t *params, struct wb_decision *d)
{
    (void)params;
    (void)d;
    CHECK(s->tasks[0].not_on == 1u << 1 && s->tasks[1].not_on == 0);
    stub.now_ns = 1;  // it was asked
}

TEST(a_policy_sees_the_kinds_of_cores_where_a_task_cannot_go)
{
    static const struct wb_policy policy = { .name = "sees", .decide = sees_kinds };

    system_ = stub_open(&(struct wb_system_config){ .cores = 2,
                                                    .tasks = 2,
                                                    .core_align = WB_LINE_BYTES,
                                                    .programs = 2,
                                                    .kinds = 2,
                                                    .agent_period_ns = 1000000,
                                                    .offer_timeout_ns = 1000 });
    CHECK(wb_core_set_program(system_->cores[1], 1) == WB_OK);
    CHECK(wb_core_set_kind(system_->cores[1], 1) == WB_OK);
    add("stays", 0, WB_HANDOFF);
    add("goes", 0, WB_REENTER);
    stub_start(system_);
    CHECK(wb_system_set_policy(system_, &policy, NULL) == WB_OK);
    for (uint32_t i = 1; i < 4; i++) {
        stub.now_ns = 0;
        for (uint32_t core = 0; core < 2; core++) {
            stub_become(core, NULL);
            (void)wb_agent_tick(system_->cores[core], (uint64_t)i * 2000000);
        }
    }
    CHECK(stub.now_ns == 1);
}

// ---- What is refused ----------------------------------------------------------------------------

TEST(a_task_that_is_re_entered_keeps_no_images)
{
    struct wb_task *added;

    open_two();
    const struct wb_task_config config = { .name = "task",
                                           .entry = elsewhere,
                                           .heap_bytes = 64,
                                           .mode = WB_REENTER,
                                           .checkpoint_every = 1 };
    CHECK(wb_task_add(system_, &config, &added) == WB_ERR_INVAL);
}

TEST(what_a_core_can_do_is_asked_of_its_program)
{
    struct wb_task *added;

    open_two();
    const struct wb_task_config config = {
        .name = "task", .entry = elsewhere, .heap_bytes = 64, .core = 2, .mode = WB_RECREATE
    };
    CHECK(wb_task_add(system_, &config, &added) == WB_ERR_UNABLE);
}

TEST(a_core_is_of_a_program_that_exists_before_there_are_tasks)
{
    open_two();
    CHECK(wb_core_set_program(system_->cores[0], 2) == WB_ERR_INVAL);
    add("task", 0, WB_HANDOFF);
    CHECK(wb_core_set_program(system_->cores[1], 1) == WB_ERR_INVAL);
    system_ = stub_system(1);
    CHECK(wb_core_set_program(system_->cores[0], 0) == WB_OK);
    CHECK(wb_core_set_program(system_->cores[0], 1) == WB_ERR_INVAL);
}

TEST(a_system_has_no_more_programs_than_cores)
{
    static _Alignas(4096) unsigned char memory[1 << 18];
    struct wb_system *none;

    CHECK(wb_system_init(&none, memory, sizeof memory,
                         &(struct wb_system_config){
                             .cores = 2, .programs = 3, .core_align = WB_LINE_BYTES }) ==
          WB_ERR_INVAL);
}

TEST(two_programs_of_one_build_agree_on_the_layout)
{
    CHECK(wb_layout() != 0 && wb_layout() == wb_layout());
}
