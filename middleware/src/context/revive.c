// SPDX-License-Identifier: Apache-2.0
// A task that was cut short goes on from its newest checkpoint image, or starts again.

#include "../channel/channel.h"
#include "context.h"

void wb_task_recover_ports(struct wb_task *task)
{
    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task) {
        // From its entry it sends anew: nothing that it may have gone on from knows of it.
        port->resend_skip = port->resend_skipped = 0;
        wb_channel_recover(port);
    }
}

bool wb_task_revive(struct wb_task *task)
{
    // What a recreated task goes on from, its program finds out (wb_recreation_begin()).
    const bool resumed =
        task->mode != WB_RECREATE && wb_parts.images != NULL && wb_parts.images->resume(task);

    if (!resumed && !task->restart)
        return false;
    if (!resumed) {
        if (task->mode != WB_RECREATE)
            wb_task_recover_ports(task);
        task->restarts++;
        task->heap.generation = task->restarts;
        if (wb_parts.pool != NULL)
            wb_parts.pool->restart(&task->shared, task->restarts);
    }
    wb_migration_ops_end(task);
    task->step = NULL;
    task->poll_mark_ns = 0;
    // Relaxed: the offer that follows publishes it.
    wb_word_store(&task->revive, resumed ? WB_REVIVE_IMAGE : WB_REVIVE_ENTRY, WB_RELAXED);
    if (wb_parts.locks != NULL)
        wb_parts.locks->recover(task);
    // Release: who takes a mutex over from the task's former life sees what that did to what it
    // guards, as far as the dead kernel's stores have come.
    wb_word_add(&task->incarnation, 1, WB_RELEASE);
    return true;
}

// Recovery's offer, which nobody withdraws: so if owner_state is still as it was seen before
// `revival` was read, the task is ours to revive. A target that comes late for a withdrawn offer of
// its source may find a revival that is another's; it looks again.
//
// An image was whole when recovery looked; should it be damaged now, its entry is the last resort.
// There it finds its heap as it left it, for its state lies in it. A program of its own loads its
// memory by itself (recreation.c).
enum wb_status wb_task_fetch_revived(struct wb_core *core, struct wb_task *task,
                                     uint32_t owner_state, uint32_t revival,
                                     struct wb_fetched *fetched)
{
    // Acquire above, when `revival` was read: this load is not done before it.
    if (wb_word_load(&task->owner_state, WB_RELAXED) != owner_state)
        return WB_ERR_EMPTY;
    if (task->mode == WB_RECREATE)
        return wb_kernel_task_init(task);
    if (revival == WB_REVIVE_IMAGE && wb_parts.images->load(task) == WB_OK)
        return WB_OK;
    if (!task->restart)
        return WB_ERR_INVAL;
    // Recovery has put them back to the image, if there was one.
    wb_task_recover_ports(task);
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);
    const enum wb_status had =
        ops != NULL && ops->fetch_heap != NULL ? ops->fetch_heap(core, task, fetched) : WB_OK;
    return had == WB_OK ? wb_task_init_here(task) : had;
}

void wb_system_wake_all(struct wb_system *system)
{
    struct wb_wakes wakes = wb_wakes_begin();

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        // Release: who sees the count sees what was repaired before.
        wb_word_add(&system->tasks[i].sync.reevaluations, 1, WB_RELEASE);
        wb_wakes_set_pending(&wakes, &system->tasks[i]);
    }
    wb_wakes_end(&wakes, system);
}
