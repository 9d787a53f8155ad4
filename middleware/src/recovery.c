// SPDX-License-Identifier: Apache-2.0
// What happens to the tasks of a kernel that was killed.
//
// A killed kernel leaves every task but the running one with a complete context, so those are
// offered to a living core like any other hand-off. The running one lost its registers: it starts
// again from its newest checkpoint image, or from its entry with its state pointer and with its
// ports as the channels say, or is lost. The killed kernel may have died between any two stores;
// each step below says what it repairs.

#include "gate.h"
#include "image.h"
#include "pipeline.h"
#include "transfer.h"
#include "wb/system.h"

static bool is_up(const struct wb_core *core)
{
    const uint32_t state = atomic_load_explicit(&core->state, memory_order_acquire);
    return state == WB_CORE_UP || state == WB_CORE_DOWN;
}

static struct wb_core *next_up(const struct wb_system *system, uint32_t dead,
                               const struct wb_task *task)
{
    for (uint32_t i = 1; i < system->n_cores; i++) {
        struct wb_core *core = system->cores[(dead + i) % system->n_cores];
        if (is_up(core) && (task == NULL || wb_task_runs_on(task, core)))
            return core;
    }
    return NULL;
}

struct wb_core *wb_core_heir(const struct wb_system *system, uint32_t dead)
{
    return next_up(system, dead, NULL);
}

struct wb_core *wb_task_heir(const struct wb_task *task, uint32_t dead)
{
    return next_up(task->system, dead, task);
}

// Offers the task to a living core; false if it is no longer where it was seen. Nobody withdraws
// this offer: it has the number of the request after the present one, which cannot be accepted
// before the task runs again.
static bool give(struct wb_task *task, uint32_t place, struct wb_core *to)
{
    const uint32_t request = atomic_load_explicit(&task->request, memory_order_relaxed);
    const uint32_t offer =
        wb_place_offer(wb_place_owner(place), to->index, wb_request_number(request) + 1);

    if (!atomic_compare_exchange_strong_explicit(&task->place, &place, offer, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return false;
    wb_inbox_post(to, task->id);
    return true;
}

static void leave_all(struct wb_task *task)
{
    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task)
        wb_port_shut(port);
    wb_heap_close(&task->heap);
    wb_shared_close(&task->shared);
}

void wb_task_lose(struct wb_task *task, uint32_t core)
{
    leave_all(task);
    wb_transfer_release(task);
    wb_gate_recover(task);
    atomic_store_explicit(&task->place, wb_place(WB_TASK_LOST, core), memory_order_seq_cst);
    wb_migration_cancel(task, WB_ERR_GONE);
    wb_system_task_over(task->system);
}

void wb_task_recover_ports(struct wb_task *task)
{
    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task) {
        // From its entry it sends anew: nothing that it may have gone on from knows of it.
        port->echo = port->echoed = 0;
        if (port->channel->tickets != NULL)
            wb_mailbox_recover(port);
        else
            wb_channel_recover(port);
    }
}

// The running task has lost its registers, and a recreated one its memory, whatever it did.
static bool is_cut_short(const struct wb_task *task, enum wb_task_state state)
{
    return state == WB_TASK_RUNNING ||
           (task->mode == WB_RECREATE && (state == WB_TASK_READY || state == WB_TASK_BLOCKED));
}

bool wb_task_revive(struct wb_task *task)
{
    // What a recreated task goes on from, its program finds out (wb_recreation_begin()).
    const bool resumed = task->mode != WB_RECREATE && wb_image_resume(task);

    if (!resumed && !task->restart)
        return false;
    if (!resumed) {
        if (task->mode != WB_RECREATE)
            wb_task_recover_ports(task);
        task->restarts++;
        task->heap.generation = task->restarts;
        wb_shared_restart(&task->shared, task->restarts);
    }
    wb_pipeline_end(task);
    task->step = NULL;
    task->poll_mark_ns = 0;
    // Relaxed: the offer that follows publishes it.
    atomic_store_explicit(&task->revive, resumed ? WB_REVIVE_IMAGE : WB_REVIVE_ENTRY,
                          memory_order_relaxed);
    wb_gate_recover(task);
    // Release: who takes a mutex over from the task's former life sees what that did to what it
    // guards, as far as the dead kernel's stores have come.
    atomic_fetch_add_explicit(&task->lives, 1, memory_order_release);
    return true;
}

// A request that the dead core was writing, withdrawing, or carrying out will not be finished by
// it.
static void end_request(struct wb_task *task, uint32_t dead, bool orphan)
{
    const uint32_t request = atomic_load_explicit(&task->request, memory_order_acquire);
    const enum wb_request_phase phase = wb_request_phase(request);

    if ((phase == WB_REQUEST_FILLING && wb_request_core(request) == dead) ||
        (phase == WB_REQUEST_ACCEPTED && orphan))
        wb_migration_finish(task, WB_ERR_GONE);
    else if (phase != WB_REQUEST_NONE && wb_request_core(request) == dead)
        wb_migration_cancel(task, WB_ERR_GONE);
}

// True when no living core will see to the task. Its owner may have died before this death, with
// the task on offer to the core that has died now.
static bool is_orphan(const struct wb_task *task, uint32_t place)
{
    struct wb_core *const *cores = task->system->cores;

    if (wb_place_state(place) == WB_TASK_OFFERED && is_up(cores[wb_place_target(place)]))
        return false;
    return !is_up(cores[wb_place_owner(place)]);
}

// True of a task between its source and its target. Others may withdraw its hand-off meanwhile.
static bool is_on_its_way(const struct wb_task *task, uint32_t place)
{
    const enum wb_task_state state = wb_place_state(place);
    const uint32_t request = atomic_load_explicit(&task->request, memory_order_acquire);

    return state == WB_TASK_RETURNED ||
           (state == WB_TASK_OFFERED && wb_request_phase(request) == WB_REQUEST_ACCEPTED);
}

// Returns true when the task is lost.
static bool take_over(struct wb_task *task, uint32_t dead)
{
    struct wb_core *heir = wb_task_heir(task, dead);
    const uint32_t place = atomic_load_explicit(&task->place, memory_order_acquire);
    const enum wb_task_state state = wb_place_state(place);
    const bool over = wb_place_is_over(place);
    const bool orphan = !over && is_orphan(task, place);

    if (orphan && heir != NULL && is_on_its_way(task, place)) {
        wb_migration_cancel(task, WB_ERR_GONE);
        wb_migration_readdress(task);
        return false;
    }
    end_request(task, dead, orphan);
    if (over && wb_place_owner(place) == dead)
        leave_all(task);
    if (over)
        // Neither the task's kernel nor the requester's may have come to look at the other's word.
        wb_migration_cancel(task, WB_ERR_GONE);
    if (state == WB_TASK_OFFERED && !orphan)
        // The source may not have come to tell it.
        wb_inbox_post(task->system->cores[wb_place_target(place)], task->id);
    if (!orphan)
        return false;
    if (heir == NULL || (is_cut_short(task, state) && !wb_task_revive(task))) {
        wb_task_lose(task, dead);
        return true;
    }
    // An offer may have been withdrawn and taken back since we looked.
    return !give(task, place, heir) && take_over(task, dead);
}

void wb_system_look_again(struct wb_system *system)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        // Release: who sees the count sees what was repaired before.
        atomic_fetch_add_explicit(&system->tasks[i].sync.nudges, 1, memory_order_release);
        wb_task_wake(&system->tasks[i]);
    }
}

uint32_t wb_core_died(struct wb_system *system, uint32_t core)
{
    uint32_t lost = 0;

    // seq_cst against wb_task_departed(): an offer to this core is either seen below or withdrawn
    // by its source.
    atomic_store_explicit(&system->cores[core]->state, WB_CORE_DEAD, memory_order_seq_cst);
    for (uint32_t i = 0; i < system->n_tasks; i++)
        lost += take_over(&system->tasks[i], core);
    // The dead core may have changed a channel and not woken its peer, or taken a note and not
    // acted on it.
    wb_system_look_again(system);
    for (uint32_t i = 0; i < system->n_cores; i++)
        wb_kernel_doorbell(i);
    wb_coordinator_replace(system);
    return lost;
}
