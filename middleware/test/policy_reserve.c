// SPDX-License-Identifier: Apache-2.0
// reserve: keeps a core free of movable tasks, for those that are pinned to it.
//
//   each movable task of the core goes to the least loaded of the others that are up
#include "wb/policy.h"

enum { CORE };

static uint32_t lightest_other(const struct wb_snapshot *snapshot,
                               const struct wb_decision *decision, uint32_t reserved)
{
    uint32_t best = snapshot->n_cores;
    uint64_t least = UINT64_MAX;

    for (uint32_t core = 0; core < snapshot->n_cores; core++) {
        const uint64_t load = wb_decision_load_ppm(decision, snapshot, core);
        if (core != reserved && snapshot->cores[core].up && load < least) {
            least = load;
            best = core;
        }
    }
    return best;
}

static void decide(const struct wb_snapshot *snapshot, const int64_t *params,
                   struct wb_decision *decision)
{
    const uint32_t reserved = (uint32_t)params[CORE];

    for (uint32_t task = 0; task < snapshot->n_tasks; task++) {
        const uint32_t to = lightest_other(snapshot, decision, reserved);
        if (snapshot->tasks[task].movable && snapshot->tasks[task].core == reserved &&
            to < snapshot->n_cores)
            wb_decide_move(decision, task, to);
    }
}

const struct wb_policy wb_policy_reserve = {
    .name = "reserve",
    .help = "keeps a core free of movable tasks",
    .n_params = 1,
    .params =
        (const struct wb_policy_param[]){ { "core", "the core that is kept free", 0, 0, 4094 } },
    .decide = decide,
};
