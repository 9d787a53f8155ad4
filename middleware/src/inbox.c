// SPDX-License-Identifier: Apache-2.0
// The inbox: notes between cores, and the agent that acts on them.
//
// A note is one bit, "look at task N". What is to be done is read from the task's place, so notes
// may coalesce, come late, come twice, or come to a core that the task has left: that core passes
// them on to the task's new owner.

#include "gate.h"
#include "replicate.h"
#include "wb/system.h"

void wb_inbox_post(struct wb_core *core, uint32_t task)
{
    const uint32_t word = task / 32;

    wb_kernel_charge(WB_ACTION_POST, 1);
    // The bit first, then its summary: who takes the summary finds the bit. Release publishes what
    // the note is about. The summary is seq_cst against the sleeper's flag (see
    // wb_kernel_doorbell).
    atomic_fetch_or_explicit(&core->inbox.words[word], 1u << task % 32, memory_order_release);
    atomic_fetch_or_explicit(&core->inbox.summary, 1u << word % 32, memory_order_seq_cst);
    wb_kernel_doorbell(core->index);
}

void wb_inbox_ring(struct wb_core *core)
{
    wb_kernel_charge(WB_ACTION_POST, 1);
    // As above; no word has a bit, so no task is looked at.
    atomic_fetch_or_explicit(&core->inbox.summary, 1, memory_order_seq_cst);
    wb_kernel_doorbell(core->index);
}

// The target's half of a migration: one compare-and-swap decides against a withdrawal.
static void arrive(struct wb_core *core, struct wb_task *task, uint32_t place)
{
    const uint32_t ready = wb_place(WB_TASK_READY, core->index);
    struct wb_fetched fetched;

    const enum wb_status status = wb_replica_fetch(core, task, place, &fetched);
    if (status == WB_ERR_EMPTY) {
        // The source is still filling the buffer: other tasks run meanwhile.
        wb_inbox_post(core, task->id);
        return;
    }
    if (status != WB_OK) {
        wb_migration_refuse(task, place, status);
        return;
    }
    if (!wb_recreation_load(task))
        return;
    // Acquire: the parked context and everything the task wrote is visible here.
    if (!atomic_compare_exchange_strong_explicit(&task->place, &place, ready, memory_order_acq_rel,
                                                 memory_order_relaxed)) {
        if (task->mode == WB_RECREATE)
            wb_kernel_unload(task);
        return;
    }
    wb_replica_settle(core, task, &fetched);
    wb_kernel_charge(WB_ACTION_ATTACH, 1);
    const uint64_t now_ns = wb_kernel_now_ns();
    // A task that recovery gave away carries no request: its record may be another's to write.
    if (wb_request_phase(atomic_load_explicit(&task->request, memory_order_relaxed)) ==
        WB_REQUEST_ACCEPTED)
        task->migration.attached_ns = now_ns;
    wb_report_arrival(task, wb_place_owner(place), now_ns);
    wb_record_event(core, WB_EVENT_ATTACH, task->id, wb_place_owner(place), 0, now_ns);
    wb_task_attach(task);
}

void wb_task_attach(struct wb_task *task)
{
    // Not yet in a queue of this kernel, so there is nothing to move.
    (void)wb_inherit_nudged(task);
    wb_kernel_attach(task);
}

static inline void look_at_own(struct wb_core *core, struct wb_task *task, enum wb_task_state state)
{
    switch (state) {
    case WB_TASK_NEW:
        wb_report_arrival(task, core->index, wb_kernel_now_ns());
        atomic_store_explicit(&task->place, wb_place(WB_TASK_READY, core->index),
                              memory_order_relaxed);
        wb_task_attach(task);
        break;
    case WB_TASK_RETURNED:
        wb_migration_returned(core, task);
        break;
    case WB_TASK_READY:
    case WB_TASK_RUNNING:
    case WB_TASK_BLOCKED:
        if (wb_inherit_nudged(task))
            wb_kernel_reprioritise(task);
        wb_kernel_unblock(task);
        break;
    case WB_TASK_OFFERED:  // whoever attaches it unblocks it
    case WB_TASK_ENDED:
    case WB_TASK_LOST:
        break;
    }
}

static inline void look(struct wb_core *core, struct wb_task *task)
{
    const uint32_t place = atomic_load_explicit(&task->place, memory_order_acquire);
    const enum wb_task_state state = wb_place_state(place);

    if (state == WB_TASK_OFFERED && wb_place_target(place) == core->index)
        arrive(core, task, place);
    else if (wb_place_owner(place) == core->index)
        look_at_own(core, task, state);
    else if (!wb_place_is_over(place))
        wb_inbox_post(core->system->cores[wb_place_owner(place)], task->id);
}

uint32_t wb_agent_serve(struct wb_core *core)
{
    struct wb_inbox *inbox = &core->inbox;
    uint32_t served = 0;

    // Acquire: a bit whose summary we take is visible, and so is what it is about.
    uint32_t summary = atomic_exchange_explicit(&inbox->summary, 0, memory_order_acq_rel);
    for (; summary != 0; summary &= summary - 1) {
        for (uint32_t w = (uint32_t)__builtin_ctz(summary); w < inbox->n_words; w += 32) {
            uint32_t bits = atomic_exchange_explicit(&inbox->words[w], 0, memory_order_acq_rel);
            for (; bits != 0; bits &= bits - 1, served++)
                look(core, &core->system->tasks[w * 32 + (uint32_t)__builtin_ctz(bits)]);
        }
    }
    if (served != 0) {
        wb_kernel_charge(WB_ACTION_SERVE, served);
        wb_counter_add(&core->stats.notes, served);
    }
    wb_agent_obey(core);
    return served;
}

void wb_task_wake(struct wb_task *task)
{
    const uint32_t place = atomic_load_explicit(&task->place, memory_order_acquire);
    const uint32_t owner = wb_place_owner(place);

    // A task of this core cannot leave it while we run here, so it can be unblocked directly.
    if (owner == wb_kernel_core() && wb_kernel_self() != NULL &&
        wb_place_state(place) != WB_TASK_OFFERED && wb_place_state(place) != WB_TASK_RETURNED)
        look_at_own(task->system->cores[owner], task, wb_place_state(place));
    else
        wb_inbox_post(task->system->cores[owner], task->id);
}
