// SPDX-License-Identifier: Apache-2.0
// What a policy writes, and what it has written so far.
#include "wb/policy.h"

void wb_decide_move(struct wb_decision *decision, uint32_t task, uint32_t core)
{
    if (decision->n_moves == decision->max_moves)
        decision->overflow = true;
    else
        decision->moves[decision->n_moves++] = (struct wb_move){ .task = task, .core = core };
}

void wb_decide_point(struct wb_decision *decision, uint32_t core, uint32_t point)
{
    if (decision->n_points == decision->max_points)
        decision->overflow = true;
    else
        decision->points[decision->n_points++] =
            (struct wb_set_point){ .core = core, .point = point };
}

uint32_t wb_decision_core(const struct wb_decision *decision, const struct wb_snapshot *snapshot,
                          uint32_t task)
{
    for (uint32_t i = decision->n_moves; i-- > 0;) {
        if (decision->moves[i].task == task)
            return decision->moves[i].core;
    }
    return snapshot->tasks[task].core;
}

uint64_t wb_decision_load_ppm(const struct wb_decision *decision,
                              const struct wb_snapshot *snapshot, uint32_t core)
{
    uint64_t in = snapshot->cores[core].load_ppm, out = 0;

    for (uint32_t i = 0; i < decision->n_moves; i++) {
        const struct wb_move *move = &decision->moves[i];
        const struct wb_snapshot_task *task = &snapshot->tasks[move->task];
        if (move->core == core)
            in += task->load_ppm;
        if (task->core == core)
            out += task->load_ppm;
    }
    // The loads of a core and of its tasks may have been read at different times.
    return in > out ? in - out : 0;
}
