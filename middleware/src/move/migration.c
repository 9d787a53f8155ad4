// SPDX-License-Identifier: Apache-2.0
// Migration by hand-off, in two phases, in the order in which a migration passes through it.
//
//   requester            source                            target
//   NONE -> FILLING
//   -> PENDING  ......>  checkpoint: PENDING -> ACCEPTED
//                        leaves the stack, owner_state = OFFERED
//                        note to the target  ...........>  owner_state OFFERED -> READY: the commit
//                                                          first run: request -> NONE, outcome OK
//
// Anyone may withdraw: PENDING by taking it to FILLING, OFFERED by taking the owner state to
// RETURNED, whereupon the source, or if it is dead another core, takes the task back. Each of these
// is one compare-and-swap on one word, so withdrawing and committing cannot both succeed. Holding a
// phase is what permits writing wb_task.migration: the requester in FILLING, the source and then
// the target in ACCEPTED.

#include "../word/mem.h"
#include "move.h"

enum { SWEEP_NS = 1000000 };  // how often a waiting requester looks for overdue requests

// ---- The requester ------------------------------------------------------------------------------

static enum wb_status refuse_early(const struct wb_task *task, uint32_t core)
{
    const struct wb_system *system = task->system;

    if (core >= system->n_cores || !wb_task_runs_on(task, system->cores[core]))
        return WB_ERR_INVAL;
    if (!task->migratable)
        return WB_ERR_PINNED;
    const uint32_t state = wb_word_load(&system->cores[core]->state, WB_ACQUIRE);
    if (state == WB_CORE_DEAD || state == WB_CORE_STOPPED)
        return WB_ERR_GONE;
    return wb_has_programs(system) ? wb_task_may_cross(task, wb_core_of(task), system->cores[core])
                                   : WB_OK;
}

static void fill_request(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
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

static bool claim_request(struct wb_task *task, uint32_t *number)
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

static enum wb_status ask_for(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                              struct wb_task *requester, enum wb_by by, uint32_t *number)
{
    const enum wb_status early = refuse_early(task, core);
    if (early != WB_OK)
        return early;

    if (!claim_request(task, number))
        return WB_ERR_BUSY;
    fill_request(task, core, timeout_ns, requester, by, *number);
    // seq_cst against wb_task_paused(): either it sees this request, or we see that the task is
    // over. Release part: the source sees what we filled in.
    wb_word_store(&task->request, wb_request(WB_REQUEST_PENDING, core, *number), WB_SEQ_CST);
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_SEQ_CST);
    let_sweeps_look(task->system);
    if (wb_state_is_over(owner_state))
        wb_migration_cancel(task, WB_ERR_GONE);
    else if (by != WB_BY_TASK || task != requester)
        wb_inbox_post(task->system->cores[wb_owner_of(owner_state)], task->id);
    // else: a task that moves itself enters its checkpoint next. (A note would be served once it
    // has left, and passed on to its target, which has it already.) It leaves at once: its target
    // wakes up while its source does.
    if (task->moves_at_waits)
        wb_kernel_doorbell(core);
    return WB_OK;
}

enum wb_status wb_migration_request(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                                    struct wb_task *requester)
{
    uint32_t number;
    return ask_for(task, core, timeout_ns, requester, WB_BY_USER, &number);
}

enum wb_status wb_migration_ask(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                                enum wb_by by)
{
    uint32_t number;
    return ask_for(task, core, timeout_ns, NULL, by, &number);
}

enum wb_status wb_migration_begin(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                                  uint32_t *number)
{
    return ask_for(task, core, timeout_ns, NULL, WB_BY_USER, number);
}

bool wb_migration_pending(const struct wb_task *task)
{
    return wb_request_phase(wb_word_load(&task->request, WB_ACQUIRE)) != WB_REQUEST_NONE;
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
    const enum wb_status asked = ask_for(task, core, timeout_ns, self, WB_BY_TASK, &number);
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

// ---- On the source: the checkpoint, a wait that is one, and the departure -----------------------

bool wb_migration_requested(const struct wb_task *task)
{
    // Relaxed: the checkpoint that acts on it acquires.
    return wb_request_phase(wb_word_load(&task->request, WB_RELAXED)) == WB_REQUEST_PENDING;
}

bool wb_checkpoint_wanted(const struct wb_task *task)
{
    return task->checkpoint_every != 0 || wb_migration_requested(task);
}

bool wb_departure_is_due(const struct wb_task *task)
{
    // Acquire: with the end of a request its task has been given to this core.
    return wb_request_phase(wb_word_load(&task->request, WB_ACQUIRE)) == WB_REQUEST_ACCEPTED;
}

// Recovery may have given it to another program since it was asked to move.
static __attribute__((cold, noinline)) enum wb_status may_cross(const struct wb_task *self)
{
    const struct wb_system *system = self->system;

    return wb_task_may_cross(self, wb_core_of(self), system->cores[self->migration.target]);
}

static enum wb_status leave_core(struct wb_task *self)
{
    if (self->sync.held != 0)
        return WB_ERR_HELD;
    const struct wb_migration_ops *ops = wb_migration_ops_of(self);
    enum wb_status ready = ops != NULL && ops->begin != NULL ? ops->begin(self) : WB_OK;
    if (ready == WB_OK && wb_has_programs(self->system))
        ready = may_cross(self);
    const enum wb_status left = ready == WB_OK ? wb_kernel_depart() : ready;
    if (left != WB_OK)
        wb_migration_ops_end(self);
    return left;
}

bool wb_departure_accept(struct wb_task *task)
{
    uint32_t request = wb_word_load(&task->request, WB_RELAXED);

    // Acquire: what the requester filled in. Failing means that it was withdrawn this moment.
    return wb_request_phase(request) == WB_REQUEST_PENDING &&
           wb_word_compare_swap(&task->request, &request,
                                wb_request(WB_REQUEST_ACCEPTED, wb_request_core(request),
                                           wb_request_number(request)),
                                WB_ACQUIRE, WB_RELAXED);
}

void wb_checkpoint_enter(void)
{
    struct wb_task *self = wb_kernel_self();
    bool moved = false;

    wb_kernel_charge(WB_ACTION_CHECKPOINT, 1);
    if (wb_departure_accept(self)) {
        const enum wb_status left = leave_core(self);
        moved = left == WB_OK;
        if (!moved) {
            wb_counter_add(&self->stats.refused, 1);
            if (wb_departure_is_due(self))
                wb_migration_finish(self, left);
        }
    }
    // Its new kernel has just chosen it.
    if ((self->checkpoint_every == 0 || !wb_parts.images->capture(self)) && !moved)
        wb_kernel_yield(wb_sync_priority(&self->sync) + 1);
}

// Out of the way of the checkpoint's and the port's code: small caches have no room for it.
__attribute__((cold)) void wb_departure_at_wait(struct wb_task *self)
{
    if (!self->moves_at_waits || !wb_migration_requested(self))
        return;
    self->images.since--;  // an image counts the next one, and is taken at none but checkpoints
    wb_checkpoint_enter();
}

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
    // From here on the task belongs to whoever wins its owner state. Release publishes its context;
    // seq_cst against the target's death, which marks the core and then looks at the owner states.
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

// ---- On the target, and back on the source ------------------------------------------------------

void wb_task_attach(struct wb_core *core, struct wb_task *task)
{
    // Not yet in a queue of this kernel, so there is nothing to move.
    if (wb_must_reevaluate(task))
        (void)wb_parts.locks->inherit(task);
    const struct wb_part_agents *agents = wb_reporting(core->system);
    if (agents != NULL)
        agents->attached(task, core);
    wb_kernel_attach(task);
}

const struct wb_attach_ops *wb_attach_ops_of(const struct wb_task *task)
{
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);

    if (ops != NULL)
        return ops->attach;
    return wb_revival(task) != WB_REVIVE_NOT ? wb_parts.deaths->attach : NULL;
}

// Out of the way of the hand-off's code, in systems of one program.
static __attribute__((cold, noinline)) void settle_across(const struct wb_core *core,
                                                          struct wb_task *task)
{
    if (wb_task_is_foreign(task, core))
        wb_task_begin_here(task);
    wb_word_store(&task->memory_core, core->memory, WB_RELAXED);
}

static __attribute__((noinline)) void settle_attached(const struct wb_core *core,
                                                      struct wb_task *task,
                                                      const struct wb_attach_ops *attach,
                                                      const struct wb_fetched *fetched)
{
    const uint32_t before = wb_word_load(&task->memory_core, WB_RELAXED);

    wb_word_store(&task->memory_core, core->memory, WB_RELAXED);
    attach->settle(task, before != core->memory, fetched);
}

// The task, taken by this core, has its memory here. Should this kernel die before this, the next
// one fetches again from where it was, or begins anew. Relaxed: the owner state publishes it with
// all the rest when the task leaves here.
static inline __attribute__((always_inline)) void settle_memory(const struct wb_core *core,
                                                                struct wb_task *task,
                                                                const struct wb_attach_ops *attach,
                                                                const struct wb_fetched *fetched)
{
    if (attach != NULL) {
        settle_attached(core, task, attach, fetched);
        return;
    }
    if (wb_has_programs(core->system))
        settle_across(core, task);
    else
        wb_word_store(&task->memory_core, core->index, WB_RELAXED);
}

// The target's half of a migration: one compare-and-swap decides against a withdrawal.
void wb_migration_arrive(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                         const struct wb_attach_ops *attach)
{
    const uint32_t ready = wb_owner_state(WB_TASK_READY, core->index);
    struct wb_fetched fetched;

    if (attach != NULL && !attach->prepare(core, task, owner_state, &fetched))
        return;
    // Acquire: the parked context and everything the task wrote is visible here.
    if (!wb_word_compare_swap(&task->owner_state, &owner_state, ready, WB_ACQ_REL, WB_RELAXED)) {
        if (attach != NULL)
            attach->unload(task);
        return;
    }
    settle_memory(core, task, attach, &fetched);
    wb_kernel_charge(WB_ACTION_ATTACH, 1);
    const uint64_t now_ns = wb_kernel_now_ns();
    if (wb_migration_is_accepted(task)) {
        task->migration.attached_ns = now_ns;
        // It is not chosen by others any more: somebody has said where it is to be.
        wb_word_store(&task->cores, 0, WB_RELAXED);
    }
    const struct wb_part_agents *agents = wb_reporting(core->system);
    if (agents != NULL)
        agents->arrival(task, wb_owner_of(owner_state), now_ns);
    wb_record(core, WB_EVENT_ATTACH, task->id, wb_owner_of(owner_state), 0, now_ns);
    wb_task_attach(core, task);
}

// As above, of one that is on offer to several cores at once, for as long as it does not run.
void wb_task_chosen(struct wb_task *task, uint32_t core, uint64_t now_ns)
{
    struct wb_core *chooser = task->system->cores[core];
    uint32_t owner_state = wb_word_load(&task->owner_state, WB_RELAXED);

    // Acquire: all that the task wrote is visible here. Recovery may offer a dead owner's to
    // another core at the same time, which is withdrawn so.
    while (!wb_word_compare_swap_weak(&task->owner_state, &owner_state,
                                      wb_owner_state(WB_TASK_READY, core), WB_ACQ_REL,
                                      WB_RELAXED)) {}
    wb_word_store(&task->memory_core, core, WB_RELAXED);
    wb_counter_add(&task->stats.chosen, 1);
    const struct wb_part_agents *agents = wb_reporting(task->system);
    if (agents != NULL) {
        agents->arrival(task, wb_owner_of(owner_state), now_ns);
        agents->attached(task, chooser);
    }
    wb_record(chooser, WB_EVENT_ATTACH, task->id, wb_owner_of(owner_state), 0, now_ns);
}

void wb_task_came_asleep(struct wb_task *task, uint64_t now_ns)
{
    const uint32_t owner = wb_owner_of(wb_word_load(&task->owner_state, WB_RELAXED));

    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_BLOCKED, owner), WB_RELAXED);
    if (wb_migration_is_accepted(task))
        wb_migration_settle(task, now_ns);
}

void wb_migration_returned(struct wb_core *core, struct wb_task *task, uint32_t owner_state)
{
    const uint64_t now_ns = wb_kernel_now_ns();
    const enum wb_status why = wb_owner_state_why(owner_state);
    const uint32_t ready = wb_owner_state(WB_TASK_READY, core->index);
    const struct wb_attach_ops *attach = wb_attach_ops_of(task);
    struct wb_fetched fetched;

    // The successor of a dead source has to fetch its memory; the source itself has it.
    bool is_whole = attach == NULL || attach->fetch(core, task, owner_state, &fetched) == WB_OK;
    // Who withdrew may have seen this core dead, which has returned since, and still give the task
    // to another: whoever swaps first has it. Relaxed: whoever looks has seen what the task wrote.
    if (wb_parts.deaths != NULL &&
        !wb_word_compare_swap(&task->owner_state, &owner_state, ready, WB_RELAXED, WB_RELAXED))
        return;
    // It left in order, but from a kernel of another program: as if it had been cut short.
    if (wb_has_programs(core->system) && wb_task_is_handed_off(task) &&
        wb_task_is_foreign(task, core)) {
        attach = wb_parts.deaths->attach;
        is_whole =
            wb_parts.deaths->restart(task) && attach->fetch(core, task, ready, &fetched) == WB_OK;
    }
    if (!is_whole) {
        // Nobody else can end it: it is accepted, and there is no offer to withdraw.
        wb_migration_finish(task, WB_ERR_GONE);
        wb_parts.deaths->lose(task, core->index);
        return;
    }
    settle_memory(core, task, attach, &fetched);
    if (wb_parts.deaths == NULL)
        wb_word_store(&task->owner_state, ready, WB_RELAXED);
    wb_counter_add(&task->stats.refused, 1);
    wb_record(core, WB_EVENT_RETURN, task->id, task->migration.target, 0, now_ns);
    wb_migration_finish(task, why);
    wb_task_attach(core, task);
}

// ---- The end: the outcome, and the record -------------------------------------------------------

static void hand_over_record(struct wb_task *task, const struct wb_migration *migration)
{
    if (wb_parts.records != NULL)
        wb_parts.records->migration(task, migration);
}

// Tells who asked. A user's own word is kept from what policies and tasks ask for.
static void tell_requester(struct wb_task *task, uint32_t requester, uint32_t number,
                           enum wb_status status)
{
    const uint32_t outcome = wb_outcome(task->id, number, status);

    if (task->migration.by == WB_BY_USER)
        wb_word_store(&task->outcome, outcome, WB_RELAXED);
    if (requester != 0) {
        uint32_t awaited = wb_outcome_awaited(task->id, number);
        // Relaxed: the requester looks once it has seen the request end, which is released. It
        // fails where the requester waits no more, and has asked for another migration.
        (void)wb_word_compare_swap(&task->system->tasks[requester - 1].answer, &awaited, outcome,
                                   WB_RELAXED, WB_RELAXED);
    }
}

void wb_migration_finish(struct wb_task *task, enum wb_status outcome)
{
    const uint32_t number = wb_request_number(wb_word_load(&task->request, WB_RELAXED));
    const uint32_t requester = wb_word_load(&task->requester, WB_RELAXED);

    if (outcome != WB_OK) {
        task->migration.status = outcome;
        hand_over_record(task, &task->migration);
    }
    tell_requester(task, requester, number, outcome);
    // Release: the next requester, and whoever waits for the outcome, see the end of this one.
    wb_word_store(&task->request, wb_request(WB_REQUEST_NONE, 0, number), WB_RELEASE);
    if (requester != 0 && requester - 1 != task->id)
        wb_task_wake(&task->system->tasks[requester - 1]);
}

void wb_migration_close(struct wb_task *task)
{
    if (wb_parts.records == NULL || !task->open)
        return;
    task->open = false;
    hand_over_record(task, &task->settled);
}

// In two parts: compilers for small processors copy these without a call.
static void keep_record(struct wb_task *task)
{
    enum { PART = 48 };
    unsigned char *to = (unsigned char *)&task->settled;
    const unsigned char *from = (const unsigned char *)&task->migration;

    _Static_assert(sizeof task->settled > PART && sizeof task->settled <= 64 + PART, "more parts");
    memcpy(__builtin_assume_aligned(to, 8), __builtin_assume_aligned(from, 8), PART);
    memcpy(__builtin_assume_aligned(to + PART, 8), __builtin_assume_aligned(from + PART, 8),
           sizeof task->settled - PART);
}

// The record waits for the first output, while the next request is filled in already.
void wb_migration_settle(struct wb_task *task, uint64_t now_ns)
{
    task->migration.running_ns = now_ns;
    const struct wb_part_agents *agents = wb_reporting(task->system);
    if (agents != NULL)
        agents->migration(task, &task->migration);
    if (wb_parts.records != NULL) {
        keep_record(task);
        task->open = true;
    }
    wb_counter_add(&task->stats.migrations, 1);
    wb_migration_finish(task, WB_OK);
}

// ---- Withdrawal ---------------------------------------------------------------------------------

// Withdraws the request as it was seen: not one that has come since.
static void withdraw_request(struct wb_task *task, uint32_t request, enum wb_status why)
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
    withdraw_request(task, wb_word_load(&task->request, WB_ACQUIRE), why);
}

void wb_migration_withdraw(struct wb_task *task, uint32_t number, enum wb_status why)
{
    const uint32_t request = wb_word_load(&task->request, WB_ACQUIRE);

    if (wb_request_number(request) == number)
        withdraw_request(task, request, why);
}

void wb_migration_refuse(struct wb_task *task, uint32_t owner_state, enum wb_status why)
{
    const uint32_t owner = wb_owner_of(owner_state);

    if (wb_word_load(&task->owner_state, WB_ACQUIRE) != owner_state)
        return;  // withdrawn meanwhile
    // An offer of recovery has the number after that of the request (see give_to() in recovery.c).
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
    // Before the tasks are looked at, and seq_cst with that: see let_sweeps_look().
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
            withdraw_request(task, request, WB_ERR_GONE);
        else if (now_ns >= wb_stamp_get(&task->deadline_ns))
            withdraw_request(task, request, WB_ERR_TIMEOUT);
    }
    if (under_way)
        (void)wb_word_or(&system->sweep, WB_SWEEP_REQUESTS, WB_RELAXED);
    if (over == system->n_tasks && !system->endless)
        wb_system_over(system);
}
