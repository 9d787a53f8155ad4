// SPDX-License-Identifier: Apache-2.0
#include "private.h"

void ready_push(struct ready *ready, struct wb_task *task)
{
    const uint32_t p = wb_sync_priority(&task->sync);

    linux_task(task)->next = NULL;
    linux_task(task)->queue = p + 1;
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
    linux_task(task)->queue = 0;
    if (ready->first[p] == NULL)
        ready->levels &= ~(1u << p);
    return task;
}

void ready_move(struct ready *ready, struct wb_task *task)
{
    struct wb_task *before = NULL;

    if (linux_task(task)->queue == 0)
        return;
    const uint32_t p = linux_task(task)->queue - 1;
    for (struct wb_task *at = ready->first[p]; at != task; at = linux_task(at)->next)
        before = at;
    if (before == NULL)
        ready->first[p] = linux_task(task)->next;
    else
        linux_task(before)->next = linux_task(task)->next;
    if (ready->last[p] == task)
        ready->last[p] = before;
    if (ready->first[p] == NULL)
        ready->levels &= ~(1u << p);
    ready_push(ready, task);
}
