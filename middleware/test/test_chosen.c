// SPDX-License-Identifier: Apache-2.0
// Tasks that several cores share: their place follows who chooses them.
// with: check.c build.c kernel_stub.c
#include "check.h"
#include "kernel_stub.h"

enum { STACK_BYTES = 64, ALL = 7, FIRST_AND_LAST = 5 };

static unsigned char stack[STACK_BYTES];
static struct wb_task *task, *other;

static int never_runs(struct wb_task *self)
{
    (void)self;
    return 0;
}

static const struct wb_task_config good = { .name = "task",
                                            .cores = ALL,
                                            .entry = never_runs,
                                            .migratable = true,
                                            .stack = stack,
                                            .stack_bytes = sizeof stack,
                                            .heap_bytes = 4096 };

static void open_shared(void)
{
    stub_system(3);
    stub.shares = true;
    stub.system->shares = true;
}

static void setup(uint32_t cores)
{
    struct wb_task_config config = good;

    open_shared();
    config.cores = cores;
    CHECK(wb_task_add(stub.system, &config, &task) == WB_OK);
    other = stub_task("other", 1);
    stub.now_ns = 100;
    stub_start(stub.system);
    stub_run(task);
    stub.attaches = stub.unblocks = 0;
}

static bool is_at(enum wb_task_state state, uint32_t core)
{
    return wb_word_load(&task->owner_state, WB_SEQ_CST) == wb_owner_state(state, core);
}

static bool has_note(uint32_t core)
{
    return wb_word_load(&stub.system->cores[core]->inbox.summary, WB_SEQ_CST) != 0;
}

static void choose(uint32_t core)
{
    stub_become(core, NULL);
    wb_task_chosen(task, core, stub.now_ns);
}

TEST(who_chooses_a_shared_task_is_its_owner)
{
    struct wb_event event, last = { 0 };

    setup(ALL);
    CHECK(!wb_task_stays(task) && wb_task_stays(other));
    stub_pause(WB_TASK_BLOCKED);
    choose(2);
    CHECK(is_at(WB_TASK_READY, 2) && wb_counter_get(&task->stats.chosen) == 1);
    wb_task_resumed(task, 200);
    CHECK(is_at(WB_TASK_RUNNING, 2) && wb_task_migrations(task) == 0);
    while (wb_ring_take(&stub.system->cores[2]->record.events, &event))
        if (event.kind == WB_EVENT_ATTACH)
            last = event;
    CHECK(last.kind == WB_EVENT_ATTACH && last.object == 0 && last.core == 2);
}

TEST(a_task_wakes_another_on_any_core_without_a_note)
{
    setup(ALL);
    stub_serve(1);
    wb_task_wake(other);
    CHECK(stub.unblocked == other && !has_note(1));
    // Who is no task leaves one: a launcher interrupts a kernel anywhere.
    stub_leave();
    stub.unblocked = NULL;
    wb_task_wake(other);
    CHECK(stub.unblocked == NULL && has_note(1));
}

TEST(a_note_follows_a_task_to_the_core_that_has_chosen_it)
{
    setup(ALL);
    stub_pause(WB_TASK_BLOCKED);
    stub_leave();
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
    choose(2);
    wb_task_resumed(task, 200);
    stub_serve(0);
    CHECK(stub.unblocks == 0 && has_note(2));
    stub_serve(2);
    CHECK(stub.unblocks == 1 && wb_checkpoint_wanted(task));
}

TEST(a_dead_cores_shared_task_is_whose_choice_is_first)
{
    setup(ALL);
    stub_pause(WB_TASK_BLOCKED);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    CHECK(wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == WB_TASK_OFFERED);
    choose(2);
    CHECK(is_at(WB_TASK_READY, 2));
    stub_serve(1);
    CHECK(is_at(WB_TASK_READY, 2) && stub.attaches == 0 && task->restarts == 0);
}

TEST(a_dead_cores_shared_task_goes_to_one_that_shares_it)
{
    setup(FIRST_AND_LAST);
    stub_pause(WB_TASK_READY);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 0);
    CHECK(wb_target_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == 2);
    stub_serve(2);
    CHECK(is_at(WB_TASK_READY, 2) && stub.attached == task && !wb_task_stays(task));
    // The last of them: whoever is left.
    stub_leave();
    CHECK(wb_core_died(stub.system, 2) == 0);
    CHECK(wb_target_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) == 1);
}

// Its next core has accepted a request at a checkpoint there while recovery looks at its old place.
TEST(a_request_that_a_living_core_may_have_accepted_is_left_alone)
{
    setup(ALL);
    stub_pause(WB_TASK_READY);
    stub_leave();
    CHECK(wb_migration_request(task, 1, WB_FOREVER, NULL) == WB_OK);
    CHECK(wb_departure_accept(task));
    CHECK(wb_core_died(stub.system, 0) == 0);
    CHECK(wb_departure_is_due(task));
}

static enum wb_status add(struct wb_task_config config)
{
    open_shared();
    return wb_task_add(stub.system, &config, &task);
}

TEST(cores_that_do_not_fit_a_task_are_refused)
{
    struct wb_task_config bad = good;

    CHECK(add(good) == WB_OK);
    bad.cores = 6;  // without its own
    CHECK(add(bad) == WB_ERR_INVAL);
    bad.cores = 9;  // core 3 is not there
    CHECK(add(bad) == WB_ERR_INVAL);
    bad = good;
    bad.migratable = false;
    CHECK(add(bad) == WB_ERR_INVAL);
    bad = good;
    bad.mode = WB_REPLICATE;
    CHECK(add(bad) == WB_ERR_INVAL);
    open_shared();
    stub.cannot = WB_CAN_SHARE;
    CHECK(wb_task_add(stub.system, &good, &task) == WB_ERR_UNABLE);
}

TEST(a_single_core_is_no_choice)
{
    struct wb_task_config config = good;

    config.cores = 1;
    stub_system(3);
    CHECK(wb_task_add(stub.system, &config, &task) == WB_OK && wb_task_stays(task));
}
