// SPDX-License-Identifier: Apache-2.0
// The agent's reports: what a core and its tasks used in the last period (the slave daemon of
// acquaviva2008 section 4.2).
//
// A task's busy time counts from the switch to it, also while it runs on. It becomes work at the
// highest frequency whenever that frequency or the task's core is about to change, and at the end
// of a period, so loads are exact across both.

#include "../word/mem.h"
#include "decide.h"
#include "wb/system.h"

enum {
    ADVICE = 8,  // pieces of advice that wait for the launcher; a power of two
    RESIDENTS = WB_LINE_BYTES / sizeof(struct wb_residents),  // of a line
};

static uint32_t words_of(const struct wb_system_config *config)
{
    return (config->tasks + 31) / 32;
}

static size_t bytes_of(const struct wb_system_config *config)
{
    if (config->agent_period_ns == 0)
        return 0;
    return wb_round_up(words_of(config) * sizeof(struct wb_residents), WB_LINE_BYTES) +
           wb_round_up(config->cores * sizeof(struct wb_snapshot_core), WB_LINE_BYTES) +
           wb_round_up(config->tasks * sizeof(struct wb_snapshot_task), WB_LINE_BYTES) +
           wb_round_up(config->tasks * sizeof(struct wb_move), WB_LINE_BYTES) +
           wb_round_up(config->cores * sizeof(struct wb_set_point), WB_LINE_BYTES) +
           wb_round_up(ADVICE * (8 + sizeof(struct wb_advice)), WB_LINE_BYTES) + WB_LINE_BYTES;
}

// What only a policy's snapshots and decisions need.
static bool init_tables(struct wb_system *system, struct wb_core_report *report)
{
    const struct wb_system_config *config = &system->config;

    report->cores = wb_system_alloc(system, config->cores * sizeof *report->cores, WB_LINE_BYTES);
    report->tasks = wb_system_alloc(system, config->tasks * sizeof *report->tasks, WB_LINE_BYTES);
    report->moves = wb_system_alloc(system, config->tasks * sizeof *report->moves, WB_LINE_BYTES);
    report->points = wb_system_alloc(system, config->cores * sizeof *report->points, WB_LINE_BYTES);
    report->advice.slots = ADVICE;
    report->advice.entry_bytes = sizeof(struct wb_advice);
    report->advice.data =
        wb_system_alloc(system, ADVICE * (8 + sizeof(struct wb_advice)), WB_LINE_BYTES);
    return report->cores != NULL && report->tasks != NULL && report->moves != NULL &&
           report->points != NULL && report->advice.data != NULL;
}

static bool init(struct wb_system *system)
{
    const uint32_t cores = system->config.cores;
    const size_t words = words_of(&system->config) * sizeof(struct wb_residents);
    struct wb_residents *residents =
        wb_system_alloc(system, cores * wb_round_up(words, WB_LINE_BYTES), WB_LINE_BYTES);
    bool done = residents != NULL;

    for (uint32_t i = 0; i < cores && done; i++) {
        struct wb_core_report *report = &system->cores[i]->report;
        report->residents = residents + (size_t)i * RESIDENTS;
        done = init_tables(system, report);
    }
    return done;
}

// The first line of each core, then the second of each: so a core that few of many tasks come to
// takes a few lines, and no page of its own.
static struct wb_residents *residents_at(const struct wb_core *core, uint32_t i)
{
    const size_t lines = (size_t)(i / RESIDENTS) * core->system->n_cores;

    return &core->report.residents[lines * RESIDENTS + i % RESIDENTS];
}

// NULL: after the last of those that are in use.
static struct wb_residents *residents_in_use(const struct wb_core *core, uint32_t i)
{
    if (core->report.residents == NULL || i == words_of(&core->system->config))
        return NULL;
    struct wb_residents *residents = residents_at(core, i);
    return wb_word_load(&residents->word, WB_RELAXED) != 0 ? residents : NULL;
}

// ---- Loads --------------------------------------------------------------------------------------

static uint32_t ppm_of(uint64_t part, uint64_t total)
{
    while (part > UINT64_MAX / WB_PPM) {
        part >>= 1;
        total >>= 1;
    }
    const uint64_t ppm = total != 0 ? part * WB_PPM / total : 0;
    return ppm < UINT32_MAX ? (uint32_t)ppm : UINT32_MAX;
}

// The present frequency, as part of the highest one.
static uint32_t speed_ppm(const struct wb_core *core)
{
    if (core->n_points == 0)
        return WB_PPM;
    const uint32_t point = wb_word_load(&core->point, WB_RELAXED);
    return ppm_of(core->points[point].hz, core->points[core->n_points - 1].hz);
}

// What the running task has not been charged yet; 0 if none runs here.
static uint64_t unaccounted_ns(const struct wb_task *running, uint64_t now_ns)
{
    if (running == NULL)
        return 0;
    const uint64_t not_busy_ns = running->resumed_ns + running->poll_mark_ns;
    return now_ns > not_busy_ns ? now_ns - not_busy_ns : 0;
}

static uint64_t busy_ns(const struct wb_task *task, uint64_t now_ns)
{
    const uint64_t counted_ns = wb_counter_get(&task->stats.busy_ns);
    return counted_ns + (task == wb_kernel_self() ? unaccounted_ns(task, now_ns) : 0);
}

static void fold(struct wb_task *task, uint32_t speed, uint64_t now_ns)
{
    struct wb_task_report *report = &task->report;
    const uint64_t busy = busy_ns(task, now_ns), since_ns = busy - report->mark_ns;

    // At full speed without dividing, which small processors do in hundreds of instructions.
    report->work_ns += speed == WB_PPM ? since_ns : wb_part(since_ns, speed);
    report->mark_ns = busy;
}

static bool is_ours(const struct wb_task *task, uint32_t core)
{
    return wb_owner_state_is_kept(wb_word_load(&task->owner_state, WB_RELAXED), core);
}

// The 32 tasks that they are of.
static struct wb_task *tasks_of(const struct wb_core *core, const struct wb_residents *residents)
{
    return &core->system->tasks[(size_t)(wb_word_load(&residents->word, WB_RELAXED) - 1) * 32];
}

// Those of them that are ours. Who has left is looked at no more, so that a period takes as long as
// there are tasks here, and words of 32 tasks of which one came once, not in the whole system.
// Swaps, as a task may come in an interrupt; relaxed, as it comes to this core.
static uint32_t ours_among(const struct wb_core *core, struct wb_residents *residents)
{
    const struct wb_task *tasks = tasks_of(core, residents);
    uint32_t ours = 0;

    if (wb_word_load(&residents->bits, WB_RELAXED) == 0)
        return 0;
    for (uint32_t bits = wb_word_swap(&residents->bits, 0, WB_RELAXED); bits != 0; bits &= bits - 1)
        if (is_ours(&tasks[__builtin_ctz(bits)], core->index))
            ours |= bits & -bits;
    wb_word_or(&residents->bits, ours, WB_RELAXED);
    return ours;
}

// Whether they are of that word. Those of none are from now on, by a compare and swap, for the same
// reason.
static bool are_of(struct wb_residents *residents, uint32_t word)
{
    uint32_t named = wb_word_load(&residents->word, WB_RELAXED);

    return (named == 0 &&
            wb_word_compare_swap(&residents->word, &named, word + 1, WB_RELAXED, WB_RELAXED)) ||
           named == word + 1;
}

static void attached(const struct wb_task *task, struct wb_core *core)
{
    const uint32_t word = task->id / 32;
    // At the start tasks come in order.
    uint32_t i = core->report.came_last;

    if (!are_of(residents_at(core, i), word))
        for (i = 0; !are_of(residents_at(core, i), word); i++) {}
    core->report.came_last = i;
    wb_word_or(&residents_at(core, i)->bits, 1u << task->id % 32, WB_RELAXED);
}

static bool lies_on_stack(const struct wb_task *task, const void *address)
{
    return (uintptr_t)address >= (uintptr_t)task->stack &&
           (uintptr_t)address < (uintptr_t)task->stack + task->stack_bytes;
}

// What a move would have to copy, for policies. The stack in whole pages: it is deeper or not as
// the compiler likes, and a policy is to decide alike on every machine.
static uint32_t context_bytes(const struct wb_task *task)
{
    enum { PAGE_BYTES = 4096 };
    // A local of ours lies on the stack of a task that runs, if its kernel has no other here.
    const unsigned char here = 0;
    const bool is_here = task == wb_kernel_self() && lies_on_stack(task, &here);
    const unsigned char *low = is_here ? &here : wb_kernel_stack_low(task);
    const uintptr_t top = (uintptr_t)task->stack + task->stack_bytes;
    const size_t depth = lies_on_stack(task, low) ? top - (uintptr_t)low : 0;
    const size_t pages = (depth + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    const size_t bytes =
        task->heap.used_bytes + (pages < task->stack_bytes ? pages : task->stack_bytes);

    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

// A task that has just come, with what it did elsewhere reported there, is reported next time.
static void report_task(struct wb_task *task, uint64_t period_ns, uint64_t now_ns)
{
    struct wb_task_report *report = &task->report;
    const uint64_t window_ns = now_ns - report->from_ns;

    if (window_ns < period_ns / 2)
        return;
    // Relaxed, here and below: each word stands for itself, and whoever reads it may be late.
    wb_word_store(&report->load_ppm, ppm_of(report->work_ns, window_ns), WB_RELAXED);
    wb_word_store(&report->context_bytes, context_bytes(task), WB_RELAXED);
    report->work_ns = 0;
    report->from_ns = now_ns;
}

static void report_tasks(struct wb_core *core, uint64_t now_ns)
{
    const struct wb_system *system = core->system;
    const uint32_t speed = speed_ppm(core);
    uint64_t bytes = 0;
    uint32_t load_ppm = 0, tasks = 0;
    struct wb_residents *residents;

    for (uint32_t i = 0; (residents = residents_in_use(core, i)) != NULL; i++) {
        struct wb_task *first = tasks_of(core, residents);
        for (uint32_t ours = ours_among(core, residents); ours != 0; ours &= ours - 1, tasks++) {
            struct wb_task *task = &first[__builtin_ctz(ours)];
            fold(task, speed, now_ns);
            report_task(task, system->config.agent_period_ns, now_ns);
            load_ppm += wb_word_load(&task->report.load_ppm, WB_RELAXED);
            bytes += wb_word_load(&task->report.context_bytes, WB_RELAXED);
        }
    }
    wb_word_store(&core->report.load_ppm, load_ppm, WB_RELAXED);
    wb_word_store(&core->report.context_bytes, bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX,
                  WB_RELAXED);
    wb_kernel_charge(WB_ACTION_REPORT, tasks);
}

static void report_core(struct wb_core *core, uint64_t now_ns)
{
    struct wb_core_report *report = &core->report;
    const uint64_t busy =
        wb_counter_get(&core->stats.busy_ns) + unaccounted_ns(wb_kernel_self(), now_ns);

    wb_word_store(&report->busy_ppm, ppm_of(busy - report->mark_ns, now_ns - report->from_ns),
                  WB_RELAXED);
    wb_word_store(&report->temperature_mc, wb_kernel_temperature_mc(), WB_RELAXED);
    wb_word_store(&report->periods, wb_word_load(&report->periods, WB_RELAXED) + 1, WB_RELAXED);
    report->mark_ns = busy;
    report->from_ns = now_ns;
}

// ---- What happens between two periods -----------------------------------------------------------

static void arrival(struct wb_task *task, uint32_t from, uint64_t now_ns)
{
    wb_word_store(&task->report.last_core, from, WB_RELAXED);
    wb_stamp_set(&task->report.since_ns, now_ns);
    if (task->report.from_ns == 0)
        task->report.from_ns = now_ns;
}

static void departure(struct wb_task *task, const struct wb_core *core, uint64_t now_ns)
{
    fold(task, speed_ppm(core), now_ns);
}

// A quarter of the news: one slow wake-up of a target is no trend.
static void migration(struct wb_task *task, const struct wb_migration *migration)
{
    const uint64_t took_ns = migration->running_ns - migration->parked_ns;
    const uint32_t took = took_ns < INT32_MAX ? (uint32_t)took_ns : INT32_MAX;
    const uint32_t before = wb_word_load(&task->report.migration_ns, WB_RELAXED);

    wb_word_store(&task->report.migration_ns, before == 0 ? took : before - before / 4 + took / 4,
                  WB_RELAXED);
}

void wb_agent_obey(struct wb_core *core)
{
    struct wb_core_report *report = &core->report;
    const uint32_t asked = wb_word_load(&core->wanted_point, WB_RELAXED);
    // Off is for its kernel to see, when it has no tasks (wb_core_is_let_off()).
    const uint32_t wanted = asked == WB_POINT_OFF ? 0 : asked;

    if (asked == report->obeyed_point || (wanted >= core->n_points && asked != WB_POINT_OFF))
        return;
    report->obeyed_point = asked;
    if (core->n_points == 0 || wanted == wb_word_load(&core->point, WB_RELAXED))
        return;
    const uint64_t now_ns = wb_kernel_now_ns();
    const uint32_t speed = speed_ppm(core);
    struct wb_residents *residents;
    for (uint32_t i = 0; (residents = residents_in_use(core, i)) != NULL; i++) {
        struct wb_task *first = tasks_of(core, residents);
        for (uint32_t ours = ours_among(core, residents); ours != 0; ours &= ours - 1)
            fold(&first[__builtin_ctz(ours)], speed, now_ns);
    }
    wb_kernel_set_point(wanted);
}

static uint64_t tick(struct wb_core *core, uint64_t now_ns)
{
    struct wb_core_report *report = &core->report;
    const uint64_t period_ns = core->system->config.agent_period_ns;

    if (report->due_ns == 0) {
        report->from_ns = now_ns;
        report->due_ns = now_ns + period_ns;
    }
    if (now_ns < report->due_ns)
        return report->due_ns;
    report_tasks(core, now_ns);
    report_core(core, now_ns);
    wb_coordinator_tick(core, now_ns);
    wb_agent_obey(core);  // what it has just decided for itself
    // In step, unless a task has kept the core for longer than a period.
    report->due_ns += period_ns;
    if (report->due_ns <= now_ns)
        report->due_ns = now_ns + period_ns;
    return report->due_ns;
}

bool wb_agent_has_residents(const struct wb_core *core)
{
    const struct wb_residents *residents;

    for (uint32_t i = 0; (residents = residents_in_use(core, i)) != NULL; i++)
        if (wb_word_load(&residents->bits, WB_RELAXED) != 0)
            return true;
    return false;
}

bool wb_agent_is_silent(const struct wb_core *core)
{
    const struct wb_core_report *report = &core->report;
    const struct wb_control *control = &core->system->control;
    const struct wb_policy *policy = wb_word_load(&control->policy, WB_RELAXED);
    const bool may_decide =
        policy != NULL &&
        (policy->local || wb_word_load(&control->coordinator, WB_RELAXED) == core->index);

    return !may_decide && wb_word_load(&report->periods, WB_RELAXED) != 0 &&
           wb_word_load(&report->busy_ppm, WB_RELAXED) == 0 &&
           wb_counter_get(&core->stats.busy_ns) == report->mark_ns && !wb_agent_has_residents(core);
}

uint64_t wb_agent_skip(struct wb_core *core, uint64_t now_ns)
{
    struct wb_core_report *report = &core->report;
    const uint64_t period_ns = core->system->config.agent_period_ns;

    // It has been off from the start.
    if (report->due_ns == 0)
        report->due_ns = core->system->start_ns + period_ns;
    if (now_ns <= report->due_ns)
        return report->due_ns;
    const uint64_t skipped = (now_ns - report->due_ns - 1) / period_ns + 1;
    const uint32_t periods = wb_word_load(&report->periods, WB_RELAXED);
    wb_word_store(&report->periods, periods + (uint32_t)skipped, WB_RELAXED);
    report->due_ns += skipped * period_ns;
    report->from_ns = report->due_ns - period_ns;
    return report->due_ns;
}

const struct wb_part_agents wb_part_agents = {
    .bytes = bytes_of,
    .init = init,
    .attached = attached,
    .arrival = arrival,
    .departure = departure,
    .migration = migration,
    .obey = wb_agent_obey,
    .tick = tick,
    .replace = wb_coordinator_replace,
};
