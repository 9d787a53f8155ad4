// SPDX-License-Identifier: Apache-2.0
// The end of a run, and what the launcher changes while it goes on.

#include "../internal.h"

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
