// SPDX-License-Identifier: Apache-2.0
// consolidate: packs the tasks on as few cores as fit, so that the others may sleep.
//
//   relieve:  while load(c) > limit_ppm, its largest task that fits elsewhere leaves, to a core in
//             use where it fits best, else to an empty one
//   empty:    the least loaded core whose tasks all fit on other cores in use gives them up, the
//             largest first, each to the most loaded core where it fits; again, until there is none
//   points:   the lowest for empty cores, the highest for those in use
//
// A task fits where the load with it is at most limit_ppm, on a kind of core that it runs on. A
// core is in use if it has a task that is movable or has a load, and is not emptied if it has one
// with a load that is not movable. Relieving lowers what is above the limit, emptying leaves that
// as it is and lowers the number of cores in use: so it ends.
//
// Source: holmbacka2013, section VI.B: four small videos collected on core 0, the other cores shut
// down. It is bin packing by best fit decreasing (Johnson and others, Worst-case performance bounds
// for simple one-dimensional packing algorithms, 1974).
#include "pick.h"

enum { LIMIT_PPM };

static bool counts(const struct wb_snapshot_task *task)
{
    return task->movable || task->load_ppm > 0;
}

static bool in_use(const struct wb_snapshot *s, const struct wb_decision *d, uint32_t core)
{
    uint32_t here = 0, left = 0;

    for (uint32_t task = 0; task < s->n_tasks; task++)
        here += s->tasks[task].core == core && counts(&s->tasks[task]);
    for (uint32_t i = 0; i < d->n_moves; i++) {
        here += d->moves[i].core == core;
        left += s->tasks[d->moves[i].task].core == core;
    }
    return here > left;
}

// The largest task of `core` that may still move and is smaller than `below`; n_tasks: none.
static uint32_t largest(const struct wb_snapshot *s, const struct wb_decision *d, uint32_t core,
                        uint64_t below)
{
    uint32_t best = s->n_tasks;

    for (uint32_t task = 0; task < s->n_tasks; task++) {
        const struct wb_snapshot_task *t = &s->tasks[task];
        if (t->core == core && t->load_ppm < below &&
            (best == s->n_tasks || t->load_ppm > s->tasks[best].load_ppm) &&
            wb_pick_may_move(s, d, task))
            best = task;
    }
    return best;
}

// The most loaded core, in use or not, where the task fits; n_cores: none.
static uint32_t best_fit(const struct wb_snapshot *s, const struct wb_decision *d, uint32_t task,
                         int64_t limit_ppm, bool used)
{
    uint32_t best = s->n_cores;
    uint64_t most = 0;

    for (uint32_t core = 0; core < s->n_cores; core++) {
        const uint64_t load = wb_decision_load_ppm(d, s, core);
        if (core == s->tasks[task].core || !wb_pick_runs_on(s, task, core) ||
            load + s->tasks[task].load_ppm > (uint64_t)limit_ppm || in_use(s, d, core) != used)
            continue;
        if (best == s->n_cores || load > most) {
            most = load;
            best = core;
        }
    }
    return best;
}

static void relieve(const struct wb_snapshot *s, struct wb_decision *d, uint32_t core,
                    int64_t limit_ppm)
{
    uint64_t below = UINT64_MAX;

    while (wb_decision_load_ppm(d, s, core) > (uint64_t)limit_ppm && !d->overflow) {
        const uint32_t task = largest(s, d, core, below);
        if (task == s->n_tasks)
            return;
        uint32_t to = best_fit(s, d, task, limit_ppm, true);
        if (to == s->n_cores)
            to = best_fit(s, d, task, limit_ppm, false);
        if (to == s->n_cores)
            below = s->tasks[task].load_ppm;
        else
            wb_decide_move(d, task, to);
    }
}

// All tasks of the core, or none.
static bool empty(const struct wb_snapshot *s, struct wb_decision *d, uint32_t core,
                  int64_t limit_ppm)
{
    const uint32_t moves = d->n_moves;

    while (in_use(s, d, core) && !d->overflow) {
        const uint32_t task = largest(s, d, core, UINT64_MAX);
        const uint32_t to = task == s->n_tasks ? s->n_cores : best_fit(s, d, task, limit_ppm, true);
        if (to == s->n_cores)
            break;
        wb_decide_move(d, task, to);
    }
    if (!in_use(s, d, core))
        return d->n_moves > moves;
    d->n_moves = moves;
    return false;
}

// The next core by load from the lightest on, the last first of several; n_cores: no more.
static uint32_t next_lightest(const struct wb_snapshot *s, const struct wb_decision *d,
                              uint32_t after)
{
    const uint64_t floor = after == s->n_cores ? 0 : wb_decision_load_ppm(d, s, after);
    uint32_t best = s->n_cores;
    uint64_t least = UINT64_MAX;

    for (uint32_t core = s->n_cores; core-- > 0;) {
        const uint64_t load = wb_decision_load_ppm(d, s, core);
        const bool past = after == s->n_cores || load > floor || (load == floor && core < after);
        if (s->cores[core].up && past && load < least) {
            least = load;
            best = core;
        }
    }
    return best;
}

static bool empty_one(const struct wb_snapshot *s, struct wb_decision *d, int64_t limit_ppm)
{
    for (uint32_t core = next_lightest(s, d, s->n_cores); core != s->n_cores && !d->overflow;
         core = next_lightest(s, d, core)) {
        if (empty(s, d, core, limit_ppm))
            return true;
    }
    return false;
}

static void decide_consolidate(const struct wb_snapshot *s, const int64_t *params,
                               struct wb_decision *d)
{
    for (uint32_t core = 0; core < s->n_cores; core++) {
        if (s->cores[core].up)
            relieve(s, d, core, params[LIMIT_PPM]);
    }
    while (empty_one(s, d, params[LIMIT_PPM]))
        ;
    for (uint32_t core = 0; core < s->n_cores; core++)
        wb_pick_point(s, d, core, in_use(s, d, core) ? s->cores[core].n_points - 1 : 0);
}

const struct wb_policy wb_policy_consolidate = {
    .name = "consolidate",
    .help = "packs tasks on few cores, to save power",
    .n_params = 1,
    .params =
        (const struct wb_policy_param[]){
            { "limit_ppm", "cores are filled up to this load", 800000, 1, WB_PPM },
        },
    .decide = decide_consolidate,
};
