// SPDX-License-Identifier: Apache-2.0
// A binary heap of tasks by the time they wake; each task knows its position.

#include <stdlib.h>

#include "private.h"

bool timers_init(struct timers *timers, uint32_t tasks)
{
    timers->heap = calloc(tasks, sizeof(struct wb_task *));
    timers->room = tasks;
    return timers->heap != NULL;
}

static uint64_t key(const struct timers *timers, uint32_t i)
{
    return kernel_task(timers->heap[i])->until_ns;
}

static void put(struct timers *timers, uint32_t i, struct wb_task *task)
{
    timers->heap[i] = task;
    kernel_task(task)->timer = i + 1;
}

// Moves the task at `i` to where the heap's order wants it.
static void settle(struct timers *timers, uint32_t i)
{
    struct wb_task *task = timers->heap[i];
    const uint64_t until_ns = kernel_task(task)->until_ns;

    for (; i > 0 && key(timers, (i - 1) / 2) > until_ns; i = (i - 1) / 2)
        put(timers, i, timers->heap[(i - 1) / 2]);
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < timers->count && key(timers, child + 1) < key(timers, child))
            child++;
        if (child >= timers->count || key(timers, child) >= until_ns)
            break;
        put(timers, i, timers->heap[child]);
        i = child;
    }
    put(timers, i, task);
}

void timers_add(struct timers *timers, struct wb_task *task, uint64_t until_ns)
{
    kernel_task(task)->until_ns = until_ns;
    const uint32_t level = wb_sync_priority(&task->sync);

    kernel_task(task)->level = level;
    timers->of_priority[level]++;
    timers->levels |= 1u << level;
    put(timers, timers->count++, task);
    settle(timers, timers->count - 1);
}

void timers_remove(struct timers *timers, struct wb_task *task)
{
    const uint32_t i = kernel_task(task)->timer - 1;

    const uint32_t level = kernel_task(task)->level;

    kernel_task(task)->timer = 0;
    if (--timers->of_priority[level] == 0)
        timers->levels &= ~(1u << level);
    timers->count--;
    if (i == timers->count)
        return;
    put(timers, i, timers->heap[timers->count]);
    settle(timers, i);
}

uint64_t timers_next_ns(const struct timers *timers)
{
    return timers->count != 0 ? key(timers, 0) : WB_FOREVER;
}

void timers_wake(struct timers *timers, uint64_t now_ns)
{
    while (timers_next_ns(timers) <= now_ns) {
        struct wb_task *task = timers->heap[0];
        timers_remove(timers, task);
        wb_kernel_unblock(task);
    }
}

void timers_move(struct timers *timers, struct wb_task *task)
{
    if (kernel_task(task)->timer == 0)
        return;
    timers_remove(timers, task);
    timers_add(timers, task, kernel_task(task)->until_ns);
}
