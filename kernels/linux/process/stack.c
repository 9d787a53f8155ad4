// SPDX-License-Identifier: Apache-2.0
// The stack of a task that does not run: its first context, and how much of it is in use.

#define _GNU_SOURCE
#include "arch.h"
#include "process.h"

void context_start(void);

enum wb_status stack_init(struct wb_task *task)
{
    struct kernel_task *lt = kernel_task(task);

    if (task->stack == NULL || task->stack_bytes < ARCH_CONTEXT_BYTES + PAGE_BYTES ||
        wb_own_priority(task) >= PRIORITIES)
        return WB_ERR_INVAL;
    *lt = (struct kernel_task){ 0 };
    return WB_OK;
}

void *stack_first_context(struct wb_task *task)
{
    return arch_context_init(task->stack + task->stack_bytes, task, context_start);
}
