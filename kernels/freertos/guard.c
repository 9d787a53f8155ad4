// SPDX-License-Identifier: Apache-2.0
// Whether this kernel has the task that FreeRTOS is called for (freertos_guards.h).

#include "internal.h"
#include "wb/kernel.h"

// A deleted task's TCB may have been used for something else. NULL: no task of ours, or none yet.
static const struct wb_task *described(const void *at)
{
    const struct wb_task *task = at;
    const struct wb_core *own = wb_freertos_core();

    if (own == NULL)
        return NULL;
    const struct wb_system *system = own->system;
    const uintptr_t offset = (uintptr_t)task - (uintptr_t)system->tasks;
    return offset < system->n_tasks * sizeof *task ? task : NULL;
}

uint32_t wb_freertos_is_elsewhere(const void *at)
{
    const struct wb_task *task = described(at);
    const uint32_t core = task != NULL ? wb_task_core(task) : WB_CORE_NONE;

    return core != wb_kernel_core() ? core : WB_CORE_NONE;
}

void wb_freertos_check(const void *at, const void *handle, const char *call)
{
    const struct wb_task *task = described(at);

    if (task == NULL)
        return;
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);
    const struct freertos_task *ft = of(task);
    const bool is_it = ft->handle == handle && !wb_state_is_over(owner_state);
    if (!is_it || !wb_owner_state_is_kept(owner_state, wb_freertos_core()->index))
        wb_freertos_misused(call, is_it ? task : NULL, owner_state);
}
