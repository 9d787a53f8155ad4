// SPDX-License-Identifier: Apache-2.0
// When a wait ends, and the time that a task has had.

#include "base.h"

uint64_t wb_end_from_now(uint64_t timeout_ns)
{
    const uint64_t now_ns = wb_kernel_now_ns();

    return timeout_ns > WB_FOREVER - now_ns ? WB_FOREVER : now_ns + timeout_ns;
}

void wb_task_count_polling(struct wb_task *task, struct wb_core *core, uint64_t now_ns)
{
    const uint64_t polled_ns = wb_task_polled(task, now_ns);

    task->poll_mark_ns = 0;
    task->resumed_ns += polled_ns;
    wb_counter_add(&task->stats.polling_ns, polled_ns);
    wb_counter_add(&core->stats.polling_ns, polled_ns);
}
