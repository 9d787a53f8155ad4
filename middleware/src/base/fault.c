// SPDX-License-Identifier: Apache-2.0
// Faults: why a run ends before its time.

#include "../internal.h"
#include "../word/mem.h"

static void note(struct wb_system *system, enum wb_fault_kind kind, const struct wb_task *task,
                 const struct wb_channel *channel, const char *text)
{
    struct wb_fault *fault = &system->fault;

    if (wb_word_swap(&fault->taken, 1, WB_RELAXED) != 0)
        return;
    fault->kind = kind;
    fault->core = wb_kernel_core();
    fault->task = task != NULL ? task->id : UINT32_MAX;
    fault->channel = channel != NULL ? channel->id : UINT32_MAX;
    wb_text_copy(fault->text, text, sizeof fault->text);
    // Release: the launcher reads the fault once it sees that it is complete.
    wb_word_store(&fault->complete, 1, WB_RELEASE);
}

void wb_system_fault(struct wb_system *system, enum wb_fault_kind kind, const struct wb_task *task,
                     const char *text)
{
    note(system, kind, task, NULL, text);
}

void wb_task_blame(struct wb_task *self, enum wb_fault_kind kind, const struct wb_channel *channel,
                   const char *text)
{
    note(self->system, kind, self, channel, text);
    wb_kernel_halt();
}

void wb_task_fail(struct wb_task *self, const char *text)
{
    wb_task_blame(self, WB_FAULT_TASK, NULL, text);
}
