// SPDX-License-Identifier: Apache-2.0
// How a run ends: by a fault, by a stop, or because every task is over. And what the launcher
// changes while it goes on.

#include "../word/mem.h"
#include "base.h"

static void keep_fault(struct wb_fault *fault, enum wb_fault_kind kind, const struct wb_task *task,
                       const struct wb_channel *channel, const char *text)
{
    if (wb_word_swap(&fault->taken, 1, WB_RELAXED) != 0)
        return;
    fault->kind = kind;
    fault->core = wb_kernel_core();
    fault->task = task != NULL ? task->id : UINT32_MAX;
    fault->channel = channel != NULL ? channel->id : UINT32_MAX;
    wb_text_copy(fault->text, text, sizeof fault->text);
    // Release: the launcher reads it once it sees that it is complete.
    wb_word_store(&fault->complete, 1, WB_RELEASE);
}

void wb_system_fault(struct wb_system *system, enum wb_fault_kind kind, const struct wb_task *task,
                     const char *text)
{
    keep_fault(&system->fault, kind, task, NULL, text);
}

void wb_task_blame(struct wb_task *self, enum wb_fault_kind kind, const struct wb_channel *channel,
                   const char *text)
{
    keep_fault(&self->system->fault, kind, self, channel, text);
    wb_kernel_halt();
}

void wb_task_fail(struct wb_task *self, const char *text)
{
    wb_task_blame(self, WB_FAULT_TASK, NULL, text);
}

void wb_task_exit(struct wb_task *self, const char *text)
{
    if (text != NULL)
        keep_fault(&self->system->failure, WB_FAULT_EXIT, self, NULL, text);
    wb_kernel_exit();
}

void wb_system_over(struct wb_system *system)
{
    // A swap, not a store: a task that ends at the same time takes itself off the same word.
    (void)wb_word_swap(&system->live, 0, WB_SEQ_CST);
    for (uint32_t i = 0; i < system->n_cores; i++)
        wb_kernel_doorbell(i);
}

// Never below zero: a sweep may have found that all are over before the last of them is counted.
void wb_system_task_over(struct wb_system *system)
{
    uint32_t live = wb_word_load(&system->live, WB_RELAXED);

    while (live > 1 &&
           !wb_word_compare_swap_weak(&system->live, &live, live - 1, WB_ACQ_REL, WB_RELAXED)) {}
    if (live == 1)
        wb_system_over(system);
}

void wb_system_stop(struct wb_system *system)
{
    wb_word_store(&system->stopping, 1, WB_RELAXED);
    struct wb_wakes wakes = wb_wakes_begin();
    for (uint32_t i = 0; i < system->n_tasks; i++)
        wb_wakes_add(&wakes, &system->tasks[i]);
    wb_wakes_end(&wakes, system);
}

void wb_system_set_rate(struct wb_system *system, uint32_t rate_millihz)
{
    // Relaxed: the word is all there is to know.
    wb_word_store(&system->rate_millihz, rate_millihz, WB_RELAXED);
}
