// SPDX-License-Identifier: Apache-2.0
// balance: evens out the loads of the cores, as far as it is worth its cost.
//
//   move task t from core c to the least loaded core m of a kind that it runs on, if
//     load(c) - load(m) > threshold_ppm                          loads differ enough
//     here(t) >= settle_ms                                       it has been there long enough
//     net(t) = relief(t) * horizon_ms - migration(t) > 0, in ns  it pays within the horizon
//   of several the one with the greatest net; again, until there is none
//
// relief: pick.h; a millionth of a core over a millisecond is a nanosecond.
//
// Source: a threshold, a least residence and a cost are what keeps dynamic load balancing from
// moving tasks to and fro (Eager, Lazowska and Zahorjan, Adaptive load sharing in homogeneous
// distributed systems, 1986; Harchol-Balter and Downey, Exploiting process lifetime distributions
// for dynamic load balancing, 1997); acquaviva2008, section 6.3, shows what a migration costs.
#include "pick.h"

enum { THRESHOLD_PPM, SETTLE_MS, HORIZON_MS };

static uint64_t net_ns(uint64_t relief_ppm, const struct wb_snapshot_task *task,
                       const int64_t *params)
{
    const uint64_t gain_ns = relief_ppm * (uint64_t)params[HORIZON_MS];

    return gain_ns > task->migration_ns ? gain_ns - task->migration_ns : 0;
}

static struct wb_pick pick(const struct wb_snapshot *snapshot, const int64_t *params,
                           const struct wb_decision *decision, uint32_t task, struct wb_lightest to)
{
    const struct wb_snapshot_task *t = &snapshot->tasks[task];
    const uint64_t from = wb_decision_load_ppm(decision, snapshot, t->core);

    if (t->here_ns < (uint64_t)params[SETTLE_MS] * 1000000 ||
        from <= to.load_ppm + (uint64_t)params[THRESHOLD_PPM])
        return (struct wb_pick){ 0 };
    const uint64_t relief = wb_pick_relief_ppm(t->load_ppm, from, to.load_ppm);
    return (struct wb_pick){ .task = task, .core = to.core, .worth = net_ns(relief, t, params) };
}

static void decide_balance(const struct wb_snapshot *snapshot, const int64_t *params,
                           struct wb_decision *decision)
{
    wb_pick_all(snapshot, params, decision, pick);
}

const struct wb_policy wb_policy_balance = {
    .name = "balance",
    .help = "evens out the loads, as far as that pays for the migrations",
    .n_params = 3,
    .params =
        (const struct wb_policy_param[]){
            { "threshold_ppm", "loads that differ by no more than this are even", 100000, 0,
              WB_PPM },
            { "settle_ms", "how long a task stays on a core at least", 100, 0, 3600000 },
            { "horizon_ms", "a migration must pay within this time", 1000, 1, 3600000 },
        },
    .decide = decide_balance,
};
