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

// The least loaded core of each kind that is up, the first of several.
static void find_lightest(const struct wb_snapshot *snapshot, const struct wb_decision *decision,
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

static struct wb_lightest lightest_for(const struct wb_snapshot *snapshot,
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
    const bool differs = point == WB_POINT_OFF ? !c->off : c->off || point != c->point;

    if (c->up && (point < c->n_points || point == WB_POINT_OFF) && differs)
        wb_decide_point(decision, core, point);
}

// Returns whether there was a move.
static bool decide_best(const struct wb_snapshot *snapshot, const int64_t *params,
                        struct wb_decision *decision, wb_pick_for *pick_for)
{
    struct wb_lightest of_kind[WB_KINDS_MAX];
    struct wb_pick best = { 0 };

    find_lightest(snapshot, decision, of_kind);
    for (uint32_t task = 0; task < snapshot->n_tasks; task++) {
        if (!wb_pick_may_move(snapshot, decision, task))
            continue;
        const struct wb_lightest to = lightest_for(snapshot, of_kind, task);
        if (to.core == snapshot->n_cores)
            continue;
        const struct wb_pick pick = pick_for(snapshot, params, decision, task, to);
        if (pick.worth > best.worth)
            best = pick;
    }
    if (best.worth != 0)
        wb_decide_move(decision, best.task, best.core);
    return best.worth != 0;
}

void wb_pick_all(const struct wb_snapshot *snapshot, const int64_t *params,
                 struct wb_decision *decision, wb_pick_for *pick_for)
{
    while (!decision->overflow && decide_best(snapshot, params, decision, pick_for)) {}
}
