// SPDX-License-Identifier: Apache-2.0
// The life of a task: what its kernel tells of it.

#include "wb/launcher.h"
#include "wb/wb.h"

#include "../memory/memory.h"
#include "life.h"

void wb_task_main(struct wb_task *task)
{
    if (task->period_ns != 0)
        wb_sleep_until(task->arrival.ready_ns);
    wb_task_entry *entry =
        wb_has_programs(task->system) ? wb_task_entry_on(task, wb_core_of(task)) : task->entry;
    const int result = entry(task);

    if (result != 0)
        wb_task_fail(task, "its function returned an error");
    wb_kernel_exit();
}

// More than that it runs: the run is recorded, or the task has come by a migration.
static __attribute__((noinline)) void note_run(struct wb_task *task, uint32_t core, uint64_t now_ns)
{
    wb_counter_add(&task->stats.runs, 1);
    wb_record(task->system->cores[core], WB_EVENT_RUN, task->id, 0, 0, now_ns);
    // A preemptive kernel may also switch to it between its checkpoint and its departure.
    if (wb_migration_is_accepted(task) && task->migration.attached_ns != 0)
        wb_migration_settle(task, now_ns);
}

__attribute__((hot)) void wb_task_resumed(struct wb_task *task, uint64_t now_ns)
{
    const uint32_t core = wb_owner_of(wb_word_load(&task->owner_state, WB_RELAXED));

    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_RUNNING, core), WB_RELAXED);
    task->resumed_ns = now_ns;
    if (task->system->config.record_events != 0 || wb_migration_is_accepted(task))
        note_run(task, core, now_ns);
    else
        wb_counter_add(&task->stats.runs, 1);
}

void wb_system_settle(struct wb_system *system, uint64_t now_ns)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);
        if (wb_task_state_of(owner_state) == WB_TASK_RUNNING) {
            struct wb_core *core = system->cores[wb_owner_of(owner_state)];
            wb_counter_add(&core->stats.busy_ns, wb_task_count(task, core, now_ns));
        }
    }
}

// The owner state decides: should this kernel be killed right after it, recovery does the rest
// again.
static void end_task(struct wb_task *task, uint32_t core)
{
    // seq_cst against wb_migration_request(): one of the two sees the other.
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_ENDED, core), WB_SEQ_CST);
    if (wb_parts.channels != NULL)
        wb_parts.channels->close(task);
    if (wb_parts.latency != NULL)
        wb_parts.latency->count(task, task->system->cores[core]);
    if (wb_parts.locks != NULL)
        wb_parts.locks->abandon(task);
    wb_heap_close(&task->heap);
    if (wb_parts.pool != NULL)
        wb_parts.pool->close(&task->shared);
    wb_migration_close(task);
    if (wb_migration_pending(task))
        wb_migration_cancel(task, WB_ERR_GONE);
    // A kernel has deleted it between its checkpoint and its departure, or where it came to before
    // it ran: there is no offer, so nobody else can end the request.
    if (wb_migration_is_accepted(task))
        wb_migration_finish(task, WB_ERR_GONE);
    wb_system_task_over(task->system);
}

void wb_task_paused(struct wb_task *task, enum wb_task_state state, uint64_t now_ns)
{
    static const enum wb_event_kind kinds[] = { [WB_TASK_READY] = WB_EVENT_READY,
                                                [WB_TASK_BLOCKED] = WB_EVENT_BLOCK,
                                                [WB_TASK_ENDED] = WB_EVENT_END };
    const uint32_t owner = wb_owner_of(wb_word_load(&task->owner_state, WB_RELAXED));
    struct wb_core *core = task->system->cores[owner];

    wb_record(core, kinds[state], task->id, 0, wb_task_polled(task, now_ns), now_ns);
    wb_counter_add(&core->stats.busy_ns, wb_task_count(task, core, now_ns));
    wb_counter_add(&core->stats.switches, 1);
    // One without ports never has an output to wait for. Not when it came: that is to be soon.
    if (__builtin_expect(task->open, 0) && task->ports == NULL)
        wb_migration_close(task);
    if (state == WB_TASK_ENDED)
        end_task(task, owner);
    else
        // Release: should this kernel die now, whoever adopts the task sees its whole context.
        wb_word_store(&task->owner_state, wb_owner_state(state, owner), WB_RELEASE);
}
