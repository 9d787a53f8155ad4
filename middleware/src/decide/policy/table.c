// SPDX-License-Identifier: Apache-2.0
// table: the mapping and the operating points that were found beforehand for the frame rate.
//
//   row = the first with rate <= row.rate; the last, if the rate is above all of them
//   each movable task goes to row.cores[task], each core to row.points[core]
//
// A core that the row has off gets no task by it, and is at its lowest point where its kernel
// cannot turn it off. What a row says of a core that is down, or of one that does not exist, is
// passed over: recovery has taken its tasks elsewhere. So is a core of a kind that the task does
// not run on. Without a frame rate or without rows nothing is decided.
//
// Source: acquaviva2008, sections 1 and 6.3: "Configurations are precomputed and stored for each
// frame rate."
#include "pick.h"

static const struct wb_table_row *row_of(const struct wb_snapshot *snapshot)
{
    uint32_t i = 0;

    while (i + 1 < snapshot->n_rows && snapshot->rows[i].rate_millihz < snapshot->rate_millihz)
        i++;
    return &snapshot->rows[i];
}

static void decide_table(const struct wb_snapshot *snapshot, const int64_t *params,
                         struct wb_decision *decision)
{
    (void)params;
    if (snapshot->n_rows == 0 || snapshot->rate_millihz == 0)
        return;
    const struct wb_table_row *row = row_of(snapshot);

    for (uint32_t core = 0; core < snapshot->n_cores; core++)
        wb_pick_point(snapshot, decision, core, row->points[core]);
    for (uint32_t task = 0; task < snapshot->n_tasks; task++) {
        const uint32_t core = row->cores[task];
        if (core < snapshot->n_cores && wb_pick_runs_on(snapshot, task, core) &&
            core != snapshot->tasks[task].core && snapshot->tasks[task].movable)
            wb_decide_move(decision, task, core);
    }
}

const struct wb_policy wb_policy_table = {
    .name = "table",
    .help = "takes mapping and operating points for the frame rate from a table",
    .decide = decide_table,
};
