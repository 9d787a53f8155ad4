// SPDX-License-Identifier: Apache-2.0
// Migration by hand-off, in two phases.
//
//   requester            source                            target
//   NONE -> FILLING
//   -> PENDING  ......>  checkpoint: PENDING -> ACCEPTED
//                        leaves the stack, place = OFFERED
//                        note to the target  ...........>  place OFFERED -> READY: the commit
//                                                          first run: request -> NONE, outcome OK
//
// Anyone may withdraw: PENDING by taking it to FILLING, OFFERED by taking the place to RETURNED,
// whereupon the source, or if it is dead another core, takes the task back. Each of these is one
// compare-and-swap on one word, so withdrawing and committing cannot both succeed. Holding a phase
// is what permits writing wb_task.migration: the requester in FILLING, the source and then the
// target in ACCEPTED.

#include "../internal.h"

enum { SWEEP_NS = 1000000 };  // how often a waiting requester looks for overdue requests

static enum wb_status refuse_early(const struct wb_task *task, uint32_t core)
{
    const struct wb_system *system = task->system;

    if (core >= system->n_cores || !wb_task_runs_on(task, system->cores[core]))
        return WB_ERR_INVAL;
    if (!task->migratable)
        return WB_ERR_PINNED;
    const uint32_t state = wb_word_load(&system->cores[core]->state, WB_ACQUIRE);
    return state == WB_CORE_DEAD || state == WB_CORE_STOPPED ? WB_ERR_GONE : WB_OK;
}

static void fill(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                 struct wb_task *requester, enum wb_by by, uint32_t number)
{
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_RELAXED);

    task->migration = (struct wb_migration){ .request_ns = wb_kernel_now_ns(),
                                             .task = task->id,
                                             .source = wb_owner_of(owner_state),
                                             .target = core,
                                             .mode = task->mode,
                                             .by = by };
    wb_stamp_set(&task->deadline_ns, wb_end_of(timeout_ns));
    wb_word_store(&task->requester, requester != NULL ? requester->id + 1 : 0, WB_RELAXED);
    // Relaxed: who ends this request has seen it pending, which is stored after this. Who ends an
    // earlier one of the requester's, of another task, finds either the one or the other.
    if (requester != NULL)
        (void)wb_word_swap(&requester->answer, wb_outcome_awaited(task->id, number), WB_RELAXED);
}

// A request is pending. seq_cst against wb_system_sweep(): either the sweep that clears the bit
// sees the request, or we see that it is cleared. Whoever is killed before this leaves it to the
// bit of deaths. While the bit is set its line is only read: cores share it.
static void let_sweeps_look(struct wb_system *system)
{
    if ((wb_word_load(&system->sweep, WB_SEQ_CST) & WB_SWEEP_REQUESTS) == 0)
        (void)wb_word_or(&system->sweep, WB_SWEEP_REQUESTS, WB_RELAXED);
}

static bool begin(struct wb_task *task, uint32_t *number)
{
    uint32_t old = wb_word_load(&task->request, WB_RELAXED);

    *number = (wb_request_number(old) + 1) & 0xffff;
    if (wb_request_phase(old) != WB_REQUEST_NONE)
        return false;
    // Acquire: the end of the previous migration is visible before we write over its record.
    return wb_word_compare_swap(&task->request, &old,
                                wb_request(WB_REQUEST_FILLING, wb_kernel_core(), *number),
                                WB_ACQUIRE, WB_RELAXED);
}

static enum wb_status ask(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                          struct wb_task *requester, enum wb_by by, uint32_t *number)
{
    const enum wb_status early = refuse_early(task, core);
    if (early != WB_OK)
        return early;

    if (!begin(task, number))
        return WB_ERR_BUSY;
    fill(task, core, timeout_ns, requester, by, *number);
    // seq_cst against wb_task_paused(): either it sees this request, or we see that the task is
    // over. Release part: the source sees what we filled in.
    wb_word_store(&task->request, wb_request(WB_REQUEST_PENDING, core, *number), WB_SEQ_CST);
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_SEQ_CST);
    let_sweeps_look(task->system);
    if (wb_state_is_over(owner_state))
        wb_migration_cancel(task, WB_ERR_GONE);
    else
        wb_inbox_post(task->system->cores[wb_owner_of(owner_state)], task->id);
    // It leaves at once: its target wakes up while its source does.
    if (task->moves_at_waits)
        wb_kernel_doorbell(core);
    return WB_OK;
}

enum wb_status wb_migration_request(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                                    struct wb_task *requester)
{
    uint32_t number;
    return ask(task, core, timeout_ns, requester, WB_BY_USER, &number);
}

enum wb_status wb_migration_ask(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                                enum wb_by by)
{
    uint32_t number;
    return ask(task, core, timeout_ns, NULL, by, &number);
}

enum wb_status wb_migration_begin(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                                  uint32_t *number)
{
    return ask(task, core, timeout_ns, NULL, WB_BY_USER, number);
}

static bool is_under_way(const struct wb_task *task, uint32_t number)
{
    // Acquire: the answer was written before the request ended.
    const uint32_t request = wb_word_load(&task->request, WB_ACQUIRE);
    return wb_request_phase(request) != WB_REQUEST_NONE && wb_request_number(request) == number;
}

enum wb_status wb_migration_outcome(const struct wb_task *task, uint32_t number)
{
    if (is_under_way(task, number))
        return WB_ERR_EMPTY;
    // Relaxed: it was written before the request ended, which was seen by an acquire.
    const uint32_t outcome = wb_word_load(&task->outcome, WB_RELAXED);
    return wb_outcome_is_of(outcome, task->id, number) ? wb_outcome_status(outcome) : WB_ERR_BUSY;
}

// One task waits for the outcome of a migration of another, or asks for its own. Others may ask for
// the next one before the waiting task looks, so the outcome of this one is kept with it. And it
// may end after the waiting task has asked for one of another task, so the outcome says of which it
// is.
enum wb_status wb_migrate(struct wb_task *task, uint32_t core, uint64_t timeout_ns)
{
    struct wb_task *self = wb_kernel_self();

    if (wb_task_stays(task) && core == wb_task_core(task) && !wb_migration_pending(task))
        return wb_state_is_over(wb_word_load(&task->owner_state, WB_RELAXED)) ? WB_ERR_GONE : WB_OK;
    uint32_t number;
    const uint64_t until_ns = wb_end_of(timeout_ns);
    const enum wb_status asked = ask(task, core, timeout_ns, self, WB_BY_TASK, &number);
    if (asked != WB_OK)
        return asked;
    if (task == self)
        wb_checkpoint_enter();
    while (is_under_way(task, number)) {
        // Its target has it for good, but has not come to run it.
        if (wb_kernel_now_ns() >= until_ns && wb_task_stays(task) && wb_task_core(task) == core)
            return WB_OK;
        if (wb_kernel_block(wb_kernel_now_ns() + SWEEP_NS) == WB_ERR_TIMEOUT)
            wb_system_sweep(task->system, wb_kernel_now_ns());
    }
    return wb_outcome_status(wb_word_load(&self->answer, WB_RELAXED));
}
