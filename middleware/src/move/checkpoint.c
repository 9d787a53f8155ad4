// SPDX-License-Identifier: Apache-2.0
// A checkpoint, a wait that is one, and how a task leaves its core there.

#include "../internal.h"

bool wb_migration_requested(const struct wb_task *task)
{
    // Relaxed: the checkpoint that acts on it acquires.
    return wb_request_phase(wb_word_load(&task->request, WB_RELAXED)) == WB_REQUEST_PENDING;
}

bool wb_checkpoint_wanted(const struct wb_task *task)
{
    return task->checkpoint_every != 0 || wb_migration_requested(task);
}

bool wb_departure_is_due(const struct wb_task *task)
{
    // Acquire: with the end of a request its task has been given to this core.
    return wb_request_phase(wb_word_load(&task->request, WB_ACQUIRE)) == WB_REQUEST_ACCEPTED;
}

static enum wb_status depart(struct wb_task *self)
{
    if (self->sync.held != 0)
        return WB_ERR_HELD;
    const struct wb_migration_ops *ops = wb_migration_ops_of(self);
    const enum wb_status ready = ops != NULL && ops->begin != NULL ? ops->begin(self) : WB_OK;
    const enum wb_status left = ready == WB_OK ? wb_kernel_depart() : ready;
    if (left != WB_OK)
        wb_migration_ops_end(self);
    return left;
}

bool wb_departure_accept(struct wb_task *task)
{
    uint32_t request = wb_word_load(&task->request, WB_RELAXED);

    // Acquire: what the requester filled in. Failing means that it was withdrawn this moment.
    return wb_request_phase(request) == WB_REQUEST_PENDING &&
           wb_word_compare_swap(&task->request, &request,
                                wb_request(WB_REQUEST_ACCEPTED, wb_request_core(request),
                                           wb_request_number(request)),
                                WB_ACQUIRE, WB_RELAXED);
}

void wb_checkpoint_enter(void)
{
    struct wb_task *self = wb_kernel_self();
    bool moved = false;

    wb_kernel_charge(WB_ACTION_CHECKPOINT, 1);
    if (wb_departure_accept(self)) {
        const enum wb_status left = depart(self);
        moved = left == WB_OK;
        if (!moved) {
            wb_counter_add(&self->stats.refused, 1);
            if (wb_departure_is_due(self))
                wb_migration_finish(self, left);
        }
    }
    // Its new kernel has just chosen it.
    if ((self->checkpoint_every == 0 || !wb_parts.images->capture(self)) && !moved)
        wb_kernel_yield(wb_sync_priority(&self->sync) + 1);
}

// Out of the way of the checkpoint's and the port's code: small caches have no room for it.
__attribute__((cold)) void wb_departure_at_wait(struct wb_task *self)
{
    if (!self->moves_at_waits || !wb_migration_requested(self))
        return;
    self->images.since--;  // an image counts the next one, and is taken at none but checkpoints
    wb_checkpoint_enter();
}
