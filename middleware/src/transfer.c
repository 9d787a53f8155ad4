// SPDX-License-Identifier: Apache-2.0
#include "transfer.h"

#include "context.h"
#include "mem.h"

enum wb_status wb_transfer_init(struct wb_system *system)
{
    size_t most = 0;

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_task *task = &system->tasks[i];
        const size_t bytes =
            task->mode != WB_HANDOFF ? wb_context_most(task, task->mode == WB_REPLICATE) : 0;
        most = bytes > most ? bytes : most;
        system->transfer_is_needed |= task->mode == WB_RECREATE;
    }
    if (most == 0)
        return WB_OK;
    system->transfer = wb_system_alloc(system, most, WB_LINE_BYTES);
    system->transfer_bytes = most;
    return system->transfer != NULL ? WB_OK : WB_ERR_NOMEM;
}

enum wb_status wb_transfer_take(struct wb_task *task)
{
    uint32_t nobody = 0;

    // Acquire: the last owner has done with it.
    return atomic_compare_exchange_strong_explicit(&task->system->transfer_owner, &nobody,
                                                   task->id + 1, memory_order_acquire,
                                                   memory_order_relaxed)
               ? WB_OK
               : WB_ERR_FULL;
}

bool wb_transfer_is_of(const struct wb_task *task)
{
    // Acquire: what was saved in it is visible.
    return atomic_load_explicit(&task->system->transfer_owner, memory_order_acquire) ==
           task->id + 1;
}

void wb_transfer_release(struct wb_task *task)
{
    struct wb_system *system = task->system;

    if (!wb_transfer_is_of(task))
        return;
    // An owner that is killed before it has saved anything must not leave an older context.
    memset(system->transfer, 0, WB_LINE_BYTES);
    // Release: our use of it comes before the next owner's.
    atomic_store_explicit(&system->transfer_owner, 0, memory_order_release);
}
