// SPDX-License-Identifier: Apache-2.0
// Faults: why a run ends before its time.

#include "../internal.h"
#include "../word/mem.h"

void wb_system_fault(struct wb_system *system, enum wb_fault_kind kind, const struct wb_task *task,
                     const char *text)
{
    struct wb_fault *fault = &system->fault;

    if (wb_word_swap(&fault->taken, 1, WB_RELAXED) != 0)
        return;
    fault->kind = kind;
    fault->core = wb_kernel_core();
    fault->task = task != NULL ? task->id : UINT32_MAX;
    wb_text_copy(fault->text, text, sizeof fault->text);
    // Release: the launcher reads the fault once it sees that it is complete.
    wb_word_store(&fault->complete, 1, WB_RELEASE);
}

void wb_task_fail(struct wb_task *self, const char *text)
{
    wb_system_fault(self->system, WB_FAULT_TASK, self, text);
    wb_kernel_halt();
}
