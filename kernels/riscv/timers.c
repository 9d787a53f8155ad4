// SPDX-License-Identifier: Apache-2.0
// A list of tasks by the time they wake. A core has few.
//
// A task may be woken early, and run on another core next: it is left in the list that it slept by,
// which is this core's alone, and wakes once more in vain; or less, when it sleeps here again.

#include "internal.h"
#include "riscv_board.h"

static struct wb_task *first WB_PRIVATE;

static struct timer *timer_of(struct wb_task *task)
{
    return &of(task)->timers[here()];
}

void timers_add(struct wb_task *task, uint64_t until_ns)
{
    struct wb_task **at = &first;

    timers_remove(task);
    while (*at != NULL && timer_of(*at)->until_ns <= until_ns)
        at = &timer_of(*at)->later;
    *timer_of(task) = (struct timer){ .later = *at, .until_ns = until_ns, .on = true };
    *at = task;
}

void timers_remove(struct wb_task *task)
{
    struct wb_task **at = &first;

    if (!timer_of(task)->on)
        return;
    while (*at != task)
        at = &timer_of(*at)->later;
    *at = timer_of(task)->later;
    timer_of(task)->on = false;
}

__attribute__((hot)) uint64_t timers_next_ns(int32_t above)
{
    struct wb_task *task = first;

    while (task != NULL && (int32_t)wb_sync_priority(&task->sync) <= above)
        task = timer_of(task)->later;
    return task != NULL ? timer_of(task)->until_ns : WB_FOREVER;
}

void timers_wake(uint64_t now_ns)
{
    while (first != NULL && timer_of(first)->until_ns <= now_ns) {
        struct wb_task *task = first;
        timers_remove(task);
        wb_kernel_unblock(task);
    }
}
