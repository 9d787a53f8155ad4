// SPDX-License-Identifier: Apache-2.0
// sticky: evens out the loads, and prefers the core where a task ran last.
//
//   move task t from core c to core m, if relief(t) > 0 (pick.h) and here(t) >= settle_ms, where
//     m = last(t)          if t has been away from it for at most warm_ms, and either
//       load(m) <= free_ppm: it has become free, and takes its task back at any difference
//       load(m) <= load(least loaded) + near_ppm and load(c) - load(m) > threshold_ppm
//     m = the least loaded, if load(c) - load(m) > threshold_ppm; of a kind that it runs on
//   of several the one with the greatest relief, where going back counts near_ppm more
//
// After warm_ms the caches of the last core are taken to hold nothing of the task any more. Since
// every move has a relief, two free cores do not pass a task to and fro.
//
// Source: nacul2007, section 4: moving freely gains 7.5 % on many tasks and loses on few, whose
// data were still in the other cache; section 4.1 proposes "selective migration [that] would
// consider where the task executed last". Affinity with a threshold: Squillante and Lazowska, Using
// processor-cache affinity information in shared-memory multiprocessor scheduling, 1993.
#include "pick.h"

enum { THRESHOLD_PPM, NEAR_PPM, FREE_PPM, WARM_MS, SETTLE_MS };

static bool warm(const struct wb_snapshot *s, const int64_t *params, uint32_t task)
{
    const struct wb_snapshot_task *t = &s->tasks[task];

    return t->last_core < s->n_cores && t->last_core != t->core &&
           wb_pick_runs_on(s, task, t->last_core) &&
           t->away_ns <= (uint64_t)params[WARM_MS] * 1000000;
}

// Whether the loads allow the move from one core to the other, by its relief.
static uint64_t worth(uint64_t load, uint64_t from, uint64_t to, int64_t threshold_ppm)
{
    return from > to + (uint64_t)threshold_ppm ? wb_pick_relief_ppm(load, from, to) : 0;
}

static struct wb_pick pick(const struct wb_snapshot *s, const int64_t *params,
                           const struct wb_decision *d, uint32_t task, struct wb_lightest lightest)
{
    const struct wb_snapshot_task *t = &s->tasks[task];
    const uint64_t from = wb_decision_load_ppm(d, s, t->core);

    if (t->here_ns < (uint64_t)params[SETTLE_MS] * 1000000)
        return (struct wb_pick){ 0 };
    if (warm(s, params, task)) {
        const uint64_t last = wb_decision_load_ppm(d, s, t->last_core);
        uint64_t back = 0;
        if (last <= (uint64_t)params[FREE_PPM])
            back = worth(t->load_ppm, from, last, 0);
        else if (last <= lightest.load_ppm + (uint64_t)params[NEAR_PPM])
            back = worth(t->load_ppm, from, last, params[THRESHOLD_PPM]);
        if (back > 0)
            return (struct wb_pick){ .task = task,
                                     .core = t->last_core,
                                     .worth = back + (uint64_t)params[NEAR_PPM] };
    }
    return (struct wb_pick){
        .task = task,
        .core = lightest.core,
        .worth = worth(t->load_ppm, from, lightest.load_ppm, params[THRESHOLD_PPM]),
    };
}

static void decide_sticky(const struct wb_snapshot *s, const int64_t *params, struct wb_decision *d)
{
    wb_pick_all(s, params, d, pick);
}

const struct wb_policy wb_policy_sticky = {
    .name = "sticky",
    .help = "evens out the loads, and prefers the core where a task ran last",
    .n_params = 5,
    .params =
        (const struct wb_policy_param[]){
            { "threshold_ppm", "loads that differ by no more than this are even", 100000, 0,
              WB_PPM },
            { "near_ppm", "by how much more load the last core may have", 50000, 0, WB_PPM },
            { "free_ppm", "a core with no more load than this is free", 50000, 0, WB_PPM },
            { "warm_ms", "a task is not taken back after this time", 1000, 0, 3600000 },
            { "settle_ms", "how long a task stays on a core at least", 100, 0, 3600000 },
        },
    .decide = decide_sticky,
};
