// SPDX-License-Identifier: Apache-2.0
#include "pick.h"

static bool moved(const struct wb_decision *decision, uint32_t task)
{
    for (uint32_t i = 0; i < decision->n_moves; i++) {
        if (decision->moves[i].task == task)
            return true;
    }
    return false;
}

bool wb_pick_may_move(const struct wb_snapshot *snapshot, const struct wb_decision *decision,
                      uint32_t task)
{
    const struct wb_snapshot_task *t = &snapshot->tasks[task];

    return t->movable && t->core < snapshot->n_cores && snapshot->cores[t->core].up &&
           !moved(decision, task);
}

uint32_t wb_pick_lightest(const struct wb_snapshot *snapshot, const struct wb_decision *decision)
{
    uint32_t best = snapshot->n_cores;
    uint64_t least = UINT64_MAX;

    for (uint32_t core = 0; core < snapshot->n_cores; core++) {
        if (!snapshot->cores[core].up)
            continue;
        const uint64_t load = wb_decision_load_ppm(decision, snapshot, core);
        if (load < least) {
            least = load;
            best = core;
        }
    }
    return best;
}

void wb_pick_point(const struct wb_snapshot *snapshot, struct wb_decision *decision, uint32_t core,
                   uint32_t point)
{
    const struct wb_snapshot_core *c = &snapshot->cores[core];

    if (c->up && point < c->n_points && point != c->point)
        wb_decide_point(decision, core, point);
}

void wb_pick_all(const struct wb_snapshot *snapshot, const int64_t *params,
                 struct wb_decision *decision, wb_pick_best *best)
{
    while (!decision->overflow) {
        const struct wb_pick pick = best(snapshot, params, decision);
        if (pick.worth == 0)
            return;
        wb_decide_move(decision, pick.task, pick.core);
    }
}
