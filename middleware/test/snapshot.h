// SPDX-License-Identifier: Apache-2.0
// A small system that exists only as a snapshot, for tests of policies.
#ifndef WB_TEST_SNAPSHOT_H
#define WB_TEST_SNAPSHOT_H

#include "wb/policy.h"

enum { WORLD_CORES = 12, WORLD_TASKS = 32, WORLD_POINTS = 3 };

struct world {
    struct wb_snapshot snapshot;  // of what follows
    struct wb_snapshot_core cores[WORLD_CORES];
    struct wb_snapshot_task tasks[WORLD_TASKS];
    struct wb_decision decision;
    struct wb_move moves[WORLD_TASKS];
    struct wb_set_point points[WORLD_CORES];
    int64_t params[WB_POLICY_PARAMS];
    char text[256];  // of the last check
};

/// A system of cores that are up, at the highest of three points, without tasks.
void world_open(struct world *w, uint32_t cores);

/// Adds a movable task that has been on its core for an hour; returns its number.
uint32_t world_add(struct world *w, uint32_t core, uint32_t load_ppm);

/// A system of any size and state, of two kinds of cores, the same for the same seed.
void world_random(struct world *w, uint32_t seed);

/// The next number of a sequence (xorshift).
uint32_t world_next(uint32_t *state);

/// Lets a policy decide, on `self` if it is local, with its defaults.
void world_decide(struct world *w, const struct wb_policy *policy);

/// The same with one parameter set, which must exist.
void world_decide_with(struct world *w, const struct wb_policy *policy, const char *key,
                       const char *text);

/// Lets every core decide on the same snapshot, a local policy, or the coordinator.
void world_decide_all(struct world *w, const struct wb_policy *policy);

/// Carries out the decision; an hour passes.
void world_apply(struct world *w);

/// Decides and applies until nothing changes: returns after how many times, or UINT32_MAX.
uint32_t world_settle(struct world *w, const struct wb_policy *policy, uint32_t most);

/// The load of the most loaded core.
uint32_t world_highest(const struct world *w);

/// How many cores have a task.
uint32_t world_in_use(const struct world *w);

/// Where the decision has a task, and to which point it has set a core; UINT32_MAX: none.
uint32_t world_moved_to(const struct world *w, uint32_t task);
uint32_t world_point(const struct world *w, uint32_t core);

#endif
