// SPDX-License-Identifier: Apache-2.0
// When a launcher says that nothing can ever happen again.

#include "deadlock.h"

#include <string.h>

#include "check.h"
#include "host.h"
#include "wb/wb.h"

enum { TASKS = 2 };

static struct wb_core core;
static struct wb_core *cores[] = { &core };
static struct wb_task tasks[TASKS];
static struct wb_system stopped;

bool wb_host_waits_for_ever(struct wb_task *task)
{
    (void)task;
    return true;
}

// A system in which nothing moves, with tasks in these states.
static struct wb_system *with(enum wb_task_state first, enum wb_task_state second)
{
    const enum wb_task_state states[TASKS] = { first, second };

    memset(&core, 0, sizeof core);
    memset(tasks, 0, sizeof tasks);
    memset(&stopped, 0, sizeof stopped);
    stopped.cores = cores;
    stopped.tasks = tasks;
    stopped.n_cores = 1;
    stopped.n_tasks = TASKS;
    wb_word_init(&stopped.live, 1);
    for (uint32_t i = 0; i < TASKS; i++) {
        tasks[i].system = &stopped;
        wb_word_init(&tasks[i].owner_state, wb_owner_state(states[i], 0));
    }
    return &stopped;
}

// At the third look, when two of them have found no change.
static bool is_deadlocked(struct wb_system *system)
{
    struct deadlock deadlock = { 0 };
    struct deadlock_report why;

    (void)deadlock_check(&deadlock, system, &why);
    (void)deadlock_check(&deadlock, system, &why);
    return deadlock_check(&deadlock, system, &why);
}

TEST(tasks_of_which_one_waits_for_ever_are_stuck)
{
    CHECK(is_deadlocked(with(WB_TASK_ENDED, WB_TASK_BLOCKED)));
    CHECK(is_deadlocked(with(WB_TASK_BLOCKED, WB_TASK_BLOCKED)));
}

TEST(a_task_that_may_run_is_not_stuck)
{
    CHECK(!is_deadlocked(with(WB_TASK_READY, WB_TASK_BLOCKED)));
}

// The kernel of the last one has not said yet that the run is over.
TEST(tasks_that_are_all_over_are_not_stuck)
{
    CHECK(!is_deadlocked(with(WB_TASK_ENDED, WB_TASK_ENDED)));
}

TEST(who_waits_for_a_condition_or_at_a_barrier_is_named_with_it)
{
    struct wb_condition condition = { 0 };
    struct wb_barrier barrier;
    struct wb_participant participant;
    struct deadlock_report why;
    struct wb_system *system = with(WB_TASK_BLOCKED, WB_TASK_BLOCKED);

    CHECK(wb_barrier_init(&barrier, &participant, 1) == WB_OK);
    strcpy(tasks[0].name, "listener");
    strcpy(tasks[1].name, "comer");
    wb_word_init(&tasks[0].sync.condition, &condition.queue);
    wb_word_init(&tasks[0].sync.waits_for, &condition.queue);
    wb_word_init(&tasks[1].sync.waits_for, &barrier.queue);
    deadlock_describe(system, &why);
    CHECK(strcmp(why.text, "listener for a condition; comer for others at a barrier") == 0);
}
