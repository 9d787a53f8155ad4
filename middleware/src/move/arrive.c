// SPDX-License-Identifier: Apache-2.0
// How a core takes a task in: one that is offered to it, or one that comes back to it.

#include "../internal.h"

void wb_task_attach(struct wb_core *core, struct wb_task *task)
{
    // Not yet in a queue of this kernel, so there is nothing to move.
    if (wb_must_reevaluate(task))
        (void)wb_parts.locks->inherit(task);
    const struct wb_part_agents *agents = wb_reporting(core->system);
    if (agents != NULL)
        agents->attached(task, core);
    wb_kernel_attach(task);
}

const struct wb_attach_ops *wb_attach_ops_of(const struct wb_task *task)
{
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);

    if (ops != NULL)
        return ops->attach;
    return wb_revival(task) != WB_REVIVE_NOT ? wb_parts.deaths->attach : NULL;
}

// The task, taken by this core, has its memory here. Should this kernel die before this, the next
// one fetches again from where it was. Relaxed: the place publishes it with all the rest when the
// task leaves here.
static void settle(const struct wb_core *core, struct wb_task *task,
                   const struct wb_attach_ops *attach, const struct wb_fetched *fetched)
{
    wb_word_store(&task->memory_core, core->index, WB_RELAXED);
    if (attach != NULL)
        attach->settle(task, fetched);
}

// The target's half of a migration: one compare-and-swap decides against a withdrawal.
void wb_migration_arrive(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                         const struct wb_attach_ops *attach)
{
    const uint32_t ready = wb_owner_state(WB_TASK_READY, core->index);
    struct wb_fetched fetched;

    if (attach != NULL && !attach->prepare(core, task, owner_state, &fetched))
        return;
    // Acquire: the parked context and everything the task wrote is visible here.
    if (!wb_word_compare_swap(&task->owner_state, &owner_state, ready, WB_ACQ_REL, WB_RELAXED)) {
        if (attach != NULL)
            attach->unload(task);
        return;
    }
    settle(core, task, attach, &fetched);
    wb_kernel_charge(WB_ACTION_ATTACH, 1);
    const uint64_t now_ns = wb_kernel_now_ns();
    if (wb_migration_is_accepted(task)) {
        task->migration.attached_ns = now_ns;
        // It is not chosen by others any more: somebody has said where it is to be.
        wb_word_store(&task->cores, 0, WB_RELAXED);
    }
    const struct wb_part_agents *agents = wb_reporting(core->system);
    if (agents != NULL)
        agents->arrival(task, wb_owner_of(owner_state), now_ns);
    wb_record(core, WB_EVENT_ATTACH, task->id, wb_owner_of(owner_state), 0, now_ns);
    wb_task_attach(core, task);
}

// As above, of one that is on offer to several cores at once, for as long as it does not run.
void wb_task_chosen(struct wb_task *task, uint32_t core, uint64_t now_ns)
{
    struct wb_core *chooser = task->system->cores[core];
    uint32_t owner_state = wb_word_load(&task->owner_state, WB_RELAXED);

    // Acquire: all that the task wrote is visible here. Recovery may offer a dead owner's to
    // another core at the same time, which is withdrawn so.
    while (!wb_word_compare_swap_weak(&task->owner_state, &owner_state,
                                      wb_owner_state(WB_TASK_READY, core), WB_ACQ_REL,
                                      WB_RELAXED)) {}
    wb_word_store(&task->memory_core, core, WB_RELAXED);
    wb_counter_add(&task->stats.chosen, 1);
    const struct wb_part_agents *agents = wb_reporting(task->system);
    if (agents != NULL) {
        agents->arrival(task, wb_owner_of(owner_state), now_ns);
        agents->attached(task, chooser);
    }
    wb_record(chooser, WB_EVENT_ATTACH, task->id, wb_owner_of(owner_state), 0, now_ns);
}

void wb_task_came_asleep(struct wb_task *task, uint64_t now_ns)
{
    const uint32_t owner = wb_owner_of(wb_word_load(&task->owner_state, WB_RELAXED));

    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_BLOCKED, owner), WB_RELAXED);
    if (wb_migration_is_accepted(task))
        wb_migration_settle(task, now_ns);
}

void wb_migration_returned(struct wb_core *core, struct wb_task *task)
{
    const uint64_t now_ns = wb_kernel_now_ns();
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_RELAXED);
    const enum wb_status why = wb_owner_state_why(owner_state);
    const struct wb_attach_ops *attach = wb_attach_ops_of(task);
    struct wb_fetched fetched;

    // The successor of a dead source has to fetch its memory; the source itself has it.
    if (attach != NULL && attach->fetch(core, task, owner_state, &fetched) != WB_OK) {
        // Nobody else can end it: it is accepted, and there is no offer to withdraw.
        wb_migration_finish(task, WB_ERR_GONE);
        wb_parts.deaths->lose(task, core->index);
        return;
    }
    settle(core, task, attach, &fetched);
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_READY, core->index), WB_RELAXED);
    wb_counter_add(&task->stats.refused, 1);
    wb_record(core, WB_EVENT_RETURN, task->id, task->migration.target, 0, now_ns);
    wb_migration_finish(task, why);
    wb_task_attach(core, task);
}
