// SPDX-License-Identifier: Apache-2.0
#include "process.h"

void ready_push(struct ready *ready, struct wb_task *task)
{
    const uint32_t p = wb_sync_priority(&task->sync);

    kernel_task(task)->next = NULL;
    kernel_task(task)->queue = p + 1;
    if ((ready->levels & 1u << p) == 0)
        ready->first[p] = task;
    else
        kernel_task(ready->last[p])->next = task;
    ready->last[p] = task;
    ready->levels |= 1u << p;
}

// Before those of its priority that `before` is followed by; NULL: before all.
static void push_after(struct ready *ready, struct wb_task *before, struct wb_task *task)
{
    const uint32_t p = wb_sync_priority(&task->sync);

    if ((ready->levels & 1u << p) == 0 || before == ready->last[p]) {
        ready_push(ready, task);
        return;
    }
    struct wb_task **at = before == NULL ? &ready->first[p] : &kernel_task(before)->next;
    kernel_task(task)->next = *at;
    kernel_task(task)->queue = p + 1;
    *at = task;
}

void ready_push_first(struct ready *ready, struct wb_task *task)
{
    push_after(ready, NULL, task);
}

void ready_push_by(struct ready *ready, struct wb_task *task,
                   bool (*is_before)(struct wb_task *task, struct wb_task *other))
{
    const uint32_t p = wb_sync_priority(&task->sync);
    struct wb_task *before = NULL;

    if ((ready->levels & 1u << p) != 0)
        for (struct wb_task *at = ready->first[p]; at != NULL && !is_before(task, at);
             at = kernel_task(at)->next)
            before = at;
    push_after(ready, before, task);
}

static struct wb_task *take(struct ready *ready, uint32_t p, struct wb_task *before)
{
    struct wb_task *task = before == NULL ? ready->first[p] : kernel_task(before)->next;
    struct wb_task *after = kernel_task(task)->next;

    if (before == NULL)
        ready->first[p] = after;
    else
        kernel_task(before)->next = after;
    if (after == NULL)
        ready->last[p] = before;
    if (ready->first[p] == NULL)
        ready->levels &= ~(1u << p);
    kernel_task(task)->queue = 0;
    return task;
}

struct wb_task *ready_pop(struct ready *ready, uint32_t floor)
{
    if (ready->levels == 0 || floor >= PRIORITIES)
        return NULL;
    const uint32_t p = 31 - (uint32_t)__builtin_clz(ready->levels);
    if (p < floor)
        return NULL;
    return take(ready, p, NULL);
}

struct wb_task *ready_pop_leaving(struct ready *ready)
{
    for (uint32_t levels = ready->levels; levels != 0;) {
        const uint32_t p = 31 - (uint32_t)__builtin_clz(levels);
        struct wb_task *before = NULL;
        levels &= ~(1u << p);
        for (struct wb_task *task = ready->first[p]; task != NULL; task = kernel_task(task)->next) {
            if (wb_migration_requested(task))
                return take(ready, p, before);
            before = task;
        }
    }
    return NULL;
}

bool ready_take(struct ready *ready, struct wb_task *task)
{
    struct wb_task *before = NULL;

    if (kernel_task(task)->queue == 0)
        return false;
    const uint32_t p = kernel_task(task)->queue - 1;
    for (struct wb_task *at = ready->first[p]; at != task; at = kernel_task(at)->next)
        before = at;
    take(ready, p, before);
    return true;
}

void ready_move(struct ready *ready, struct wb_task *task)
{
    if (ready_take(ready, task))
        ready_push(ready, task);
}
