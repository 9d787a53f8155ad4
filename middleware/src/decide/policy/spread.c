// SPDX-License-Identifier: Apache-2.0
// spread: moves tasks off overloaded cores until each is as lightly loaded as possible.
//
//   overloaded:  load(c) > limit_ppm, before any move
//   move:        of the tasks of overloaded cores the one with the greatest relief (pick.h) to the
//                least loaded core of a kind that it runs on; again, until no move has a relief
//   points:      the highest of each core
//
// A core that is busy all the time shares itself out, so the measured load of its tasks is less
// than what they would use elsewhere. Therefore an overloaded core goes on giving tasks away when
// it has come below the limit. With one task per core left there is nothing to give.
//
// Source: holmbacka2013, section VI.A: four large videos on core 0, three move away one by one, and
// all play at their frame rate. Like longest processing time first (Graham, Bounds on
// multiprocessing timing anomalies, 1969) it puts the next task on the least loaded core, but it
// begins from what runs and moves only what it must. When no single move has a relief any more and
// every task may move, the highest load of m cores is at most the largest task or 2m/(m + 1) times
// the mean (Finn and Horowitz, A linear time approximation algorithm for multiprocessor scheduling,
// 1979).
#include "pick.h"

enum { LIMIT_PPM };

static struct wb_pick pick(const struct wb_snapshot *snapshot, const int64_t *params,
                           const struct wb_decision *decision, uint32_t task, struct wb_lightest to)
{
    const struct wb_snapshot_task *t = &snapshot->tasks[task];

    if (snapshot->cores[t->core].load_ppm <= params[LIMIT_PPM])
        return (struct wb_pick){ 0 };
    const uint64_t from = wb_decision_load_ppm(decision, snapshot, t->core);
    return (struct wb_pick){ .task = task,
                             .core = to.core,
                             .worth = wb_pick_relief_ppm(t->load_ppm, from, to.load_ppm) };
}

static void decide_spread(const struct wb_snapshot *snapshot, const int64_t *params,
                          struct wb_decision *decision)
{
    for (uint32_t core = 0; core < snapshot->n_cores; core++)
        wb_pick_point(snapshot, decision, core, snapshot->cores[core].n_points - 1);
    wb_pick_all(snapshot, params, decision, pick);
}

const struct wb_policy wb_policy_spread = {
    .name = "spread",
    .help = "moves tasks off overloaded cores, for speed",
    .n_params = 1,
    .params =
        (const struct wb_policy_param[]){
            { "limit_ppm", "a core with more load than this is overloaded", 900000, 0, WB_PPM },
        },
    .decide = decide_spread,
};
