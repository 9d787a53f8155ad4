// SPDX-License-Identifier: Apache-2.0
// thermal: evens out the temperatures of the cores, and slows down those that are too hot.
//
//   move:   T(hottest) - T(coolest) > differ_mc: the largest task of the hottest core that has been
//           there for settle_ms and fits, load(coolest) + load(t) <= 1 core, goes to the coolest of
//           those on which any task of the hottest runs; one per period, for temperatures follow
//           slowly
//   lower:  T(c) > limit_mc: the next lower point
//   raise:  T(c) < limit_mc - recover_mc: the next higher point
//
// Cores without a temperature do not take part; with none nothing is decided. settle_ms bounds how
// often a single task may change between two cores that it heats in turn.
//
// Source: Mulas and others, Thermal balancing policy for multiprocessor stream computing platforms,
// 2009 (holmbacka2013, reference 2), on the middleware of acquaviva2008; moving between cores as
// they heat: Heo, Barr and Asanovic, Reducing power density through activity migration, 2003.
#include "pick.h"

enum { DIFFER_MC, LIMIT_MC, RECOVER_MC, SETTLE_MS };

static bool measured(const struct wb_snapshot_core *core)
{
    return core->up && core->temperature_mc != WB_NO_TEMPERATURE;
}

static void move_load(const struct wb_snapshot *s, const int64_t *params, struct wb_decision *d,
                      uint32_t hottest, uint32_t coolest)
{
    uint32_t best = s->n_tasks;

    for (uint32_t task = 0; task < s->n_tasks; task++) {
        const struct wb_snapshot_task *t = &s->tasks[task];
        if (t->core != hottest || !t->movable || t->load_ppm == 0 ||
            !wb_pick_runs_on(s, task, coolest) ||
            t->here_ns < (uint64_t)params[SETTLE_MS] * 1000000 ||
            (uint64_t)s->cores[coolest].load_ppm + t->load_ppm > WB_PPM)
            continue;
        if (best == s->n_tasks || t->load_ppm > s->tasks[best].load_ppm)
            best = task;
    }
    if (best != s->n_tasks)
        wb_decide_move(d, best, coolest);
}

// The coolest core on which any task of the hottest may be; n_cores: none.
static uint32_t coolest_for(const struct wb_snapshot *s, uint32_t hottest)
{
    uint32_t coolest = s->n_cores;

    for (uint32_t i = 0; hottest != s->n_cores && i < s->n_cores; i++) {
        const struct wb_snapshot_core *core = &s->cores[i];
        if (measured(core) && wb_pick_any_runs_on(s, hottest, i) &&
            (coolest == s->n_cores || core->temperature_mc < s->cores[coolest].temperature_mc))
            coolest = i;
    }
    return coolest;
}

static void decide_thermal(const struct wb_snapshot *s, const int64_t *params,
                           struct wb_decision *d)
{
    uint32_t hottest = s->n_cores;

    for (uint32_t i = 0; i < s->n_cores; i++) {
        const struct wb_snapshot_core *core = &s->cores[i];
        if (!measured(core))
            continue;
        if (hottest == s->n_cores || core->temperature_mc > s->cores[hottest].temperature_mc)
            hottest = i;
        if (core->temperature_mc > params[LIMIT_MC] && core->point > 0)
            wb_pick_point(s, d, i, core->point - 1);
        else if (core->temperature_mc < params[LIMIT_MC] - params[RECOVER_MC])
            wb_pick_point(s, d, i, core->point + 1);
    }
    const uint32_t coolest = coolest_for(s, hottest);
    if (coolest != s->n_cores &&
        (int64_t)s->cores[hottest].temperature_mc - s->cores[coolest].temperature_mc >
            params[DIFFER_MC])
        move_load(s, params, d, hottest, coolest);
}

const struct wb_policy wb_policy_thermal = {
    .name = "thermal",
    .help = "moves load from hot cores to cool ones, and slows down those above a limit",
    .n_params = 4,
    .params =
        (const struct wb_policy_param[]){
            { "differ_mc", "temperatures that differ by no more than this are even", 5000, 0,
              200000 },
            { "limit_mc", "cores hotter than this are slowed down", 80000, -50000, 200000 },
            { "recover_mc", "and sped up again when this much cooler than it", 10000, 0, 200000 },
            { "settle_ms", "how long a task stays on a core at least", 1000, 0, 3600000 },
        },
    .decide = decide_thermal,
};
