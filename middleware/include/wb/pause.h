// SPDX-License-Identifier: Apache-2.0
// wb_task_paused() for kernels that are to switch in few instructions, where there is memory for it
// twice: inline, and without calls, so no registers have to be saved.
#ifndef WB_PAUSE_H
#define WB_PAUSE_H

#include "wb/system.h"

/// Does what wb_task_paused() does, for a task that has not ended and of which nothing unusual is
/// to be counted. False: nothing is done, and wb_task_paused() is to be called.
///
/// Context: as of wb_task_paused().
static inline __attribute__((always_inline)) bool
wb_task_paused_plainly(struct wb_task *task, enum wb_task_state state, uint64_t now_ns)
{
    const uint32_t owner = wb_owner_of(wb_word_load(&task->owner_state, WB_RELAXED));
    const struct wb_system *system = task->system;
    struct wb_core_stats *stats = &system->cores[owner]->stats;
    const uint64_t busy_ns = now_ns - task->resumed_ns;
    const uint32_t ns = (uint32_t)busy_ns;

    if (ns != busy_ns || task->poll_mark_ns != 0 || task->open ||
        system->config.record_events != 0 || !wb_counter_is_plain(&task->stats.busy_ns, ns) ||
        !wb_counter_is_plain(&stats->busy_ns, ns) || !wb_counter_is_plain(&stats->switches, 1))
        return false;
    task->resumed_ns = now_ns;
    wb_counter_add_plainly(&task->stats.busy_ns, ns);
    wb_counter_add_plainly(&stats->busy_ns, ns);
    wb_counter_add_plainly(&stats->switches, 1);
    // Release: should this kernel die now, whoever adopts the task sees its whole context.
    wb_word_store(&task->owner_state, wb_owner_state(state, owner), WB_RELEASE);
    return true;
}

#endif
