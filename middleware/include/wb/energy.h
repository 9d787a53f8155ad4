// SPDX-License-Identifier: Apache-2.0
// Energy: how long each core was active and idle at each of its operating points, and what that
// comes to by the power that its platform gives for them.
//
// Nothing is counted while tasks switch. The totals of a core (wb_core_stats) are split when it
// changes its point: what is not yet given to any point belongs to the present one.
#ifndef WB_ENERGY_H
#define WB_ENERGY_H

#include "wb/counter.h"
#include "wb/status.h"

struct wb_core;
struct wb_point;

struct wb_residency {  // of one core at one point; written by the core's own kernel
    struct wb_counter active_ns, idle_ns;
};

struct wb_residence {  // the same as a reader sees it
    uint64_t active_ns, idle_ns;
};

/// Gives a core its operating points, from the lowest frequency to the highest. It begins at
/// `start`.
///
/// Context: the launcher, before wb_system_start(), once per core. Never blocks.
/// Memory:  `points` are copied.
/// Returns: WB_OK; WB_ERR_INVAL for none, for frequencies that do not ascend from above 0, or a
///          `start` that is none of them; WB_ERR_NOMEM; WB_ERR_UNABLE for more than one where
///          kernels cannot change them.
WB_MUST_USE enum wb_status wb_core_set_points(struct wb_core *core, const struct wb_point *points,
                                              uint32_t n_points, uint32_t start);

/// Notes that a core has taken an operating point, and settles what it did at the last one.
///
/// Context: the core's own kernel or a task of it, from wb_kernel_set_point(). Never blocks.
void wb_core_enter_point(struct wb_core *core, uint32_t point, uint64_t now_ns);

/// How long a core has been active (in tasks) and idle at one of its points.
///
/// Context: any core or the launcher, after wb_system_start(). Never blocks.
struct wb_residence wb_core_residence(const struct wb_core *core, uint32_t point, uint64_t now_ns);

/// The energy of a core since the start, in microjoules; 0 without operating points.
///
/// Context: any core or the launcher, after wb_system_start(). Never blocks.
uint64_t wb_core_energy(const struct wb_core *core, uint64_t now_ns);

#endif
