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

#include "internal.h"
#include "pipeline.h"
#include "replicate.h"
#include "wb/system.h"

enum { SWEEP_NS = 1000000 };  // how often a waiting requester looks for overdue requests

static void push(struct wb_task *task, const struct wb_migration *migration)
{
    struct wb_core *here = wb_core_here(task->system);

    wb_ring_put(here != NULL ? &here->record.migrations : &task->system->record.migrations,
                migration);
}

static enum wb_status refuse_early(const struct wb_task *task, uint32_t core)
{
    const struct wb_system *system = task->system;

    if (core >= system->n_cores || !wb_task_runs_on(task, system->cores[core]))
        return WB_ERR_INVAL;
    if (!task->migratable)
        return WB_ERR_PINNED;
    const uint32_t state = atomic_load_explicit(&system->cores[core]->state, memory_order_acquire);
    return state == WB_CORE_DEAD || state == WB_CORE_STOPPED ? WB_ERR_GONE : WB_OK;
}

static void fill(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                 const struct wb_task *requester, enum wb_by by)
{
    const uint32_t place = atomic_load_explicit(&task->place, memory_order_relaxed);

    task->migration = (struct wb_migration){ .request_ns = wb_kernel_now_ns(),
                                             .task = task->id,
                                             .source = wb_place_owner(place),
                                             .target = core,
                                             .mode = task->mode,
                                             .by = by };
    wb_counter_set(&task->deadline_ns, wb_end_of(timeout_ns));
    atomic_store_explicit(&task->requester, requester != NULL ? requester->id + 1 : 0,
                          memory_order_relaxed);
}

static enum wb_status ask(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                          struct wb_task *requester, enum wb_by by, uint32_t *number)
{
    const enum wb_status early = refuse_early(task, core);
    if (early != WB_OK)
        return early;

    uint32_t old = atomic_load_explicit(&task->request, memory_order_relaxed);
    *number = (wb_request_number(old) + 1) & 0xffff;
    // Acquire: the end of the previous migration is visible before we write over its record.
    if (wb_request_phase(old) != WB_REQUEST_NONE ||
        !atomic_compare_exchange_strong_explicit(
            &task->request, &old, wb_request(WB_REQUEST_FILLING, wb_kernel_core(), *number),
            memory_order_acquire, memory_order_relaxed))
        return WB_ERR_BUSY;

    fill(task, core, timeout_ns, requester, by);
    // seq_cst against wb_task_paused(): either it sees this request, or we see that the task is
    // over. Release part: the source sees what we filled in.
    atomic_store_explicit(&task->request, wb_request(WB_REQUEST_PENDING, core, *number),
                          memory_order_seq_cst);
    const uint32_t place = atomic_load_explicit(&task->place, memory_order_seq_cst);
    if (wb_place_is_over(place))
        wb_migration_cancel(task, WB_ERR_GONE);
    else
        wb_inbox_post(task->system->cores[wb_place_owner(place)], task->id);
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

bool wb_migration_pending(const struct wb_task *task)
{
    return wb_request_phase(atomic_load_explicit(&task->request, memory_order_acquire)) !=
           WB_REQUEST_NONE;
}

bool wb_migration_requested(const struct wb_task *task)
{
    // Relaxed: the checkpoint that acts on it acquires.
    return wb_request_phase(atomic_load_explicit(&task->request, memory_order_relaxed)) ==
           WB_REQUEST_PENDING;
}

bool wb_checkpoint_wanted(const struct wb_task *task)
{
    return task->checkpoint_every != 0 || wb_migration_requested(task);
}

void wb_migration_finish(struct wb_task *task, enum wb_status outcome)
{
    const uint32_t number =
        wb_request_number(atomic_load_explicit(&task->request, memory_order_relaxed));
    const uint32_t requester = atomic_load_explicit(&task->requester, memory_order_relaxed);

    if (outcome != WB_OK) {
        task->migration.status = outcome;
        push(task, &task->migration);
    }
    atomic_store_explicit(&task->outcome, outcome, memory_order_relaxed);
    if (requester != 0)
        atomic_store_explicit(&task->system->tasks[requester - 1].answer, outcome,
                              memory_order_relaxed);
    // Release: the next requester, and whoever waits for the outcome, see the end of this one.
    atomic_store_explicit(&task->request, wb_request(WB_REQUEST_NONE, 0, number),
                          memory_order_release);
    if (requester != 0 && requester - 1 != task->id)
        wb_task_wake(&task->system->tasks[requester - 1]);
}

// Withdraws the request as it was seen: not one that has come since.
static void withdraw(struct wb_task *task, uint32_t request, enum wb_status why)
{
    const uint32_t number = wb_request_number(request);

    if (wb_request_phase(request) == WB_REQUEST_PENDING &&
        atomic_compare_exchange_strong_explicit(
            &task->request, &request, wb_request(WB_REQUEST_FILLING, wb_kernel_core(), number),
            memory_order_acquire, memory_order_relaxed)) {
        wb_migration_finish(task, why);
        return;
    }
    if (wb_request_phase(request) != WB_REQUEST_ACCEPTED || wb_request_number(request) != number)
        return;

    const uint32_t owner = wb_place_owner(atomic_load_explicit(&task->place, memory_order_acquire));
    uint32_t offer = wb_place_offer(owner, wb_request_core(request), number);
    // The number in the offer makes this fail if a later request has offered the task again.
    // seq_cst against the source's death: recovery sees that the task is returned, or we see that
    // its source is dead.
    if (atomic_compare_exchange_strong_explicit(&task->place, &offer, wb_place_returned(owner, why),
                                                memory_order_seq_cst, memory_order_relaxed)) {
        wb_inbox_post(task->system->cores[owner], task->id);
        wb_migration_readdress(task);
    }
}

// Its context is complete, so any core may take it back. More than one may come to see to it here,
// and the heir may die as well: each step is one compare-and-swap, and is looked at again.
void wb_migration_readdress(struct wb_task *task)
{
    const struct wb_system *system = task->system;

    for (;;) {
        uint32_t place = atomic_load_explicit(&task->place, memory_order_seq_cst);
        const uint32_t owner = wb_place_owner(place);
        if (wb_place_state(place) != WB_TASK_RETURNED ||
            atomic_load_explicit(&system->cores[owner]->state, memory_order_seq_cst) !=
                WB_CORE_DEAD)
            return;
        struct wb_core *heir = wb_task_heir(task, owner);
        if (heir == NULL)
            return;
        const uint32_t again = wb_place_returned(heir->index, wb_place_why(place));
        if (atomic_compare_exchange_strong_explicit(&task->place, &place, again,
                                                    memory_order_seq_cst, memory_order_relaxed))
            wb_inbox_post(heir, task->id);
    }
}

void wb_migration_cancel(struct wb_task *task, enum wb_status why)
{
    withdraw(task, atomic_load_explicit(&task->request, memory_order_acquire), why);
}

void wb_migration_refuse(struct wb_task *task, uint32_t place, enum wb_status why)
{
    const uint32_t owner = wb_place_owner(place);

    if (atomic_load_explicit(&task->place, memory_order_acquire) != place)
        return;  // withdrawn meanwhile
    // An offer of recovery has the number after that of the request (see give() in recovery.c).
    if (wb_request_phase(atomic_load_explicit(&task->request, memory_order_acquire)) ==
        WB_REQUEST_ACCEPTED)
        wb_migration_cancel(task, why);
    else if (atomic_compare_exchange_strong_explicit(&task->place, &place,
                                                     wb_place(WB_TASK_LOST, owner),
                                                     memory_order_seq_cst, memory_order_relaxed))
        wb_task_lose(task, owner);
}

void wb_migration_returned(struct wb_core *core, struct wb_task *task)
{
    const uint64_t now_ns = wb_kernel_now_ns();
    const uint32_t place = atomic_load_explicit(&task->place, memory_order_relaxed);
    const enum wb_status why = wb_place_why(place);
    struct wb_fetched fetched;

    // The heir of a dead source has to fetch its memory; the source itself has it.
    if (wb_replica_fetch(core, task, place, &fetched) != WB_OK) {
        // Nobody else can end it: it is accepted, and there is no offer to withdraw.
        wb_migration_finish(task, WB_ERR_GONE);
        wb_task_lose(task, core->index);
        return;
    }
    wb_replica_settle(core, task, &fetched);
    atomic_store_explicit(&task->place, wb_place(WB_TASK_READY, core->index), memory_order_relaxed);
    wb_counter_add(&task->stats.refused, 1);
    wb_record_event(core, WB_EVENT_RETURN, task->id, task->migration.target, 0, now_ns);
    wb_migration_finish(task, why);
    wb_task_attach(task);
}

void wb_migration_close(struct wb_task *task)
{
    if (!task->open)
        return;
    task->open = false;
    push(task, &task->settled);
}

void wb_task_departed(struct wb_task *task, uint64_t parked_ns, uint64_t now_ns)
{
    struct wb_system *system = task->system;
    const uint32_t request = atomic_load_explicit(&task->request, memory_order_relaxed);
    const uint32_t owner = wb_place_owner(atomic_load_explicit(&task->place, memory_order_relaxed));
    const uint32_t target = wb_request_core(request);
    const uint64_t offer_end_ns = now_ns + system->config.offer_timeout_ns;

    wb_task_account(task, system->cores[owner], now_ns);
    wb_report_departure(task, system->cores[owner], now_ns);
    wb_migration_close(task);
    task->migration.parked_ns = parked_ns;
    task->migration.source = owner;
    if (offer_end_ns < wb_counter_get(&task->deadline_ns))
        wb_counter_set(&task->deadline_ns, offer_end_ns);
    wb_record_event(system->cores[owner], WB_EVENT_PARK, task->id, target, 0, now_ns);
    wb_pipeline_announce(task);
    // From here on the task belongs to whoever wins its place. Release publishes its context;
    // seq_cst against the target's death, which marks the core and then looks at the places.
    atomic_store_explicit(&task->place, wb_place_offer(owner, target, wb_request_number(request)),
                          memory_order_seq_cst);
    if (atomic_load_explicit(&system->cores[target]->state, memory_order_seq_cst) == WB_CORE_DEAD)
        wb_migration_cancel(task, WB_ERR_GONE);
    else
        wb_inbox_post(system->cores[target], task->id);
    wb_pipeline_fill(task);
}

void wb_migration_settle(struct wb_task *task, uint64_t now_ns)
{
    task->settled = task->migration;
    task->settled.running_ns = now_ns;
    task->open = true;
    wb_report_migration(task, &task->settled);
    wb_counter_add(&task->stats.migrations, 1);
    wb_migration_finish(task, WB_OK);
}

void wb_migration_first_output(struct wb_task *task)
{
    const uint64_t now_ns = wb_kernel_now_ns();

    task->settled.output_ns = now_ns;
    wb_record_event(wb_core_here(task->system), WB_EVENT_OUTPUT, task->id, 0, 0, now_ns);
    wb_migration_close(task);
}

static bool is_under_way(const struct wb_task *task, uint32_t number)
{
    // Acquire: the answer was written before the request ended.
    const uint32_t request = atomic_load_explicit(&task->request, memory_order_acquire);
    return wb_request_phase(request) != WB_REQUEST_NONE && wb_request_number(request) == number;
}

// One task waits for the outcome of a migration of another, or asks for its own. Others may ask for
// the next one before the waiting task looks, so the outcome of this one is kept with it.
enum wb_status wb_migrate(struct wb_task *task, uint32_t core, uint64_t timeout_ns)
{
    struct wb_task *self = wb_kernel_self();

    if (core == wb_task_core(task) && !wb_migration_pending(task))
        return wb_place_is_over(atomic_load_explicit(&task->place, memory_order_relaxed))
                   ? WB_ERR_GONE
                   : WB_OK;
    uint32_t number;
    const uint64_t until_ns = wb_end_of(timeout_ns);
    const enum wb_status asked = ask(task, core, timeout_ns, self, WB_BY_TASK, &number);
    if (asked != WB_OK)
        return asked;
    if (task == self)
        wb_checkpoint_enter();
    while (is_under_way(task, number)) {
        // Its target has it for good, but has not come to run it.
        if (wb_kernel_now_ns() >= until_ns && wb_task_core(task) == core)
            return WB_OK;
        if (wb_kernel_block(wb_kernel_now_ns() + SWEEP_NS) == WB_ERR_TIMEOUT)
            wb_system_sweep(task->system, wb_kernel_now_ns());
    }
    return (enum wb_status)atomic_load_explicit(&self->answer, memory_order_relaxed);
}

void wb_system_sweep(struct wb_system *system, uint64_t now_ns)
{
    uint32_t over = 0;

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        const uint32_t request = atomic_load_explicit(&task->request, memory_order_acquire);
        const enum wb_request_phase phase = wb_request_phase(request);

        over += wb_place_is_over(atomic_load_explicit(&task->place, memory_order_acquire));
        if (phase != WB_REQUEST_PENDING && phase != WB_REQUEST_ACCEPTED)
            continue;
        if (atomic_load_explicit(&system->cores[wb_request_core(request)]->state,
                                 memory_order_acquire) == WB_CORE_DEAD)
            withdraw(task, request, WB_ERR_GONE);
        else if (now_ns >= wb_counter_get(&task->deadline_ns))
            withdraw(task, request, WB_ERR_TIMEOUT);
    }
    if (over == system->n_tasks)
        wb_system_over(system);
}
