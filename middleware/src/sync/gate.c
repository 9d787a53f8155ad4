// SPDX-License-Identifier: Apache-2.0
// Gates: waiting without lists.
//
// A waiter says in its own `waits_for` that it waits here, and in `waited` of the gate that
// somebody does, then tries once more, and blocks. Who gives changes the gate and then looks at
// `waited`. Each has a full fence between its stores and its load, so at least one of the two sees
// the other (see port.c). The giver looks through the tasks, clears `waits_for` of the most urgent
// one, which chooses it, and wakes it; the chosen one tries again, as anybody may meanwhile.
//
// A task may also wait for several gates at once (wait.c). It takes nothing, and is woken besides
// the chosen one.
//
// A giver may be killed after it chose, or choose a task that was killed: recovery wakes everybody,
// and everybody tries again.

#include "gate.h"

static bool waits_at(const struct wb_task *task, const struct wb_gate *gate)
{
    // Acquire: a task that says so has set what it waits by before.
    return wb_word_load(&task->sync.waits_for, WB_ACQUIRE) == gate;
}

static struct wb_task *most_urgent(struct wb_system *system, const struct wb_gate *gate)
{
    struct wb_task *found = NULL;

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        if (waits_at(task, gate) &&
            (found == NULL || wb_sync_priority(&task->sync) > wb_sync_priority(&found->sync)))
            found = task;
    }
    return found;
}

// Clearing its word chooses the task: only one giver does, and not if it has left by itself.
static bool choose(struct wb_task *task, struct wb_gate *gate)
{
    // Release: the task, or recovery, that sees it cleared sees what was given. Acquire: pairs with
    // a task that left, so that the next look does not find it.
    return wb_word_compare_swap(&task->sync.waits_for, &gate, NULL, WB_ACQ_REL, WB_ACQUIRE);
}

static void wake_sets(const struct wb_gate *gate, struct wb_system *system)
{
    const uint32_t bit = wb_gate_bit(gate);

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        if (waits_at(task, &system->set) && (wb_word_load(&task->sync.set, WB_RELAXED) & bit) != 0)
            wb_task_wake(task);
    }
}

void wb_gate_choose(struct wb_gate *gate, struct wb_system *system)
{
    struct wb_task *task;

    while ((task = most_urgent(system, gate)) != NULL) {
        // Before the choice: the chosen task may give in turn, and must not miss the others.
        (void)wb_word_or(&gate->waited, WB_WAITED_ALONE, WB_RELEASE);
        if (choose(task, gate)) {
            wb_task_wake(task);
            return;
        }
    }
}

void wb_gate_choose_all(struct wb_gate *gate, struct wb_system *system)
{
    // See the head of this file for what this fence pairs with.
    wb_word_fence(WB_SEQ_CST);
    for (uint32_t i = 0; i < system->n_tasks; i++)
        if (waits_at(&system->tasks[i], gate) && choose(&system->tasks[i], gate))
            wb_task_wake(&system->tasks[i]);
}

void wb_gate_choose_guarded(const struct wb_gate *mutex, struct wb_system *system)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        // Relaxed: who waits with the mutex said so before it gave it back, and the caller has it.
        struct wb_gate *condition = wb_word_load(&task->sync.condition, WB_RELAXED);
        if (condition != NULL && wb_word_load(&task->sync.guard, WB_RELAXED) == mutex &&
            choose(task, condition))
            wb_task_wake(task);
    }
}

void wb_gate_open(struct wb_gate *gate, struct wb_system *system)
{
    // See the head of this file for what this fence pairs with.
    wb_word_fence(WB_SEQ_CST);
    // Acquire: whoever set it is found below.
    if (wb_word_load(&gate->waited, WB_RELAXED) == 0)
        return;
    const uint32_t waited = wb_word_swap(&gate->waited, 0, WB_ACQ_REL);
    if ((waited & WB_WAITED_IN_SET) != 0)
        wake_sets(gate, system);
    if ((waited & WB_WAITED_ALONE) != 0)
        wb_gate_choose(gate, system);
}

static void abandon(struct wb_task *task)
{
    const uint32_t own = wb_gate_holder(task);
    struct wb_system *system = task->system;

    // Those who wait are looked for among all tasks.
    if (task->sync.owned == 0 && wb_word_load(&task->sync.sits, WB_RELAXED) == 0)
        return;
    // Against a waiter that looks whether the task is over: one of the two sees the other.
    wb_word_fence(WB_SEQ_CST);
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_gate *gate = wb_word_load(&system->tasks[i].sync.waits_for, WB_ACQUIRE);
        const uint32_t holder = gate != NULL ? wb_word_load(&gate->holder, WB_RELAXED) : 0;
        // Relaxed, as all here: who waits for a condition looks at the holder of its mutex.
        if (holder == own || holder == WB_HOLDER_BARRIER ||
            wb_word_load(&system->tasks[i].sync.condition, WB_RELAXED) != NULL)
            wb_task_wake(&system->tasks[i]);
    }
}

// A signal that the task was chosen for, and has not returned with, is for another. It comes twice
// if this is cut short and done again; a signal that is lost would be worse.
static void pass_on(struct wb_task *task, const struct wb_gate *waited_for)
{
    struct wb_gate *gate = wb_word_load(&task->sync.condition, WB_RELAXED);

    if (gate != NULL && gate != waited_for)
        wb_gate_choose(gate, task->system);
    wb_word_store(&task->sync.condition, NULL, WB_RELAXED);
}

static void recover(struct wb_task *task)
{
    // Release, by an exchange: a giver that chose this task did so before, and whoever is woken
    // after this sees what was given.
    pass_on(task, wb_word_swap(&task->sync.waits_for, NULL, WB_ACQ_REL));
    task->sync.held = 0;
    task->sync.owned = 0;
}

// ---- Waiting ------------------------------------------------------------------------------------

enum wb_status wb_gate_poll(struct wb_gate *gate, wb_gate_attempt *attempt, struct wb_task *self,
                            uint64_t until_ns)
{
    struct wb_spin spin = { 0 };
    enum wb_status status;

    do {
        status = attempt(gate, self);
    } while (status == WB_ERR_EMPTY && wb_kernel_spin(&spin, until_ns));
    self->poll_mark_ns += spin.polled_ns;
    return status;
}

static enum wb_status block(struct wb_gate *gate, wb_gate_attempt *attempt, struct wb_task *self,
                            uint64_t until_ns)
{
    bool timed_out = false;

    // Release: who is led to this task by `waited` finds that it waits.
    (void)wb_word_swap(&self->sync.waits_for, gate, WB_RELEASE);
    (void)wb_word_or(&gate->waited, WB_WAITED_ALONE, WB_RELEASE);
    wb_word_fence(WB_SEQ_CST);
    enum wb_status status = attempt(gate, self);
    if (status == WB_ERR_EMPTY) {
        wb_inherit_press(gate, self);
        timed_out = wb_kernel_block(until_ns) == WB_ERR_TIMEOUT;
    }
    // Acquire: if somebody chose this task, it sees what was given.
    (void)wb_word_swap(&self->sync.waits_for, NULL, WB_ACQ_REL);
    if (timed_out) {
        status = attempt(gate, self);
        if (status == WB_ERR_EMPTY) {
            wb_inherit_release(gate, self);
            return WB_ERR_TIMEOUT;
        }
    }
    return status;
}

enum wb_status wb_gate_enter(struct wb_gate *gate, wb_gate_attempt *attempt, uint64_t timeout_ns)
{
    struct wb_task *self = wb_kernel_self();
    enum wb_status status = attempt(gate, self);

    if (status != WB_ERR_EMPTY || timeout_ns == 0)
        return status;
    const uint64_t until_ns = wb_end_of(timeout_ns);
    for (;;) {
        status = wb_gate_poll(gate, attempt, self, until_ns);
        if (status != WB_ERR_EMPTY)
            return status;
        status = block(gate, attempt, self, until_ns);
        if (status != WB_ERR_EMPTY)
            return status;
        wb_departure_at_wait(self);
    }
}

const struct wb_part_locks wb_part_locks = {
    .abandon = abandon,
    .recover = recover,
    .inherit = wb_inherit,
};
