// SPDX-License-Identifier: Apache-2.0
// A binary heap of tasks by the time they wake; each task knows its position.

#include <stdlib.h>

#include "private.h"

// Private memory: every kernel has its own at this address.
static struct {
    struct wb_task **heap;
    uint32_t count;
    uint32_t levels;                   // bit p: a task of priority p is among them
    uint32_t of_priority[PRIORITIES];  // how many are
} t;

bool timers_init(uint32_t tasks)
{
    t.heap = calloc(tasks, sizeof(struct wb_task *));
    return t.heap != NULL;
}

static uint64_t key(uint32_t i)
{
    return kernel_task(t.heap[i])->until_ns;
}

static void put_timer(uint32_t i, struct wb_task *task)
{
    t.heap[i] = task;
    kernel_task(task)->timer = i + 1;
}

// Moves the task at `i` to where the heap's order wants it.
static void settle(uint32_t i)
{
    struct wb_task *task = t.heap[i];
    const uint64_t until_ns = kernel_task(task)->until_ns;

    for (; i > 0 && key((i - 1) / 2) > until_ns; i = (i - 1) / 2)
        put_timer(i, t.heap[(i - 1) / 2]);
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < t.count && key(child + 1) < key(child))
            child++;
        if (child >= t.count || key(child) >= until_ns)
            break;
        put_timer(i, t.heap[child]);
        i = child;
    }
    put_timer(i, task);
}

void timers_add(struct wb_task *task, uint64_t until_ns)
{
    kernel_task(task)->until_ns = until_ns;
    const uint32_t level = wb_sync_priority(&task->sync);

    kernel_task(task)->level = level;
    t.of_priority[level]++;
    t.levels |= 1u << level;
    put_timer(t.count++, task);
    settle(t.count - 1);
}

void timers_remove(struct wb_task *task)
{
    const uint32_t i = kernel_task(task)->timer - 1, level = kernel_task(task)->level;

    if (kernel_task(task)->timer == 0)
        return;
    kernel_task(task)->timer = 0;
    if (--t.of_priority[level] == 0)
        t.levels &= ~(1u << level);
    t.count--;
    if (i == t.count)
        return;
    put_timer(i, t.heap[t.count]);
    settle(i);
}

uint64_t timers_next_ns(int32_t above)
{
    if (t.count == 0 || (above >= 0 && !ready_gives_way(t.levels, (uint32_t)above)))
        return WB_FOREVER;
    return key(0);
}

void timers_wake(uint64_t now_ns)
{
    while (timers_next_ns(-1) <= now_ns) {
        struct wb_task *task = t.heap[0];
        timers_remove(task);
        wb_kernel_unblock(task);
    }
}

void timers_move(struct wb_task *task)
{
    if (kernel_task(task)->timer == 0)
        return;
    timers_remove(task);
    timers_add(task, kernel_task(task)->until_ns);
}
