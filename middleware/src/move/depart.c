// SPDX-License-Identifier: Apache-2.0
// A task has left its core, and is offered to another.

#include "../internal.h"

void wb_task_departed(struct wb_task *task, uint64_t parked_ns, uint64_t now_ns)
{
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);
    struct wb_system *system = task->system;
    const uint32_t request = wb_word_load(&task->request, WB_RELAXED);
    const uint32_t owner = wb_owner_of(wb_word_load(&task->owner_state, WB_RELAXED));
    struct wb_core *core = system->cores[owner];
    struct wb_core *target = system->cores[wb_request_core(request)];

    // The kernel has asked, in the step in which the task left.
    wb_assert(wb_request_phase(request) == WB_REQUEST_ACCEPTED);
    wb_record(core, WB_EVENT_PARK, task->id, target->index, wb_task_polled(task, now_ns), now_ns);
    const uint64_t busy_ns = wb_task_count(task, core, now_ns);
    const struct wb_part_agents *agents = wb_reporting(system);
    if (agents != NULL)
        agents->departure(task, core, now_ns);
    wb_migration_close(task);
    task->migration.parked_ns = parked_ns;
    task->migration.source = owner;
    wb_stamp_lower(&task->deadline_ns, now_ns + system->config.offer_timeout_ns);
    if (ops != NULL && ops->announce != NULL)
        ops->announce(task);
    // From here on the task belongs to whoever wins its place. Release publishes its context;
    // seq_cst against the target's death, which marks the core and then looks at the places.
    wb_word_store(&task->owner_state,
                  wb_owner_state_offer(owner, target->index, wb_request_number(request)),
                  WB_SEQ_CST);
    if (wb_word_load(&target->state, WB_SEQ_CST) == WB_CORE_DEAD)
        wb_migration_cancel(task, WB_ERR_GONE);
    else
        wb_inbox_post(target, task->id);
    // What the target need not wait for.
    wb_counter_add(&core->stats.busy_ns, busy_ns);
    wb_counter_add(&core->stats.switches, 1);
    if (ops != NULL && ops->fill != NULL)
        ops->fill(task);
}
