// SPDX-License-Identifier: Apache-2.0
#include "process.h"

// inline: what links it takes it into the paths that are to be short.
inline void ready_push(struct ready *ready, struct wb_task *task)
{
    const uint32_t p = wb_sync_priority(&task->sync);
    const bool is_first = (ready->levels & 1u << p) == 0;

    kernel_task(task)->next = NULL;
    kernel_task(task)->last = is_first ? NULL : ready->last[p];
    kernel_task(task)->queue = p + 1;
    if (is_first)
        ready->first[p] = task;
    else
        kernel_task(ready->last[p])->next = task;
    ready->last[p] = task;
    ready->levels |= 1u << p;
}

void ready_push_first(struct ready *ready, struct wb_task *task)
{
    const uint32_t p = wb_sync_priority(&task->sync);

    if ((ready->levels & 1u << p) == 0) {
        ready_push(ready, task);
        return;
    }
    kernel_task(task)->next = ready->first[p];
    kernel_task(task)->last = NULL;
    kernel_task(task)->queue = p + 1;
    kernel_task(ready->first[p])->last = task;
    ready->first[p] = task;
}

static struct wb_task *take_queued(struct ready *ready, struct wb_task *task)
{
    struct kernel_task *kt = kernel_task(task);
    const uint32_t p = kt->queue - 1;

    if (kt->last == NULL)
        ready->first[p] = kt->next;
    else
        kernel_task(kt->last)->next = kt->next;
    if (kt->next == NULL)
        ready->last[p] = kt->last;
    else
        kernel_task(kt->next)->last = kt->last;
    if (ready->first[p] == NULL)
        ready->levels &= ~(1u << p);
    kt->queue = 0;
    return task;
}

struct wb_task *ready_pop(struct ready *ready, uint32_t floor)
{
    if (ready->levels == 0 || floor >= PRIORITIES)
        return NULL;
    const uint32_t p = 31 - (uint32_t)__builtin_clz(ready->levels);
    if (p < floor)
        return NULL;
    // take_queued() of the first.
    struct wb_task *task = ready->first[p], *next = kernel_task(task)->next;
    ready->first[p] = next;
    if (next != NULL)
        kernel_task(next)->last = NULL;
    else
        ready->levels &= ~(1u << p);
    kernel_task(task)->queue = 0;
    return task;
}

struct wb_task *ready_pop_leaving(struct ready *ready)
{
    for (uint32_t levels = ready->levels; levels != 0;) {
        const uint32_t p = 31 - (uint32_t)__builtin_clz(levels);
        levels &= ~(1u << p);
        for (struct wb_task *task = ready->first[p]; task != NULL; task = kernel_task(task)->next)
            if (wb_migration_requested(task))
                return take_queued(ready, task);
    }
    return NULL;
}

bool ready_take(struct ready *ready, struct wb_task *task)
{
    if (kernel_task(task)->queue == 0)
        return false;
    (void)take_queued(ready, task);
    return true;
}

void ready_move(struct ready *ready, struct wb_task *task)
{
    if (ready_take(ready, task))
        ready_push(ready, task);
}
