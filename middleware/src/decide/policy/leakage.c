// SPDX-License-Identifier: Apache-2.0
// leakage: the placement and the operating points that take the least power at the present
// temperatures, dynamic and leaked.
//
//   P(c, L) = 0 without tasks: the core is off, unless it is the coordinator's; else the least of
//             the points p at which the load L is at most limit_ppm of the core:
//               idle(p) + (active(p) - idle(p)) * L * hz(max) / hz(p) + static(p) * (2^x - 1)
//               x = (T(c) - reference) / slope / ln 2
//   empty:  the core whose tasks all go elsewhere, each where it adds the least power
//   move:   one task, to where the power of both cores falls most
//   The one that saves most, if that is more than gain_ppm of all power; again, until there is
//   none. A task stays for settle_ms. Above limit_ppm at the highest point, each ppm counts as a
//   watt: load that nothing is left for moves first.
//
// Leakage grows with temperature, so that the hottest core is the one to switch off; as it cools
// and the others heat, it becomes the one to use. gain_ppm and settle_ms bound how often. Cores
// without operating points take no part, and without temperatures leakage is that of the reference.
// Between cores of unlike frequencies a load goes by their highest.
//
// Source: the future work of acquaviva2008. The law of leakage: Liao, He and Lepak, Temperature and
// supply voltage aware performance and power modeling at microarchitecture level, 2005. Tasks that
// follow the coolest core: Heo, Barr and Asanovic, Reducing power density through activity
// migration, 2003.
#include "pick.h"

enum { LIMIT_PPM, GAIN_PPM, SETTLE_MS };
enum { ZERO_C_MK = 273150, DOUBLINGS = 10 };

#define OVERLOAD_UW_PER_PPM 1000000u

// How many times the static power of a point is what a core at this temperature leaks, in ppm.
static uint64_t leakage_ppm(const struct wb_point *point, int32_t temperature_mc)
{
    if (point->slope_mk == 0 || temperature_mc == WB_NO_TEMPERATURE)
        return WB_PPM;
    const int64_t above_mk = (int64_t)temperature_mc + ZERO_C_MK - point->reference_mk;
    int64_t x_ppm = above_mk * 1442695 / point->slope_mk;  // 1 / ln 2
    if (x_ppm > DOUBLINGS * WB_PPM)
        x_ppm = DOUBLINGS * WB_PPM;
    if (x_ppm < -DOUBLINGS * WB_PPM)
        x_ppm = -DOUBLINGS * WB_PPM;

    // 2^f = 1 + 0.6565 f + 0.3435 f^2 for 0 <= f < 1, within 0.3 %.
    const uint64_t shifted = (uint64_t)(x_ppm + DOUBLINGS * WB_PPM);
    const uint64_t f = shifted % WB_PPM;
    const uint64_t power = WB_PPM + f * 656500 / WB_PPM + f * f / WB_PPM * 343500 / WB_PPM;
    return (power << shifted / WB_PPM) >> DOUBLINGS;
}

static uint64_t power_at_uw(const struct wb_snapshot_core *core, uint64_t load_ppm, uint32_t point)
{
    const struct wb_point *p = &core->points[point];
    const uint64_t full_hz = core->points[core->n_points - 1].hz;
    const uint64_t busy_ppm = load_ppm * (full_hz / 1000) / (p->hz / 1000 + (p->hz < 1000));
    const uint64_t dynamic_uw = p->active_uw > p->idle_uw ? p->active_uw - p->idle_uw : 0;
    const uint64_t leaked_uw =
        p->static_uw * leakage_ppm(p, core->temperature_mc) / WB_PPM + p->idle_uw;

    return (leaked_uw > p->static_uw ? leaked_uw - p->static_uw : 0) +
           dynamic_uw * (busy_ppm < WB_PPM ? busy_ppm : WB_PPM) / WB_PPM;
}

// The point at which a core takes the least power with this load.
static uint32_t best_point(const struct wb_snapshot_core *core, uint64_t load_ppm,
                           int64_t limit_ppm)
{
    const uint64_t full_hz = core->points[core->n_points - 1].hz;
    uint32_t best = core->n_points - 1;

    for (uint32_t point = 0; point + 1 < core->n_points; point++) {
        const bool fits =
            load_ppm * (full_hz / 1000) <= (uint64_t)limit_ppm * (core->points[point].hz / 1000);
        if (fits && power_at_uw(core, load_ppm, point) < power_at_uw(core, load_ppm, best))
            best = point;
    }
    return best;
}

static bool takes_part(const struct wb_snapshot_core *core)
{
    return core->up && core->n_points > 0;
}

// Of a core with this load, and with tasks or without.
static uint64_t power_uw(const struct wb_snapshot *s, uint32_t core, uint64_t load_ppm, bool used,
                         int64_t limit_ppm)
{
    if (!used && core != s->self)
        return 0;
    const uint64_t over_ppm = load_ppm > (uint64_t)limit_ppm ? load_ppm - (uint64_t)limit_ppm : 0;
    const struct wb_snapshot_core *c = &s->cores[core];
    return power_at_uw(c, load_ppm, best_point(c, load_ppm, limit_ppm)) +
           over_ppm * OVERLOAD_UW_PER_PPM;
}

// What a task would be of another core.
static uint64_t load_on_ppm(const struct wb_snapshot *s, uint32_t task, uint32_t core)
{
    const struct wb_snapshot_core *from = &s->cores[s->tasks[task].core], *to = &s->cores[core];

    if (!takes_part(from) || !takes_part(to) || from == to)
        return s->tasks[task].load_ppm;
    return s->tasks[task].load_ppm * (from->points[from->n_points - 1].hz / 1000) /
           (to->points[to->n_points - 1].hz / 1000 + 1);
}

static uint64_t load_ppm_of(const struct wb_snapshot *s, const struct wb_decision *d, uint32_t core)
{
    uint64_t load_ppm = wb_decision_load_ppm(d, s, core);

    for (uint32_t i = 0; i < d->n_moves; i++) {
        const uint32_t task = d->moves[i].task;
        if (d->moves[i].core != core)
            continue;
        load_ppm += load_on_ppm(s, task, core);
        load_ppm = load_ppm > s->tasks[task].load_ppm ? load_ppm - s->tasks[task].load_ppm : 0;
    }
    return load_ppm;
}

static bool counts(const struct wb_snapshot_task *task)
{
    return task->movable || task->load_ppm > 0;
}

static bool in_use(const struct wb_snapshot *s, const struct wb_decision *d, uint32_t core)
{
    for (uint32_t task = 0; task < s->n_tasks; task++) {
        if (counts(&s->tasks[task]) && wb_decision_core(d, s, task) == core)
            return true;
    }
    return false;
}

static uint64_t now_uw(const struct wb_snapshot *s, const struct wb_decision *d, uint32_t core,
                       int64_t limit_ppm)
{
    return power_uw(s, core, load_ppm_of(s, d, core), in_use(s, d, core), limit_ppm);
}

static bool may_leave(const struct wb_snapshot *s, const struct wb_decision *d, uint32_t task,
                      const int64_t *params)
{
    return wb_pick_may_move(s, d, task) && takes_part(&s->cores[s->tasks[task].core]) &&
           s->tasks[task].here_ns >= (uint64_t)params[SETTLE_MS] * 1000000;
}

struct place {
    uint32_t core;  // n_cores: none
    uint64_t added_uw;
};

// Where a task adds the least power, of cores other than its own.
static struct place cheapest(const struct wb_snapshot *s, const struct wb_decision *d,
                             uint32_t task, int64_t limit_ppm)
{
    struct place best = { s->n_cores, UINT64_MAX };

    for (uint32_t core = 0; core < s->n_cores; core++) {
        if (core == s->tasks[task].core || !takes_part(&s->cores[core]) ||
            !wb_pick_runs_on(s, task, core))
            continue;
        const uint64_t with_ppm = load_ppm_of(s, d, core) + load_on_ppm(s, task, core);
        const uint64_t before = now_uw(s, d, core, limit_ppm);
        const uint64_t after = power_uw(s, core, with_ppm, true, limit_ppm);
        const uint64_t added_uw = after > before ? after - before : 0;
        if (added_uw < best.added_uw)
            best = (struct place){ core, added_uw };
    }
    return best;
}

// Moves one task of the core, or all of them; returns what that saves, 0 if nothing.
static uint64_t saved_by(const struct wb_snapshot *s, struct wb_decision *d, const int64_t *params,
                         uint32_t core, uint32_t only)
{
    const uint32_t moves = d->n_moves;
    const uint64_t before = now_uw(s, d, core, params[LIMIT_PPM]);
    uint64_t added_uw = 0;

    for (uint32_t task = 0; task < s->n_tasks && !d->overflow; task++) {
        if (wb_decision_core(d, s, task) != core || (only != s->n_tasks && task != only))
            continue;
        if (!counts(&s->tasks[task]))
            continue;
        if (!may_leave(s, d, task, params))
            return 0;
        const struct place to = cheapest(s, d, task, params[LIMIT_PPM]);
        if (to.core == s->n_cores)
            return 0;
        added_uw += to.added_uw;
        wb_decide_move(d, task, to.core);
    }
    const uint64_t after = now_uw(s, d, core, params[LIMIT_PPM]) + added_uw;
    return d->n_moves > moves && !d->overflow && before > after ? before - after : 0;
}

// The best of emptying a core and of moving one task; false: none is worth its while.
static bool decide_best(const struct wb_snapshot *s, struct wb_decision *d, const int64_t *params)
{
    const uint32_t moves = d->n_moves;
    uint64_t all_uw = 0;
    uint32_t from = s->n_cores, only = s->n_tasks;

    for (uint32_t core = 0; core < s->n_cores; core++)
        all_uw += takes_part(&s->cores[core]) ? now_uw(s, d, core, params[LIMIT_PPM]) : 0;
    uint64_t most_uw = all_uw / 1000 * (uint64_t)params[GAIN_PPM] / 1000;

    for (uint32_t core = 0; core < s->n_cores; core++) {
        for (uint32_t task = 0; takes_part(&s->cores[core]) && task <= s->n_tasks; task++) {
            if (task < s->n_tasks && wb_decision_core(d, s, task) != core)
                continue;
            const uint64_t saved_uw = saved_by(s, d, params, core, task);
            d->n_moves = moves;
            d->overflow = false;
            if (saved_uw > most_uw) {
                most_uw = saved_uw;
                from = core;
                only = task;
            }
        }
    }
    return from != s->n_cores && saved_by(s, d, params, from, only) > 0;
}

static void decide_leakage(const struct wb_snapshot *s, const int64_t *params,
                           struct wb_decision *d)
{
    while (decide_best(s, d, params)) {}
    for (uint32_t core = 0; core < s->n_cores; core++) {
        if (!takes_part(&s->cores[core]))
            continue;
        const bool off = core != s->self && !in_use(s, d, core);
        const uint64_t load_ppm = load_ppm_of(s, d, core);
        const uint32_t best = best_point(&s->cores[core], load_ppm, params[LIMIT_PPM]);
        wb_pick_point(s, d, core, off ? WB_POINT_OFF : best);
    }
}

const struct wb_policy wb_policy_leakage = {
    .name = "leakage",
    .help = "takes the least power, with what cores leak at their temperatures",
    .n_params = 3,
    .params =
        (const struct wb_policy_param[]){
            { "limit_ppm", "cores are filled up to this load", 800000, 1, WB_PPM },
            { "gain_ppm", "a change must save this part of the power", 50000, 0, WB_PPM },
            { "settle_ms", "how long a task stays on a core at least", 1000, 0, 3600000 },
        },
    .decide = decide_leakage,
};
