// SPDX-License-Identifier: Apache-2.0
#include "private.h"

void ready_push(struct ready *ready, struct wb_task *task)
{
    const uint32_t p = task->priority;

    linux_task(task)->next = NULL;
    if ((ready->levels & 1u << p) == 0)
        ready->first[p] = task;
    else
        linux_task(ready->last[p])->next = task;
    ready->last[p] = task;
    ready->levels |= 1u << p;
}

struct wb_task *ready_pop(struct ready *ready, uint32_t floor)
{
    if (ready->levels == 0 || floor >= PRIORITIES)
        return NULL;
    const uint32_t p = 31 - (uint32_t)__builtin_clz(ready->levels);
    if (p < floor)
        return NULL;
    struct wb_task *task = ready->first[p];
    ready->first[p] = linux_task(task)->next;
    if (ready->first[p] == NULL)
        ready->levels &= ~(1u << p);
    return task;
}
