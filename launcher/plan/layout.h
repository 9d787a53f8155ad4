// SPDX-License-Identifier: Apache-2.0
// From a plan to a system that is ready to start. Needs no C library.
#ifndef WB_LAYOUT_H
#define WB_LAYOUT_H

#include "plan.h"

// Where the layout gets what the plan does not have. Each may be NULL where the plan has it all.
struct layout_host {
    void *state;  // first argument of each

    // The address of a task's function; NULL: there is none of this name.
    wb_task_entry *(*entry)(void *state, const char *symbol);

    // Gives a task its stack, and its heap if that is not in the arena. False: there is no room.
    bool (*memory)(void *state, struct wb_task_config *config);

    // Sees to it that the slots of a channel lie in internal memory. NULL; or why they cannot, in
    // words for the user.
    const char *(*internal)(void *state, struct wb_channel *channel);

    // Takes note of a task that is recreated. NULL; or why it cannot be, in words for the user.
    const char *(*recreates)(void *state, struct wb_task *task, const char *symbol);
};

/// Adds the plan's kinds of cores, operating points, parameters, tasks with their work, channels,
/// ports and rows to a system that was made by plan_system(), and sets its frame rate. The arena
/// must have room left for the application's `memory` and for wb_system_reserve().
///
/// Context: the launcher, before wb_system_start(). Never blocks.
/// Memory:  the system keeps no pointer into the plan but the addresses of code and stacks.
/// Returns: true; or false with `*error` filled in.
bool layout_system(struct wb_system *system, const struct plan *plan,
                   const struct layout_host *host, struct plan_error *error);

/// Counts how many bytes of an arena the plan needs beyond those of wb_system_init(), by laying it
/// out in `scratch`: what the layout and the start take, and the application's `memory`.
///
/// Context: the launcher, before it makes the system. Never blocks.
/// Memory:  `scratch` is zeroed, and spoilt afterwards. It may be sparse: heaps and slots are not
///          written. `recreated_bytes`: what the kernels keep there of a task that is recreated.
/// Returns: true with `*bytes`; or false with `*error` filled in, of the kind "memory" when the
///          scratch memory is too small.
bool layout_count(void *scratch, size_t scratch_bytes, const struct plan *plan,
                  size_t recreated_bytes, size_t *bytes, struct plan_error *error);

/// Lets a policy decide, its parameters as `params` (each KEY=VALUE) or by default.
///
/// Context: the launcher. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL with the place of one that it does not take in `*bad`;
///          WB_ERR_GONE when nobody can decide, because the agents do not report.
enum wb_status layout_policy(struct wb_system *system, const struct wb_policy *policy,
                             const struct plan_policy *planned, uint32_t *bad);

#endif
