// SPDX-License-Identifier: Apache-2.0
// What the policies that even out loads have in common.
//
// The relief of a move is by how much the more loaded of its two cores becomes less loaded:
//
//   relief(w, from, to) = from - max(from - w, to + w) = min(w, from - to - w)   if to + w < from
//                       = 0                                                     otherwise
//
// with the loads of the task, its core and the target. It is greatest where w is half of the
// difference. A policy that makes only moves with a relief above 0 never raises the highest load,
// and cannot go in circles: of the loads in descending order, the first one that changes falls.
#ifndef WB_POLICY_PICK_H
#define WB_POLICY_PICK_H

#include "wb/descriptor.h"
#include "wb/policy.h"

struct wb_pick {
    uint32_t task, core;
    uint64_t worth;  // 0: none found
};

static inline uint64_t wb_pick_relief_ppm(uint64_t load_ppm, uint64_t from_ppm, uint64_t to_ppm)
{
    if (to_ppm + load_ppm >= from_ppm)
        return 0;
    const uint64_t rest = from_ppm - to_ppm - load_ppm;
    return rest < load_ppm ? rest : load_ppm;
}

/// Whether a task may be moved by this decision: movable, on a core that is up, not moved yet.
bool wb_pick_may_move(const struct wb_snapshot *snapshot, const struct wb_decision *decision,
                      uint32_t task);

/// Whether a task may be on a core: one that is up, and of a kind that it runs on.
bool wb_pick_runs_on(const struct wb_snapshot *snapshot, uint32_t task, uint32_t core);

/// Whether any task that is on core `from` may be on core `to`.
bool wb_pick_any_runs_on(const struct wb_snapshot *snapshot, uint32_t from, uint32_t to);

struct wb_lightest {
    uint32_t core;  // n_cores: none is up
    uint64_t load_ppm;
};

/// Where a task should go, after the moves decided so far; `lightest` is the least loaded core on
/// which it may be.
typedef struct wb_pick wb_pick_for(const struct wb_snapshot *snapshot, const int64_t *params,
                                   const struct wb_decision *decision, uint32_t task,
                                   struct wb_lightest lightest);

/// Decides on the move of most worth of all, and again, until none is worth anything.
void wb_pick_all(const struct wb_snapshot *snapshot, const int64_t *params,
                 struct wb_decision *decision, wb_pick_for *pick_for);

/// Sets the point of a core, or has it off, if it has that point and another one is set.
void wb_pick_point(const struct wb_snapshot *snapshot, struct wb_decision *decision, uint32_t core,
                   uint32_t point);

#endif
