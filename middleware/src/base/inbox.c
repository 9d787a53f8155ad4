// SPDX-License-Identifier: Apache-2.0
// The inbox: notes between cores.
//
// A note is one bit, "look at task N". What is to be done is read from the task's owner state, so
// notes may coalesce, come late, come twice, or come to a core that the task has left: that core
// passes them on to the task's new owner (serve.c).

#include "base.h"

// Both words of most notes are one step: who polls the summary would take its line away in between.
static inline bool is_one_step(const struct wb_core *core, uint32_t task)
{
    return task < 32 && wb_inbox_has_pair(&core->inbox);
}

// Release publishes what the note is about.
static inline void set_pending(struct wb_core *core, uint32_t task)
{
    if (is_one_step(core, task))
        wb_pair_or(&core->inbox.pair, 0, 1u << task, WB_RELEASE);
    else
        (void)wb_word_or(&core->inbox.words[task / 32], 1u << task % 32, WB_RELEASE);
}

// After the bits, so who takes the summary finds them. seq_cst against the sleeper's flag (see
// wb_kernel_doorbell).
static inline void announce(struct wb_core *core, uint32_t summary)
{
    (void)wb_word_or(&core->inbox.summary, summary, WB_SEQ_CST);
    wb_kernel_doorbell(core->index);
}

static inline void post(struct wb_core *core, uint32_t task)
{
    wb_kernel_charge(WB_ACTION_POST, 1);
    if (is_one_step(core, task)) {
        // seq_cst, which releases as well: both as above.
        wb_pair_or(&core->inbox.pair, 1, 1u << task, WB_SEQ_CST);
        wb_kernel_doorbell(core->index);
    } else {
        set_pending(core, task);
        announce(core, 1u << task / 32 % 32);
    }
}

void wb_inbox_post(struct wb_core *core, uint32_t task)
{
    post(core, task);
}

void wb_inbox_ring(struct wb_core *core)
{
    wb_kernel_charge(WB_ACTION_POST, 1);
    // No word has a bit, so no task is looked at.
    announce(core, 1);
}

// Only this core's kernel unblocks a task of this core, or any kernel one that all share.
static inline bool is_unblocked_here(const struct wb_task *task, uint32_t owner_state)
{
    return wb_kernel_self() != NULL &&
           (task->system->shares || wb_owner_state_is_kept(owner_state, wb_kernel_core()));
}

__attribute__((hot)) void wb_task_wake(struct wb_task *task)
{
    if (WB_KERNEL_WAKES(task))
        return;
    // One step: were this task interrupted between the look and the unblock, the other could leave,
    // and another core own what is unblocked here.
    wb_kernel_enter();
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);

    if (is_unblocked_here(task, owner_state))
        wb_kernel_unblock(task);
    else
        post(task->system->cores[wb_owner_of(owner_state)], task->id);
    wb_kernel_leave();
}

// ---- Several at a time --------------------------------------------------------------------------

struct wb_wakes wb_wakes_begin(void)
{
    wb_kernel_enter();
    return (struct wb_wakes){ 0 };
}

// Its bit stays without a summary, so nobody looks at it before another note comes to that core.
static inline void add_pending(struct wb_wakes *wakes, const struct wb_task *task, uint32_t core)
{
    set_pending(task->system->cores[core], task->id);
    wakes->cores |= 1u << core % 32;
    wakes->words |= 1u << task->id / 32 % 32;
    wakes->notes++;
}

void wb_wakes_set_pending(struct wb_wakes *wakes, const struct wb_task *task)
{
    add_pending(wakes, task, wb_task_core(task));
}

void wb_wakes_add(struct wb_wakes *wakes, struct wb_task *task)
{
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);

    if (is_unblocked_here(task, owner_state))
        wb_kernel_unblock(task);
    else
        add_pending(wakes, task, wb_owner_of(owner_state));
}

// A word in which there are notes, whoever's. Where none is left, that core has taken them.
static uint32_t summary_of(const struct wb_inbox *inbox, uint32_t words)
{
    uint32_t summary = 0;

    for (; words != 0; words &= words - 1)
        for (uint32_t w = (uint32_t)__builtin_ctz(words); w < inbox->n_words; w += 32)
            // Relaxed: of a bit that this core has set nothing older is seen.
            if (wb_word_load(&inbox->words[w], WB_RELAXED) != 0)
                summary |= 1u << w % 32;
    return summary;
}

void wb_wakes_end(const struct wb_wakes *wakes, struct wb_system *system)
{
    for (uint32_t i = 0; i < wakes->notes; i++)
        wb_kernel_charge(WB_ACTION_POST, 1);
    for (uint32_t cores = wakes->cores; cores != 0; cores &= cores - 1) {
        for (uint32_t c = (uint32_t)__builtin_ctz(cores); c < system->n_cores; c += 32) {
            const uint32_t summary = summary_of(&system->cores[c]->inbox, wakes->words);
            if (summary != 0)
                announce(system->cores[c], summary);
        }
    }
    wb_kernel_leave();
}
