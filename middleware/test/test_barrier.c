// SPDX-License-Identifier: Apache-2.0
// Barriers: rounds, entries, time-outs, tasks that do not come any more.
// with: check.c build.c kernel_stub.c
#include "check.h"
#include "kernel_stub.h"
#include "wb/wb.h"

enum { TASKS = 3 };

static struct wb_task *tasks[TASKS], *stranger;
static struct wb_participant participants[TASKS];
static struct wb_barrier barrier;

// Each on a core of its own, but for the stranger.
static void build(void)
{
    static const char *const names[TASKS] = { "a", "b", "c" };

    stub_system(TASKS);
    for (uint32_t i = 0; i < TASKS; i++)
        tasks[i] = stub_task(names[i], i);
    stranger = stub_task("stranger", 0);
    CHECK(wb_barrier_init(&barrier, participants, TASKS) == WB_OK);
    stub_start(stub.system);
    stub_run(tasks[0]);
}

static int come(uint32_t i)
{
    stub_become(i, tasks[i]);
    return wb_barrier_wait(&barrier, 0);
}

static void all_come(int status)
{
    CHECK(come(0) == WB_ERR_EMPTY && come(1) == WB_ERR_EMPTY);
    CHECK(come(2) == (status == WB_OK ? 1 : status));
    CHECK(come(0) == status && come(1) == status);
}

// ---- Rounds -------------------------------------------------------------------------------------

TEST(the_last_to_come_lets_all_through_again_and_again)
{
    build();
    for (uint32_t i = 0; i < 5; i++)
        all_come(WB_OK);
}

TEST(rounds_go_on_when_their_numbers_begin_again)
{
    build();
    wb_word_init(&barrier.state, 0xfffeu << 16);
    for (uint32_t i = 0; i < 4; i++)
        all_come(WB_OK);
}

TEST(a_barrier_of_one_task_never_waits)
{
    build();
    CHECK(wb_barrier_init(&barrier, participants, 1) == WB_OK);
    CHECK(come(0) == 1 && come(0) == 1 && come(1) == WB_ERR_FULL);
    CHECK(wb_barrier_init(&barrier, participants, 0) == WB_ERR_INVAL);
}

static void the_others_come(uint64_t until_ns)
{
    CHECK(until_ns == WB_FOREVER);
    CHECK(come(1) == WB_ERR_EMPTY && come(2) == 1);
    stub_become(0, tasks[0]);
}

TEST(who_is_blocked_is_woken_by_the_last)
{
    build();
    stub.on_block = the_others_come;
    CHECK(wb_barrier_wait(&barrier, WB_FOREVER) == WB_OK && stub.blocks == 1);
    CHECK(stub_serve(0) == 1 || stub.unblocked == tasks[0]);
}

TEST(who_waited_in_vain_has_come_and_waits_on)
{
    build();
    CHECK(wb_barrier_wait(&barrier, 100) == WB_ERR_TIMEOUT);
    CHECK(wb_barrier_wait(&barrier, 100) == WB_ERR_TIMEOUT);
    CHECK(come(1) == WB_ERR_EMPTY && come(2) == 1);
    // The next round does not end before the first task has been told of this one.
    CHECK(come(2) == WB_ERR_EMPTY && come(1) == WB_OK && come(1) == WB_ERR_EMPTY);
    CHECK(come(0) == WB_OK && come(0) == 1);
}

// ---- Participants -------------------------------------------------------------------------------

TEST(a_barrier_has_as_many_tasks_as_it_was_made_for)
{
    build();
    all_come(WB_OK);
    stub_become(0, stranger);
    CHECK(wb_barrier_wait(&barrier, WB_FOREVER) == WB_ERR_FULL);
    CHECK(wb_barrier_join(&barrier, stranger) == WB_ERR_FULL);
}

TEST(who_has_joined_keeps_its_entry)
{
    build();
    for (uint32_t i = 0; i < TASKS; i++)
        CHECK(wb_barrier_join(&barrier, tasks[i]) == WB_OK);
    CHECK(wb_barrier_join(&barrier, tasks[1]) == WB_OK);
    stub_become(0, stranger);
    CHECK(wb_barrier_wait(&barrier, WB_FOREVER) == WB_ERR_FULL);
    all_come(WB_OK);
}

TEST(who_notes_the_round_comes_for_it_once_in_all_its_lives)
{
    uint32_t round = 0;

    build();
    tasks[0]->restart = true;
    stub_run(tasks[0]);
    CHECK(wb_barrier_pass(&barrier, &round, 0) == WB_ERR_EMPTY && round == 1);
    CHECK(come(1) == WB_ERR_EMPTY && come(2) == 1);
    stub_leave();
    (void)wb_core_died(stub.system, 0);
    for (uint32_t i = 0; i < TASKS; i++)
        stub_serve(i);
    stub_become(0, tasks[0]);
    CHECK(wb_barrier_pass(&barrier, &round, 0) == WB_OK);
    CHECK(come(1) == WB_OK && come(1) == WB_ERR_EMPTY);
    round = 0;
    stub_become(0, tasks[0]);
    CHECK(wb_barrier_pass(&barrier, &round, 0) == WB_ERR_EMPTY && round == 2);
}

// ---- Who comes no more --------------------------------------------------------------------------

TEST(the_end_of_a_task_is_told_to_those_who_wait_for_it_and_to_all_later)
{
    build();
    all_come(WB_OK);
    stub_run(tasks[0]);
    wb_word_init(&tasks[1]->sync.waits_for, &barrier.queue);
    stub.unblocks = 0;
    stub_pause(WB_TASK_ENDED);
    CHECK(stub_serve(1) == 1 && stub.unblocked == tasks[1]);
    CHECK(come(1) == WB_ERR_GONE && come(1) == WB_ERR_GONE && come(2) == WB_ERR_GONE);
}

// Woken for nothing, it would come before tasks that are ready earlier than it is.
TEST(the_end_of_a_task_wakes_nobody_at_a_barrier_where_it_has_no_seat)
{
    static struct wb_participant other_participants[1];
    static struct wb_barrier other;

    build();
    CHECK(come(1) == WB_ERR_EMPTY);
    wb_word_init(&tasks[1]->sync.waits_for, &barrier.queue);
    CHECK(wb_barrier_init(&other, other_participants, 1) == WB_OK);
    stub_run(stranger);
    CHECK(wb_barrier_wait(&other, 0) == 1);
    stub_pause(WB_TASK_ENDED);
    CHECK(stub_serve(1) == 0);
    stub_run(tasks[0]);
    CHECK(come(0) == WB_ERR_EMPTY);
    stub_pause(WB_TASK_ENDED);
    CHECK(stub_serve(1) == 1);
}

TEST(who_comes_and_ends_then_lets_the_others_through)
{
    build();
    CHECK(come(1) == WB_ERR_EMPTY);
    stub_run(tasks[0]);
    CHECK(come(0) == WB_ERR_EMPTY);
    stub_pause(WB_TASK_ENDED);
    CHECK(come(2) == 1 && come(1) == WB_OK);
    CHECK(come(1) == WB_ERR_GONE);
}

TEST(a_task_that_joined_and_never_came_is_missed)
{
    build();
    for (uint32_t i = 0; i < TASKS; i++)
        CHECK(wb_barrier_join(&barrier, tasks[i]) == WB_OK);
    stub_leave();
    CHECK(wb_core_died(stub.system, 0) == 1);
    CHECK(come(1) == WB_ERR_GONE);
}

static void restart(uint32_t core)
{
    stub_leave();
    CHECK(wb_core_died(stub.system, core) == 0);
    for (uint32_t i = 0; i < TASKS; i++)
        stub_serve(i);
}

TEST(all_are_told_once_that_one_was_cut_short_and_has_started_again)
{
    build();
    tasks[0]->restart = true;
    all_come(WB_OK);
    stub_run(tasks[0]);
    restart(0);
    all_come(WB_ERR_OWNER);
    all_come(WB_OK);
}

TEST(who_was_killed_after_it_came_has_come_once)
{
    build();
    tasks[0]->restart = true;
    CHECK(come(1) == WB_ERR_EMPTY);
    stub_run(tasks[0]);
    CHECK(come(0) == WB_ERR_EMPTY);
    restart(0);
    CHECK(come(0) == WB_ERR_EMPTY);
    CHECK(come(2) == WB_ERR_OWNER && come(1) == WB_ERR_OWNER && come(0) == WB_ERR_OWNER);
    all_come(WB_OK);
}
