// SPDX-License-Identifier: Apache-2.0
// The coordinator: reads what the agents report, asks the policy, and sends commands (the master
// daemon of acquaviva2008 section 4.2).
//
// A command is what it would be from anybody else: a request for a migration, with a note to the
// source, or an operating point that a core's agent is asked for. So a coordinator that is killed
// leaves nothing that recovery does not know already, and the next living core goes on from the
// reports. With a local policy every core asks for itself, and there is no coordinator.

#include "../context/context.h"
#include "../word/mem.h"
#include "decide.h"
#include "wb/system.h"

enum {
    COMMAND_NS = 1000000000,     // how long a task may take to its checkpoint
    FIRST_MIGRATION_NS = 20000,  // expected of a task that never moved
};

struct choice {
    const struct wb_policy *policy;
    int64_t params[WB_POLICY_PARAMS];
    uint32_t number;
};

// ---- Who decides --------------------------------------------------------------------------------

enum wb_status wb_system_set_policy(struct wb_system *system, const struct wb_policy *policy,
                                    const int64_t *params)
{
    struct wb_control *control = &system->control;
    const uint32_t choice = wb_word_load(&control->choice, WB_RELAXED);

    if (system->config.agent_period_ns == 0)
        return WB_ERR_INVAL;
    // Odd before the words below. Release on each of them: who reads a new word reads an odd or a
    // later choice after it.
    wb_word_store(&control->choice, choice + 1, WB_RELAXED);
    wb_word_store(&control->policy, policy, WB_RELEASE);
    for (uint32_t i = 0; policy != NULL && i < policy->n_params; i++) {
        const uint64_t value = (uint64_t)params[i];
        wb_word_store(&control->params[2 * i], (uint32_t)value, WB_RELEASE);
        wb_word_store(&control->params[2 * i + 1], (uint32_t)(value >> 32), WB_RELEASE);
    }
    // Release: who sees the even number sees the words before it.
    wb_word_store(&control->choice, choice + 2, WB_RELEASE);
    return WB_OK;
}

const struct wb_policy *wb_system_policy(const struct wb_system *system)
{
    return wb_word_load(&system->control.policy, WB_RELAXED);
}

// False while the launcher is about to choose: the next period will do.
static bool choice_read(const struct wb_control *control, struct choice *choice)
{
    // Acquire, all of them: the words that follow are read after it, and the last look after them.
    choice->number = wb_word_load(&control->choice, WB_ACQUIRE);
    choice->policy = wb_word_load(&control->policy, WB_ACQUIRE);
    for (uint32_t i = 0; i < WB_POLICY_PARAMS; i++) {
        const uint64_t low = wb_word_load(&control->params[2 * i], WB_ACQUIRE);
        const uint64_t high = wb_word_load(&control->params[2 * i + 1], WB_ACQUIRE);
        choice->params[i] = (int64_t)(low | high << 32);
    }
    return choice->number % 2 == 0 && choice->number == wb_word_load(&control->choice, WB_RELAXED);
}

void wb_coordinator_replace(struct wb_system *system)
{
    uint32_t core = wb_word_load(&system->control.coordinator, WB_RELAXED);

    for (;;) {
        if (wb_word_load(&system->cores[core]->state, WB_ACQUIRE) != WB_CORE_DEAD)
            return;
        const struct wb_core *successor = wb_core_successor(system, core);
        // Failing means that somebody else has replaced it: that one may have died since.
        if (successor == NULL || wb_word_compare_swap(&system->control.coordinator, &core,
                                                      successor->index, WB_RELAXED, WB_RELAXED))
            return;
    }
}

// ---- What it sees -------------------------------------------------------------------------------

static void see_core(struct wb_snapshot_core *seen, const struct wb_core *core)
{
    const struct wb_core_report *report = &core->report;

    *seen = (struct wb_snapshot_core){
        .up = wb_word_load(&core->state, WB_ACQUIRE) == WB_CORE_UP,
        .kind = core->kind,
        .n_points = core->n_points,
        .points = core->points,
        .point = wb_word_load(&core->point, WB_RELAXED),
        .off = wb_core_is_let_off(core),
        .busy_ppm = wb_word_load(&report->busy_ppm, WB_RELAXED),
        .temperature_mc = wb_word_load(&report->temperature_mc, WB_RELAXED),
    };
}

// Besides those that its work leaves out: kinds of cores of other programs to which it cannot go,
// if none of its own has them.
static __attribute__((cold)) uint32_t kinds_across(const struct wb_task *task, uint32_t owner)
{
    const struct wb_system *system = task->system;
    const struct wb_core *from = system->cores[owner];
    uint32_t across = 0, near = 0;

    for (uint32_t i = 0; i < system->n_cores; i++) {
        const struct wb_core *to = system->cores[i];
        if (wb_task_may_cross(task, from, to) == WB_OK)
            near |= 1u << to->kind;
        else
            across |= 1u << to->kind;
    }
    return across & ~near;
}

static void see_task(struct wb_snapshot_task *seen, const struct wb_task *task, uint64_t now_ns)
{
    const struct wb_task_report *report = &task->report;
    // Acquire: a task that we see on its new core has reported that it came there.
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);
    const uint32_t took = wb_word_load(&report->migration_ns, WB_RELAXED);
    const uint64_t since_ns = wb_stamp_get(&report->since_ns);
    const bool over = wb_state_is_over(owner_state);

    *seen = (struct wb_snapshot_task){
        .name = task->name,
        .index = task->index,
        .core = wb_owner_of(owner_state),
        .last_core = wb_word_load(&report->last_core, WB_RELAXED),
        .not_on =
            task->work.not_on |
            (wb_has_programs(task->system) ? kinds_across(task, wb_owner_of(owner_state)) : 0),
        .movable = task->migratable && !over && !wb_migration_pending(task),
        .load_ppm = over ? 0 : wb_word_load(&report->load_ppm, WB_RELAXED),
        .here_ns = now_ns > since_ns ? now_ns - since_ns : 0,
        .migration_ns = took != 0 ? took : FIRST_MIGRATION_NS,
    };
    // It left that core when it came to this one.
    if (seen->last_core != seen->core)
        seen->away_ns = seen->here_ns;
}

// Before that a policy would take silence for idleness: ticks of cores that fall together come in
// any order. It waits for a period: a task may keep its core for ever.
static bool may_decide(const struct wb_core *decider)
{
    const struct wb_system *system = decider->system;

    if (wb_word_load(&decider->report.periods, WB_RELAXED) > 1)
        return true;
    for (uint32_t i = 0; i < system->n_cores; i++) {
        const struct wb_core *core = system->cores[i];
        // One that is off has no agent that could report.
        if (wb_word_load(&core->state, WB_ACQUIRE) == WB_CORE_UP && !wb_core_is_let_off(core) &&
            wb_word_load(&core->report.periods, WB_RELAXED) == 0)
            return false;
    }
    return true;
}

static struct wb_snapshot see(const struct wb_core *core, uint64_t now_ns)
{
    const struct wb_system *system = core->system;
    struct wb_snapshot_core *cores = core->report.cores;
    struct wb_snapshot_task *tasks = core->report.tasks;

    for (uint32_t i = 0; i < system->n_cores; i++)
        see_core(&cores[i], system->cores[i]);
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        see_task(&tasks[i], &system->tasks[i], now_ns);
        cores[tasks[i].core].load_ppm += tasks[i].load_ppm;
    }
    return (struct wb_snapshot){
        .now_ns = now_ns,
        .period_ns = system->config.agent_period_ns,
        .rate_millihz = wb_word_load(&system->rate_millihz, WB_RELAXED),
        .self = core->index,
        .n_cores = system->n_cores,
        .n_tasks = system->n_tasks,
        .n_rows = system->control.n_rows,
        .cores = cores,
        .tasks = tasks,
        .rows = system->control.rows,
    };
}

// ---- What it does -------------------------------------------------------------------------------

static void advise(struct wb_core *core, const struct choice *choice, const char *text,
                   uint64_t now_ns)
{
    struct wb_core_report *report = &core->report;
    struct wb_advice advice = { .time_ns = now_ns, .policy = choice->policy, .core = core->index };

    // A policy that is wrong is so in every period.
    if (report->advised_choice == choice->number && wb_text_equal(report->advised, text))
        return;
    report->advised_choice = choice->number;
    wb_text_copy(report->advised, text, sizeof report->advised);
    wb_text_copy(advice.text, text, sizeof advice.text);
    wb_ring_put(&report->advice, &advice);
}

static void carry_out(const struct wb_system *system, const struct wb_decision *decision)
{
    for (uint32_t i = 0; i < decision->n_moves; i++) {
        struct wb_task *task = &system->tasks[decision->moves[i].task];
        // Refused, if anything changed since the snapshot: the next one shows it.
        if (wb_task_core(task) != decision->moves[i].core)
            (void)wb_migration_ask(task, decision->moves[i].core, COMMAND_NS, WB_BY_POLICY);
    }
    for (uint32_t i = 0; i < decision->n_points; i++) {
        struct wb_core *core = system->cores[decision->points[i].core];
        // Relaxed: the word is all there is to know.
        if (wb_word_swap(&core->wanted_point, decision->points[i].point, WB_RELAXED) !=
            decision->points[i].point)
            wb_inbox_ring(core);
    }
}

void wb_coordinator_tick(struct wb_core *core, uint64_t now_ns)
{
    struct wb_system *system = core->system;
    struct wb_core_report *report = &core->report;
    char text[WB_ADVICE_BYTES];
    struct choice choice;

    wb_coordinator_replace(system);
    // Policies are data of the launcher's program.
    if (core->program != 0)
        return;
    if (!choice_read(&system->control, &choice) || choice.policy == NULL)
        return;
    if (!choice.policy->local &&
        wb_word_load(&system->control.coordinator, WB_RELAXED) != core->index)
        return;
    if (!may_decide(core))
        return;
    const struct wb_snapshot snapshot = see(core, now_ns);
    struct wb_decision decision = { .moves = report->moves,
                                    .max_moves = system->n_tasks,
                                    .points = report->points,
                                    .max_points = system->n_cores };
    wb_kernel_charge(WB_ACTION_DECIDE, system->n_tasks);
    choice.policy->decide(&snapshot, choice.params, &decision);
    if (wb_decision_check(&decision, &snapshot, choice.policy, text, sizeof text) != 0)
        advise(core, &choice, text, now_ns);
    carry_out(system, &decision);
}
