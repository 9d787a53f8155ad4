// SPDX-License-Identifier: Apache-2.0
// Unit tests of inboxes and agents.
// with: check.c build.c kernel_stub.c
#include <stdio.h>

#include "check.h"
#include "kernel_stub.h"

static struct wb_task *task;

static void setup(void)
{
    stub_system(3);
    task = stub_task("task", 1);
    stub_start(stub.system);
    stub.attaches = stub.unblocks = 0;
}

static struct wb_core *core(uint32_t index)
{
    return stub.system->cores[index];
}

static void set_owner_state(enum wb_task_state state, uint32_t owner)
{
    wb_word_store(&task->owner_state, wb_owner_state(state, owner), WB_SEQ_CST);
}

TEST(a_note_rings_its_core_and_is_served_once)
{
    setup();
    stub.rings[1] = 0;
    set_owner_state(WB_TASK_BLOCKED, 1);
    wb_inbox_post(core(1), task->id);
    CHECK(stub.rings[1] == 1 && wb_word_load(&core(1)->inbox.summary, WB_SEQ_CST) != 0);
    CHECK(stub_serve(1) == 1 && stub.unblocked == task);
    CHECK(wb_word_load(&core(1)->inbox.summary, WB_SEQ_CST) == 0 && stub_serve(1) == 0);
    CHECK(stub.unblocks == 1);
    CHECK(wb_counter_get(&core(1)->stats.notes) == 2);  // with the one that started it
}

TEST(notes_about_one_task_coalesce)
{
    setup();
    set_owner_state(WB_TASK_BLOCKED, 1);
    for (int i = 0; i < 5; i++)
        wb_inbox_post(core(1), task->id);
    CHECK(stub_serve(1) == 1 && stub.unblocks == 1);
}

TEST(a_repeated_doorbell_serves_nothing)
{
    setup();
    wb_word_init(&core(1)->inbox.summary, 1);
    CHECK(stub_serve(1) == 0 && stub.unblocks == 0 && stub.attaches == 0);
}

TEST(repeated_notes_do_no_harm_in_any_state)
{
    for (int state = WB_TASK_READY; state <= WB_TASK_LOST; state++) {
        setup();
        if (state == WB_TASK_RETURNED)
            continue;  // taken back once: test_withdraw.c
        set_owner_state((enum wb_task_state)state, 1);
        for (int i = 0; i < 3; i++) {
            wb_inbox_post(core(1), task->id);
            CHECK(stub_serve(1) == 1);
        }
        CHECK(wb_task_state_of(wb_word_load(&task->owner_state, WB_SEQ_CST)) ==
              (enum wb_task_state)state);
        CHECK(stub.attaches == 0);
        CHECK(stub.unblocks == (state <= WB_TASK_BLOCKED ? 3u : 0u));
    }
}

TEST(a_new_task_is_attached_once)
{
    setup();
    set_owner_state(WB_TASK_NEW, 1);
    for (int i = 0; i < 2; i++) {
        wb_inbox_post(core(1), task->id);
        CHECK(stub_serve(1) == 1);
    }
    CHECK(stub.attaches == 1 && stub.attached == task && stub.unblocks == 1);
}

TEST(a_note_at_a_core_that_the_task_has_left_is_passed_on)
{
    setup();
    set_owner_state(WB_TASK_BLOCKED, 2);
    wb_inbox_post(core(0), task->id);
    CHECK(stub_serve(0) == 1 && stub.unblocks == 0);
    CHECK(stub_serve(2) == 1 && stub.unblocked == task);
}

TEST(a_note_about_a_task_that_is_over_is_not_passed_on)
{
    setup();
    set_owner_state(WB_TASK_ENDED, 2);
    wb_inbox_post(core(0), task->id);
    CHECK(stub_serve(0) == 1 && stub_serve(2) == 0);
}

TEST(only_the_target_of_an_offer_attaches_it)
{
    setup();
    wb_word_store(&task->owner_state, wb_owner_state_offer(1, 2, 0), WB_SEQ_CST);
    wb_inbox_post(core(0), task->id);
    wb_inbox_post(core(1), task->id);
    CHECK(stub_serve(0) == 1 && stub_serve(1) == 1);
    CHECK(stub.attaches == 0 && stub.unblocks == 0);
    wb_inbox_post(core(2), task->id);
    CHECK(stub_serve(2) == 1 && stub.attached == task && wb_task_core(task) == 2);
}

TEST(waking_posts_to_the_owner_from_anywhere)
{
    setup();
    set_owner_state(WB_TASK_BLOCKED, 1);
    wb_task_wake(task);
    CHECK(stub_serve(1) == 1);
    stub_become(0, task);
    wb_task_wake(task);
    CHECK(stub_serve(1) == 1 && stub.unblocks == 2);
}

TEST(the_kernel_itself_wakes_by_a_note)
{
    setup();
    set_owner_state(WB_TASK_BLOCKED, 1);
    stub_become(1, NULL);
    wb_task_wake(task);
    CHECK(stub.unblocks == 0);
    CHECK(stub_serve(1) == 1 && stub.unblocks == 1);
}

// ---- A kernel that serves in its switch ---------------------------------------------------------

static bool admit(uint32_t index)
{
    stub_become(index, NULL);
    const bool left = wb_agent_admit(core(index));
    stub_leave();
    return left;
}

TEST(a_wake_is_admitted)
{
    setup();
    set_owner_state(WB_TASK_BLOCKED, 1);
    wb_inbox_post(core(1), task->id);
    CHECK(!admit(1) && stub.unblocked == task);
    CHECK(wb_word_load(&core(1)->inbox.summary, WB_SEQ_CST) == 0 && stub_serve(1) == 0);
    CHECK(!admit(1) && stub.unblocks == 1);
}

TEST(a_task_that_is_handed_off_is_admitted)
{
    setup();
    wb_word_store(&task->owner_state, wb_owner_state_offer(1, 2, 0), WB_SEQ_CST);
    wb_inbox_post(core(2), task->id);
    CHECK(!admit(2) && stub.attached == task && wb_task_core(task) == 2);
}

// What takes longer stays where it is, for wb_agent_serve().
static void expect_left(uint32_t at)
{
    wb_inbox_post(core(at), task->id);
    CHECK(admit(at) && admit(at));
    CHECK(stub.attaches == 0 && stub.unblocks == 0);
    CHECK(stub_serve(at) == 1 && !admit(at));
}

TEST(what_is_not_brief_is_left_for_the_agent)
{
    setup();
    set_owner_state(WB_TASK_NEW, 1);
    expect_left(1);
    setup();
    set_owner_state(WB_TASK_ENDED, 1);
    expect_left(1);
    setup();
    set_owner_state(WB_TASK_BLOCKED, 2);
    expect_left(1);
    setup();
    set_owner_state(WB_TASK_BLOCKED, 1);
    wb_word_add(&task->sync.reevaluations, 1, WB_SEQ_CST);
    expect_left(1);
    setup();
    wb_word_store(&task->revive, WB_REVIVE_ENTRY, WB_SEQ_CST);
    wb_word_store(&task->owner_state, wb_owner_state_offer(1, 2, 0), WB_SEQ_CST);
    expect_left(2);
}

TEST(one_note_is_admitted_and_the_others_are_left)
{
    stub_system(1);
    struct wb_task *tasks[] = { stub_task("a", 0), stub_task("b", 0) };

    stub_start(stub.system);
    stub.unblocks = 0;
    for (int i = 0; i < 2; i++) {
        wb_word_store(&tasks[i]->owner_state, wb_owner_state(WB_TASK_BLOCKED, 0), WB_SEQ_CST);
        wb_inbox_post(core(0), tasks[i]->id);
    }
    CHECK(admit(0) && stub.unblocks == 1 && stub.unblocked == tasks[0]);
    CHECK(stub_serve(0) == 1 && stub.unblocks == 2 && stub.unblocked == tasks[1]);
}

// ---- Many tasks ---------------------------------------------------------------------------------

static int never_runs(struct wb_task *self)
{
    (void)self;
    return 0;
}

enum { MANY = 1200 };  // more words than the summary has bits, and than fit beside it

TEST(every_task_of_a_large_system_has_a_note_of_its_own)
{
    static _Alignas(64) unsigned char memory[4 << 20];
    struct wb_system *system;
    struct wb_task *tasks[MANY];

    stub_system(1);
    CHECK(wb_system_init(&system, memory, sizeof memory,
                         &(struct wb_system_config){
                             .cores = 1, .tasks = MANY, .core_align = WB_LINE_BYTES }) == WB_OK);
    stub.system = system;
    for (uint32_t i = 0; i < MANY; i++) {
        char name[WB_NAME_BYTES];
        snprintf(name, sizeof name, "t%u", (unsigned)i);
        CHECK(wb_task_add(system, &(struct wb_task_config){ .name = name, .entry = never_runs },
                          &tasks[i]) == WB_OK);
        wb_word_store(&tasks[i]->owner_state, wb_owner_state(WB_TASK_BLOCKED, 0), WB_SEQ_CST);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        wb_inbox_post(system->cores[0], i);
        CHECK(stub_serve(0) == 1 && stub.unblocked == tasks[i]);
    }
    for (uint32_t i = 0; i < MANY; i++)
        wb_inbox_post(system->cores[0], i);
    CHECK(stub_serve(0) == MANY);
}
