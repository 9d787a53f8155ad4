// SPDX-License-Identifier: Apache-2.0
// A list of tasks by the time they wake. A core has few.

#include "own.h"
#include "riscv_board.h"

static struct wb_task *first WB_PRIVATE;

void timers_add(struct wb_task *task, uint64_t until_ns)
{
    struct wb_task **at = &first;

    while (*at != NULL && of(*at)->until_ns <= until_ns)
        at = &of(*at)->later;
    of(task)->until_ns = until_ns;
    of(task)->timed = true;
    of(task)->later = *at;
    *at = task;
}

void timers_remove(struct wb_task *task)
{
    struct wb_task **at = &first;

    if (!of(task)->timed)
        return;
    while (*at != task)
        at = &of(*at)->later;
    *at = of(task)->later;
    of(task)->timed = false;
}

uint64_t timers_next_ns(int32_t above)
{
    struct wb_task *task = first;

    while (task != NULL && (int32_t)wb_sync_priority(&task->sync) <= above)
        task = of(task)->later;
    return task != NULL ? of(task)->until_ns : WB_FOREVER;
}

void timers_wake(uint64_t now_ns)
{
    while (first != NULL && of(first)->until_ns <= now_ns)
        wb_kernel_unblock(first);
}
