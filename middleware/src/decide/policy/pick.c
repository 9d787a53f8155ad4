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

bool wb_pick_runs_on(const struct wb_snapshot *snapshot, uint32_t task, uint32_t core)
{
    const struct wb_snapshot_core *c = &snapshot->cores[core];

    return c->up && (snapshot->tasks[task].not_on >> c->kind & 1) == 0;
}

bool wb_pick_any_runs_on(const struct wb_snapshot *snapshot, uint32_t from, uint32_t to)
{
    for (uint32_t task = 0; task < snapshot->n_tasks; task++) {
        if (snapshot->tasks[task].core == from && wb_pick_runs_on(snapshot, task, to))
            return true;
    }
    return false;
}

void wb_pick_lightest(const struct wb_snapshot *snapshot, const struct wb_decision *decision,
                      struct wb_lightest of_kind[WB_KINDS_MAX])
{
    for (uint32_t kind = 0; kind < WB_KINDS_MAX; kind++)
        of_kind[kind] = (struct wb_lightest){ snapshot->n_cores, UINT64_MAX };
    for (uint32_t core = 0; core < snapshot->n_cores; core++) {
        struct wb_lightest *lightest = &of_kind[snapshot->cores[core].kind];
        if (!snapshot->cores[core].up)
            continue;
        const uint64_t load_ppm = wb_decision_load_ppm(decision, snapshot, core);
        if (load_ppm < lightest->load_ppm)
            *lightest = (struct wb_lightest){ core, load_ppm };
    }
}

struct wb_lightest wb_pick_lightest_for(const struct wb_snapshot *snapshot,
                                        const struct wb_lightest of_kind[WB_KINDS_MAX],
                                        uint32_t task)
{
    struct wb_lightest best = { snapshot->n_cores, UINT64_MAX };

    for (uint32_t kind = 0; kind < WB_KINDS_MAX; kind++) {
        const struct wb_lightest *l = &of_kind[kind];
        if ((snapshot->tasks[task].not_on >> kind & 1) == 0 &&
            (l->load_ppm < best.load_ppm || (l->load_ppm == best.load_ppm && l->core < best.core)))
            best = *l;
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
