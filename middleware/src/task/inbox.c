// SPDX-License-Identifier: Apache-2.0
// The inbox: notes between cores.
//
// A note is one bit, "look at task N". What is to be done is read from the task's place, so notes
// may coalesce, come late, come twice, or come to a core that the task has left: that core passes
// them on to the task's new owner (serve.c).

#include "../internal.h"

static inline void post(struct wb_core *core, uint32_t task)
{
    const uint32_t word = task / 32;

    wb_kernel_charge(WB_ACTION_POST, 1);
    // The bit first, then its summary: who takes the summary finds the bit. Release publishes what
    // the note is about. The summary is seq_cst against the sleeper's flag (see
    // wb_kernel_doorbell).
    wb_word_or(&core->inbox.words[word], 1u << task % 32, WB_RELEASE);
    wb_word_or(&core->inbox.summary, 1u << word % 32, WB_SEQ_CST);
    wb_kernel_doorbell(core->index);
}

void wb_inbox_post(struct wb_core *core, uint32_t task)
{
    post(core, task);
}

void wb_inbox_ring(struct wb_core *core)
{
    wb_kernel_charge(WB_ACTION_POST, 1);
    // As above; no word has a bit, so no task is looked at.
    wb_word_or(&core->inbox.summary, 1, WB_SEQ_CST);
    wb_kernel_doorbell(core->index);
}

__attribute__((hot)) void wb_task_wake(struct wb_task *task)
{
    // One step: were this task interrupted between the look and the unblock, the other could leave,
    // and another core own what is unblocked here.
    wb_kernel_enter();
    const uint32_t place = wb_word_load(&task->place, WB_ACQUIRE);

    if (wb_kernel_self() != NULL &&
        (task->system->shares || wb_place_is_kept(place, wb_kernel_core())))
        wb_kernel_unblock(task);
    else
        post(task->system->cores[wb_place_owner(place)], task->id);
    wb_kernel_leave();
}
