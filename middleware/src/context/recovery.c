// SPDX-License-Identifier: Apache-2.0
// What happens to the tasks of a kernel that was killed.
//
// A killed kernel leaves every task but the running one with a complete context, so those are
// offered to a living core like any other hand-off. The running one lost its registers: it starts
// again from its newest checkpoint image, or from its entry with its state pointer and with its
// ports as the channels say, or is lost. The killed kernel may have died between any two stores;
// each step below says what it repairs.

#include "../memory/memory.h"
#include "context.h"

static bool is_up(const struct wb_core *core)
{
    const uint32_t state = wb_word_load(&core->state, WB_ACQUIRE);
    return state == WB_CORE_UP || state == WB_CORE_DOWN;
}

enum { ANY_PROGRAM = UINT32_MAX };

// Private memory of another program's cores cannot be read.
static bool could_take(const struct wb_core *core, const struct wb_task *task, uint32_t dead)
{
    const bool is_private = task->mode == WB_REPLICATE || task->mode == WB_RECREATE;

    return wb_task_runs_on(task, core) && wb_task_entry_on(task, core) != NULL &&
           (!is_private || core->program == task->system->cores[dead]->program);
}

// Among `cores`, a bit for each, 0: among all; and among those of a program.
static struct wb_core *next_up(const struct wb_system *system, uint32_t dead,
                               const struct wb_task *task, uint32_t cores, uint32_t program)
{
    for (uint32_t i = 1; i < system->n_cores; i++) {
        struct wb_core *core = system->cores[(dead + i) % system->n_cores];
        if (is_up(core) && (task == NULL || could_take(core, task, dead)) &&
            (program == ANY_PROGRAM || program == core->program) &&
            (cores == 0 || (core->index < 32 && (cores >> core->index & 1) != 0)))
            return core;
    }
    return NULL;
}

// Policies are data of the launcher's program.
struct wb_core *wb_core_successor(const struct wb_system *system, uint32_t dead)
{
    return next_up(system, dead, NULL, 0, 0);
}

// The dead core, if it is the last resort.
static struct wb_core *itself(const struct wb_task *task, uint32_t dead)
{
    struct wb_core *core = task->system->cores[dead];

    return core->returns && could_take(core, task, dead) ? core : NULL;
}

// First of all one that can go on with its context.
static struct wb_core *successor_of(const struct wb_task *task, uint32_t dead)
{
    const struct wb_system *system = task->system;
    const uint32_t cores = wb_word_load(&task->cores, WB_RELAXED);
    struct wb_core *found = next_up(system, dead, task, cores, ANY_PROGRAM);

    if (found == NULL || wb_has_programs(system)) {
        struct wb_core *like = next_up(system, dead, task, 0, system->cores[dead]->program);
        found = like != NULL ? like : next_up(system, dead, task, 0, ANY_PROGRAM);
    }
    return found != NULL ? found : itself(task, dead);
}

// Offers the task to a living core; false if it is no longer where it was seen. A core that shares
// it may choose it in spite of that, and whoever changes owner_state first has it. Nobody withdraws
// this offer: it has the number of the request after the present one, which cannot be accepted
// before the task runs again.
static bool give_to(struct wb_task *task, uint32_t owner_state, struct wb_core *to)
{
    const uint32_t request = wb_word_load(&task->request, WB_RELAXED);
    const uint32_t offer =
        wb_owner_state_offer(wb_owner_of(owner_state), to->index, wb_request_number(request) + 1);

    if (!wb_word_compare_swap(&task->owner_state, &owner_state, offer, WB_SEQ_CST, WB_RELAXED))
        return false;
    wb_inbox_post(to, task->id);
    return true;
}

static void leave_all(struct wb_task *task)
{
    if (wb_parts.channels != NULL)
        wb_parts.channels->close(task);
    wb_heap_close(&task->heap);
    if (wb_parts.pool != NULL)
        wb_parts.pool->close(&task->shared);
}

static void lose(struct wb_task *task, uint32_t core)
{
    leave_all(task);
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);
    if (ops != NULL && ops->drop != NULL)
        ops->drop(task);
    if (wb_parts.locks != NULL)
        wb_parts.locks->recover(task);
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_LOST, core), WB_SEQ_CST);
    wb_migration_cancel(task, WB_ERR_GONE);
    wb_system_task_over(task->system);
}

// Its context is complete, so any core may take it back. More than one may come to see to it here,
// and the successor may die as well: each step is one compare-and-swap, and is looked at again.
static void readdress(struct wb_task *task)
{
    const struct wb_system *system = task->system;

    for (;;) {
        uint32_t owner_state = wb_word_load(&task->owner_state, WB_SEQ_CST);
        const uint32_t owner = wb_owner_of(owner_state);
        if (wb_task_state_of(owner_state) != WB_TASK_RETURNED ||
            wb_word_load(&system->cores[owner]->state, WB_SEQ_CST) != WB_CORE_DEAD)
            return;
        struct wb_core *successor = successor_of(task, owner);
        if (successor == NULL)
            return;
        const uint32_t again =
            wb_owner_state_returned(successor->index, wb_owner_state_why(owner_state));
        if (!wb_word_compare_swap(&task->owner_state, &owner_state, again, WB_SEQ_CST, WB_RELAXED))
            continue;
        wb_inbox_post(successor, task->id);
        if (successor->index == owner)
            return;
    }
}

// The running task has lost its registers, and a recreated one its memory, whatever it did. One
// that begins anew where it comes to is in the midst of something, too.
static bool is_cut_short(const struct wb_task *task, enum wb_task_state state,
                         const struct wb_core *successor)
{
    if (state == WB_TASK_RUNNING)
        return true;
    if (state == WB_TASK_NEW || wb_revival(task) != WB_REVIVE_NOT)
        return false;
    if (task->mode == WB_RECREATE || task->mode == WB_REENTER)
        return state == WB_TASK_READY || state == WB_TASK_BLOCKED;
    return wb_task_is_handed_off(task) && wb_task_is_foreign(task, successor);
}

// Another core may choose it at this very moment, and accept a request of its own: the owner
// state says.
static bool may_be_chosen(const struct wb_task *task, enum wb_task_state state)
{
    return !wb_task_stays(task) &&
           (state == WB_TASK_READY || state == WB_TASK_BLOCKED || state == WB_TASK_OFFERED);
}

// A request that the dead core was writing, withdrawing, or carrying out will not be finished by
// it.
static void end_request(struct wb_task *task, uint32_t dead, bool orphan)
{
    const uint32_t request = wb_word_load(&task->request, WB_ACQUIRE);
    const enum wb_request_phase phase = wb_request_phase(request);

    if ((phase == WB_REQUEST_FILLING && wb_request_core(request) == dead) ||
        (phase == WB_REQUEST_ACCEPTED && orphan))
        wb_migration_finish(task, WB_ERR_GONE);
    else if (phase != WB_REQUEST_NONE && wb_request_core(request) == dead)
        wb_migration_cancel(task, WB_ERR_GONE);
}

// True when no living core will see to the task. Its owner may have died before this death, with
// the task on offer to the core that has died now. An offer of recovery never goes back to its
// owner, which may have returned since: it waits for a target that returns.
static bool is_orphan(const struct wb_task *task, uint32_t owner_state)
{
    struct wb_core *const *cores = task->system->cores;

    if (wb_task_state_of(owner_state) == WB_TASK_OFFERED) {
        if (is_up(cores[wb_target_of(owner_state)]))
            return false;
        if (!wb_migration_is_accepted(task))
            return !cores[wb_target_of(owner_state)]->returns;
    }
    return !is_up(cores[wb_owner_of(owner_state)]);
}

// True of a task between its source and its target. Others may withdraw its hand-off meanwhile.
static bool is_on_its_way(const struct wb_task *task, uint32_t owner_state)
{
    const enum wb_task_state state = wb_task_state_of(owner_state);
    const uint32_t request = wb_word_load(&task->request, WB_ACQUIRE);

    return state == WB_TASK_RETURNED ||
           (state == WB_TASK_OFFERED && wb_request_phase(request) == WB_REQUEST_ACCEPTED);
}

// Returns true when the task is lost.
static bool take_over(struct wb_task *task, uint32_t dead)
{
    struct wb_core *successor = successor_of(task, dead);
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);
    const enum wb_task_state state = wb_task_state_of(owner_state);
    const bool over = wb_state_is_over(owner_state);
    const bool orphan = !over && is_orphan(task, owner_state);

    if (orphan && successor != NULL && is_on_its_way(task, owner_state)) {
        wb_migration_cancel(task, WB_ERR_GONE);
        readdress(task);
        return false;
    }
    end_request(task, dead, orphan && !may_be_chosen(task, state));
    if (over && wb_owner_of(owner_state) == dead)
        leave_all(task);
    if (over)
        // Neither the task's kernel nor the requester's may have come to look at the other's word.
        wb_migration_cancel(task, WB_ERR_GONE);
    if (state == WB_TASK_OFFERED && !orphan)
        // The source may not have come to tell it.
        wb_inbox_post(task->system->cores[wb_target_of(owner_state)], task->id);
    if (!orphan)
        return false;
    if (successor == NULL || (is_cut_short(task, state, successor) && !wb_task_revive(task))) {
        lose(task, dead);
        return true;
    }
    // An offer may have been withdrawn and taken back since we looked.
    return !give_to(task, owner_state, successor) && take_over(task, dead);
}

uint32_t wb_core_died(struct wb_system *system, uint32_t core)
{
    struct wb_core *dead = system->cores[core];
    uint32_t lost = 0;

    // Kernels of the launcher's program go on from each other's contexts. Another program dies and
    // begins anew as a whole.
    if (dead->program != 0)
        dead->memory += system->config.programs * (WB_CORES_MAX + 1);
    // seq_cst against wb_task_departed(): an offer to this core is either seen below or withdrawn
    // by its source.
    wb_word_store(&dead->state, WB_CORE_DEAD, WB_SEQ_CST);
    (void)wb_word_or(&system->sweep, WB_SWEEP_DEATHS, WB_RELAXED);
    for (uint32_t i = 0; i < system->n_tasks; i++)
        lost += take_over(&system->tasks[i], core);
    // The dead core may have changed a channel and not woken its peer, or taken a note and not
    // acted on it.
    wb_system_wake_all(system);
    for (uint32_t i = 0; i < system->n_cores; i++)
        wb_kernel_doorbell(i);
    if (wb_parts.agents != NULL)
        wb_parts.agents->replace(system);
    return lost;
}

const struct wb_part_deaths wb_part_deaths = {
    .attach = &wb_attach_ops,
    .revive = wb_task_fetch_revived,
    .restart = wb_task_revive,
    .lose = lose,
    .readdress = readdress,
};
