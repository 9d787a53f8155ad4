// SPDX-License-Identifier: Apache-2.0
// Events of the core that a task is on: it gives way, moves, or changes its priority.

#include "run.h"

enum stop run_yield(struct run *run)
{
    wb_yield();
    return run_done(run);
}

// First it is done: one that is recreated starts at its entry over there.
enum stop run_migrate(struct run *run, const struct wb_script_event *event)
{
    (void)run_done(run);
    for (uint32_t i = 0; i < event->n_numbers; i++)
        if (event->numbers[i] == wb_task_core(run->self))
            return GO_ON;
    const enum wb_status status = wb_migrate(run->self, (uint32_t)event->numbers[0], WB_FOREVER);
    if (status == WB_ERR_INVAL)
        run_fail(run, event, "it moves to a core that there is not, or that it does not run on");
    return GO_ON;
}

enum stop run_prioritise(struct run *run, const struct wb_script_event *event)
{
    struct wb_task *self = run->self;

    // Relaxed: others take it for a hint (wb_inherit_release()).
    wb_word_store(&self->priority, (uint32_t)event->amount, WB_RELAXED);
    if (wb_parts.locks->inherit(self))
        wb_kernel_reprioritise(self);
    return run_done(run);
}
