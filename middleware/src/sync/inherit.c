// SPDX-License-Identifier: Apache-2.0
// Inheritance of priorities, on one core and across cores.
//
// An effective priority is never handed over: the kernel that owns a task computes it anew from the
// words of those that wait. Whoever changes one of these words counts up the task's `reevaluations`
// and leaves a note with its core; the agent that finds them counted up computes. So a reevaluation
// may coalesce, come late, or be lost together with a core, and nothing has to be taken back.

#include "wait_queue.h"

struct wb_task *wb_wait_queue_living(struct wb_system *system, uint32_t holder)
{
    const uint32_t number = holder & WB_HOLDERS_MAX;

    if (number == 0 || number > system->n_tasks)
        return NULL;
    struct wb_task *task = &system->tasks[number - 1];
    // Acquire: who takes over from a task that is over sees all that it did.
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);
    const uint32_t incarnation = wb_word_load(&task->incarnation, WB_ACQUIRE);
    return wb_state_is_over(owner_state) ||
                   incarnation << WB_HOLDER_BITS >> WB_HOLDER_BITS != holder >> WB_HOLDER_BITS
               ? NULL
               : task;
}

static void reevaluate(struct wb_task *task)
{
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);

    // Release: who sees the count sees what was changed before.
    wb_word_add(&task->sync.reevaluations, 1, WB_RELEASE);
    // A note also to this core: the task's effective priority may reach further, and a chain of
    // calls would take as much stack as there are tasks in a row.
    wb_inbox_post(task->system->cores[wb_owner_of(owner_state)], task->id);
}

static struct wb_task *holder_of(const struct wb_wait_queue *queue, struct wb_system *system)
{
    // Relaxed: the holder may change at any time; whoever takes the wait queue looks for itself.
    return queue != NULL ? wb_wait_queue_living(system, wb_word_load(&queue->holder, WB_RELAXED))
                         : NULL;
}

void wb_inherit_boost(const struct wb_wait_queue *queue, const struct wb_task *self)
{
    struct wb_task *holder = holder_of(queue, self->system);

    if (holder != NULL && wb_sync_priority(&holder->sync) < wb_sync_priority(&self->sync))
        reevaluate(holder);
}

void wb_inherit_release(const struct wb_wait_queue *queue, const struct wb_task *self)
{
    struct wb_task *holder = holder_of(queue, self->system);

    if (holder != NULL && wb_sync_priority(&holder->sync) != wb_own_priority(holder))
        reevaluate(holder);
}

static uint32_t wanted(const struct wb_task *task)
{
    const struct wb_system *system = task->system;
    const uint32_t holder = wb_wait_queue_holder(task);
    uint32_t most = wb_own_priority(task);

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_sync *sync = &system->tasks[i].sync;
        const struct wb_wait_queue *queue = wb_word_load(&sync->waits_for, WB_ACQUIRE);
        if (queue != NULL && wb_word_load(&queue->holder, WB_RELAXED) == holder &&
            wb_sync_priority(sync) > most)
            most = wb_sync_priority(sync);
    }
    return most;
}

bool wb_inherit(struct wb_task *task)
{
    struct wb_sync *sync = &task->sync;
    const uint32_t before = wb_sync_priority(sync);
    uint32_t seen, now;
    bool again = false;

    // On a preemptive kernel an interrupt may do the same in the midst of this. What was found
    // before it is looked for again, and told again: only this turn's own count says so, because
    // the interrupt leaves its count in `reevaluations_seen`.
    for (;; again = true) {
        seen = wb_word_load(&sync->reevaluations, WB_ACQUIRE);
        now = wanted(task);
        wb_word_store(&sync->priority, now, WB_RELAXED);
        sync->reevaluations_seen = seen;
        if (seen == wb_word_load(&sync->reevaluations, WB_ACQUIRE))
            break;
    }
    if (now == before && !again)
        return false;
    struct wb_task *holder = holder_of(wb_word_load(&sync->waits_for, WB_RELAXED), task->system);
    if (holder != NULL)
        reevaluate(holder);
    return true;
}
