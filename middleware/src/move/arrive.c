// SPDX-License-Identifier: Apache-2.0
// How a core takes a task in: one that is offered to it, or one that comes back to it.

#include "../internal.h"

void wb_task_attach(struct wb_core *core, struct wb_task *task)
{
    // Not yet in a queue of this kernel, so there is nothing to move.
    if (wb_is_nudged(task))
        (void)wb_parts.locks->inherit(task);
    const struct wb_part_agents *agents = wb_reporting(core->system);
    if (agents != NULL)
        agents->attached(task, core);
    wb_kernel_attach(task);
}

// A task that recovery gave away carries no request: its record may be another's to write.
static bool is_accepted(const struct wb_task *task)
{
    return wb_request_phase(wb_word_load(&task->request, WB_RELAXED)) == WB_REQUEST_ACCEPTED;
}

// Its memory is here, wherever here is, and its context complete.
static bool is_here(const struct wb_task *task)
{
    return wb_task_is_handed_off(task) && wb_revival(task) == WB_REVIVE_NOT;
}

// Brings the memory of a task that this core is about to take in here, and makes its context
// complete. May be done again.
static enum wb_status fetch(struct wb_core *core, struct wb_task *task, uint32_t place,
                            struct wb_fetched *fetched)
{
    const struct wb_mover *mover = wb_mover_of(task);
    const uint32_t revival = wb_revival(task);

    if (revival != WB_REVIVE_NOT)
        return wb_parts.deaths->revive(core, task, place, revival, fetched);
    return mover != NULL && mover->fetch != NULL ? mover->fetch(core, task, place, fetched) : WB_OK;
}

// The same of one that is offered; false: it does not come, or not yet.
static bool bring(struct wb_core *core, struct wb_task *task, uint32_t place,
                  struct wb_fetched *fetched)
{
    const struct wb_mover *mover = wb_mover_of(task);

    *fetched = (struct wb_fetched){ 0 };
    const enum wb_status status = fetch(core, task, place, fetched);
    if (status == WB_ERR_EMPTY) {
        // The source is still filling the buffer: other tasks run meanwhile.
        wb_inbox_post(core, task->id);
        return false;
    }
    if (status != WB_OK) {
        wb_migration_refuse(task, place, status);
        return false;
    }
    return mover == NULL || mover->load == NULL || mover->load(task);
}

static void unload(struct wb_task *task)
{
    const struct wb_mover *mover = wb_mover_of(task);

    if (mover != NULL && mover->unload != NULL)
        mover->unload(task);
}

// Notes that the task, taken by this core, has its memory here, and how it came.
static void settle(const struct wb_core *core, struct wb_task *task,
                   const struct wb_fetched *fetched)
{
    // Should this kernel die before this, the next one fetches again from where it was. Relaxed:
    // the place publishes it with all the rest when the task leaves here.
    wb_word_store(&task->memory_core, core->index, WB_RELAXED);
    wb_word_store(&task->revive, WB_REVIVE_NOT, WB_RELAXED);
    wb_mover_end(task);
    if (fetched->bytes == 0 || !is_accepted(task))
        return;
    task->migration.bytes = fetched->bytes;
    task->migration.copied_ns = fetched->copied_ns;
}

// The target's half of a migration: one compare-and-swap decides against a withdrawal.
void wb_migration_arrive(struct wb_core *core, struct wb_task *task, uint32_t place)
{
    const uint32_t ready = wb_place(WB_TASK_READY, core->index);
    const bool here = is_here(task);
    struct wb_fetched fetched;

    if (!here && !bring(core, task, place, &fetched))
        return;
    // Acquire: the parked context and everything the task wrote is visible here.
    if (!wb_word_compare_swap(&task->place, &place, ready, WB_ACQ_REL, WB_RELAXED)) {
        unload(task);
        return;
    }
    if (here)
        wb_word_store(&task->memory_core, core->index, WB_RELAXED);
    else
        settle(core, task, &fetched);
    wb_kernel_charge(WB_ACTION_ATTACH, 1);
    const uint64_t now_ns = wb_kernel_now_ns();
    if (is_accepted(task))
        task->migration.attached_ns = now_ns;
    const struct wb_part_agents *agents = wb_reporting(core->system);
    if (agents != NULL)
        agents->arrival(task, wb_place_owner(place), now_ns);
    wb_record(core, WB_EVENT_ATTACH, task->id, wb_place_owner(place), 0, now_ns);
    wb_task_attach(core, task);
}

void wb_task_came_asleep(struct wb_task *task, uint64_t now_ns)
{
    const uint32_t owner = wb_place_owner(wb_word_load(&task->place, WB_RELAXED));

    wb_word_store(&task->place, wb_place(WB_TASK_BLOCKED, owner), WB_RELAXED);
    if (is_accepted(task))
        wb_migration_settle(task, now_ns);
}

void wb_migration_returned(struct wb_core *core, struct wb_task *task)
{
    const uint64_t now_ns = wb_kernel_now_ns();
    const uint32_t place = wb_word_load(&task->place, WB_RELAXED);
    const enum wb_status why = wb_place_why(place);
    struct wb_fetched fetched = { 0 };

    // The heir of a dead source has to fetch its memory; the source itself has it.
    if (fetch(core, task, place, &fetched) != WB_OK) {
        // Nobody else can end it: it is accepted, and there is no offer to withdraw.
        wb_migration_finish(task, WB_ERR_GONE);
        wb_parts.deaths->lose(task, core->index);
        return;
    }
    settle(core, task, &fetched);
    wb_word_store(&task->place, wb_place(WB_TASK_READY, core->index), WB_RELAXED);
    wb_counter_add(&task->stats.refused, 1);
    wb_record(core, WB_EVENT_RETURN, task->id, task->migration.target, 0, now_ns);
    wb_migration_finish(task, why);
    wb_task_attach(core, task);
}
