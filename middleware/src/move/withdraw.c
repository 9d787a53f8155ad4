// SPDX-License-Identifier: Apache-2.0
// Withdrawing a migration that is under way (see migration.c).

#include "../internal.h"

// Withdraws the request as it was seen: not one that has come since.
static void withdraw(struct wb_task *task, uint32_t request, enum wb_status why)
{
    const uint32_t number = wb_request_number(request);

    if (wb_request_phase(request) == WB_REQUEST_PENDING &&
        wb_word_compare_swap(&task->request, &request,
                             wb_request(WB_REQUEST_FILLING, wb_kernel_core(), number), WB_ACQUIRE,
                             WB_RELAXED)) {
        wb_migration_finish(task, why);
        return;
    }
    if (wb_request_phase(request) != WB_REQUEST_ACCEPTED || wb_request_number(request) != number)
        return;

    const uint32_t owner = wb_owner_of(wb_word_load(&task->owner_state, WB_ACQUIRE));
    uint32_t offer = wb_owner_state_offer(owner, wb_request_core(request), number);
    // The number in the offer makes this fail if a later request has offered the task again.
    // seq_cst against the source's death: recovery sees that the task is returned, or we see that
    // its source is dead.
    if (wb_word_compare_swap(&task->owner_state, &offer, wb_owner_state_returned(owner, why),
                             WB_SEQ_CST, WB_RELAXED)) {
        wb_inbox_post(task->system->cores[owner], task->id);
        if (wb_parts.deaths != NULL)
            wb_parts.deaths->readdress(task);
    }
}

void wb_migration_cancel(struct wb_task *task, enum wb_status why)
{
    withdraw(task, wb_word_load(&task->request, WB_ACQUIRE), why);
}

void wb_migration_withdraw(struct wb_task *task, uint32_t number, enum wb_status why)
{
    const uint32_t request = wb_word_load(&task->request, WB_ACQUIRE);

    if (wb_request_number(request) == number)
        withdraw(task, request, why);
}

void wb_migration_refuse(struct wb_task *task, uint32_t owner_state, enum wb_status why)
{
    const uint32_t owner = wb_owner_of(owner_state);

    if (wb_word_load(&task->owner_state, WB_ACQUIRE) != owner_state)
        return;  // withdrawn meanwhile
    // An offer of recovery has the number after that of the request (see give() in recovery.c).
    if (wb_request_phase(wb_word_load(&task->request, WB_ACQUIRE)) == WB_REQUEST_ACCEPTED)
        wb_migration_cancel(task, why);
    else if (wb_word_compare_swap(&task->owner_state, &owner_state,
                                  wb_owner_state(WB_TASK_LOST, owner), WB_SEQ_CST, WB_RELAXED))
        wb_parts.deaths->lose(task, owner);
}

void wb_system_sweep(struct wb_system *system, uint64_t now_ns)
{
    uint32_t over = 0;
    bool under_way = false;

    if (wb_word_load(&system->sweep, WB_RELAXED) == 0)
        return;
    // Before the tasks are looked at, and seq_cst with that: see let_sweeps_look() in migration.c.
    (void)wb_word_and(&system->sweep, ~(uint32_t)WB_SWEEP_REQUESTS, WB_SEQ_CST);
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        const uint32_t request = wb_word_load(&task->request, WB_SEQ_CST);
        const enum wb_request_phase phase = wb_request_phase(request);

        under_way |= phase != WB_REQUEST_NONE;
        over += wb_state_is_over(wb_word_load(&task->owner_state, WB_ACQUIRE));
        if (phase != WB_REQUEST_PENDING && phase != WB_REQUEST_ACCEPTED)
            continue;
        if (wb_word_load(&system->cores[wb_request_core(request)]->state, WB_ACQUIRE) ==
            WB_CORE_DEAD)
            withdraw(task, request, WB_ERR_GONE);
        else if (now_ns >= wb_stamp_get(&task->deadline_ns))
            withdraw(task, request, WB_ERR_TIMEOUT);
    }
    if (under_way)
        (void)wb_word_or(&system->sweep, WB_SWEEP_REQUESTS, WB_RELAXED);
    if (over == system->n_tasks && !system->endless)
        wb_system_over(system);
}
