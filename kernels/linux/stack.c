// SPDX-License-Identifier: Apache-2.0
// The stack of a task that does not run: its first context, and how much of it is in use.

#include "arch.h"
#include "private.h"

void context_start(void);

enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    struct linux_task *lt = linux_task(task);

    if (task->stack == NULL || task->stack_bytes < ARCH_CONTEXT_BYTES + PAGE_BYTES ||
        task->priority >= PRIORITIES)
        return WB_ERR_INVAL;
    *lt = (struct linux_task){ 0 };
    lt->sp = arch_context_init(task->stack + task->stack_bytes, task, context_start);
    return WB_OK;
}

void *wb_kernel_stack_low(const struct wb_task *task)
{
    const struct linux_task *lt = (const struct linux_task *)(const void *)task->kernel;
    return lt->sp;
}
