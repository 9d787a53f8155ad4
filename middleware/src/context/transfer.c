// SPDX-License-Identifier: Apache-2.0
#include "transfer.h"

#include "../word/mem.h"

enum wb_status wb_transfer_take(struct wb_task *task)
{
    uint32_t nobody = 0;

    // Acquire: the last owner has done with it.
    return wb_word_compare_swap(&task->system->transfer_owner, &nobody, task->id + 1, WB_ACQUIRE,
                                WB_RELAXED)
               ? WB_OK
               : WB_ERR_FULL;
}

bool wb_transfer_is_of(const struct wb_task *task)
{
    // Acquire: what was saved in it is visible.
    return wb_word_load(&task->system->transfer_owner, WB_ACQUIRE) == task->id + 1;
}

void wb_transfer_release(struct wb_task *task)
{
    struct wb_system *system = task->system;

    if (!wb_transfer_is_of(task))
        return;
    // An owner that is killed before it has saved anything must not leave an older context.
    memset(system->transfer, 0, WB_LINE_BYTES);
    // Release: our use of it comes before the next owner's.
    wb_word_store(&system->transfer_owner, 0, WB_RELEASE);
}
