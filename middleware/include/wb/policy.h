// SPDX-License-Identifier: Apache-2.0
// Policies: pure functions from a snapshot of the system to moves and operating points.
//
// A policy of one's own is one file, src/policy/NAME.c, and one line, in src/policy/all.h. It reads
// the snapshot, which nobody else changes meanwhile, and writes a decision. It keeps nothing
// between calls, takes no lock and calls nothing of the middleware but wb_decide_*() and
// wb_decision_*(): what it needs to know of the past is in the snapshot. docs/policies.md shows
// one.
//
// Loads are parts of a core at its highest frequency, in millionths (ppm), so that they may be
// added and moved between cores and frequencies.
#ifndef WB_POLICY_H
#define WB_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/status.h"

WB_BEGIN_C

enum {
    WB_PPM = 1000000,
    WB_POLICY_PARAMS = 8,  // at most, of one policy
    WB_NO_TEMPERATURE = INT32_MIN,
};

// In the place of an operating point: a core that is to have no tasks is off while it has none, if
// its kernel can do that; it is at its lowest point.
#define WB_POINT_OFF (UINT32_MAX - 1)

// An operating point of a core, as its platform says. Power counts while it computes and while it
// idles with its clock on. static_uw is the part of both that leaks: it holds at reference_mk,
// thousandths of a kelvin, and is e times as much slope_mk above that; a slope of 0: everywhere.
struct wb_point {
    uint64_t hz;
    uint32_t active_uw, idle_uw, static_uw;
    uint32_t reference_mk, slope_mk;
};

struct wb_snapshot_core {
    bool up;                        // it may be given tasks
    bool off;                       // WB_POINT_OFF was asked for last
    uint32_t kind;                  // what kind of core it is
    uint32_t n_points;              // 0: its frequency is not known and cannot be set
    const struct wb_point *points;  // from the lowest frequency to the highest
    uint32_t point;                 // the present one
    uint32_t busy_ppm;              // of the last period in tasks, at the present frequency
    uint32_t load_ppm;              // sum of its tasks' loads
    int32_t temperature_mc;         // thousandths of a degree Celsius, or WB_NO_TEMPERATURE
};

struct wb_snapshot_task {
    const char *name;
    uint32_t index, core, last_core;  // last_core: where it ran before; its own if it never moved
    bool movable;                     // migratable, not over, and no migration of it is under way
    uint32_t not_on;                  // bit k: it does not run on cores of kind k
    uint32_t load_ppm;
    uint64_t here_ns;       // how long it has been on its core
    uint64_t away_ns;       // how long it has been off last_core; 0 if it never moved
    uint64_t migration_ns;  // what a migration of it is expected to cost, all phases
};

// A row of the table policy: the mapping for frame rates up to `rate_millihz`.
struct wb_table_row {
    uint64_t rate_millihz;
    const uint32_t *points;  // one per core, or WB_POINT_OFF
    const uint32_t *cores;   // one per task
};

struct wb_snapshot {
    uint64_t now_ns, period_ns;  // period_ns: how long the loads were measured
    uint64_t rate_millihz;       // frames per second in thousandths; 0: none
    uint32_t self;               // the core that asks, for local policies
    uint32_t n_cores, n_tasks, n_rows;
    const struct wb_snapshot_core *cores;
    const struct wb_snapshot_task *tasks;
    const struct wb_table_row *rows;  // ascending
};

struct wb_move {
    uint32_t task, core;
};

struct wb_set_point {
    uint32_t core, point;
};

struct wb_decision {
    uint32_t n_moves, max_moves, n_points, max_points;
    struct wb_move *moves;
    struct wb_set_point *points;
    bool overflow;  // more was decided than there was room for
};

/// Adds to a decision. What does not fit is left out and noted in `overflow`.
///
/// Context: any, of one decision one caller at a time. Never blocks.
void wb_decide_move(struct wb_decision *decision, uint32_t task, uint32_t core);
void wb_decide_point(struct wb_decision *decision, uint32_t core, uint32_t point);

/// The core of a task after the moves that are decided so far.
///
/// Context: as wb_decide_move(). `task` is one of the snapshot.
/// Returns: the core, valid or not as the snapshot or the decision has it.
uint32_t wb_decision_core(const struct wb_decision *decision, const struct wb_snapshot *snapshot,
                          uint32_t task);

/// The load of a core after the moves that are decided so far.
///
/// Context: as wb_decide_move(). `core` and the tasks that are moved are of the snapshot.
/// Returns: millionths of a core at its highest frequency; more than WB_PPM is overload.
uint64_t wb_decision_load_ppm(const struct wb_decision *decision,
                              const struct wb_snapshot *snapshot, uint32_t core);

struct wb_policy_param {
    const char *name, *help;
    int64_t value, least, most;  // value: the default
};

struct wb_policy {
    const char *name, *help;
    bool local;  // each core asks for itself, no coordinator: it may move only its own tasks
    uint32_t n_params;
    const struct wb_policy_param *params;  // as many
    /// `params`: one value per entry of `params` above, in its order.
    void (*decide)(const struct wb_snapshot *snapshot, const int64_t *params,
                   struct wb_decision *decision);
};

/// Drops what cannot be carried out from a decision, and keeps the rest in its order.
///
/// Dropped are moves of unknown tasks, to unknown cores, cores that are down or of a kind that the
/// task does not run on, of tasks that are not movable or were moved before; operating points of
/// unknown cores, of cores that are down, that do not exist or were set before; and what a local
/// policy decides for another core.
///
/// Context: any. Never blocks.
/// Memory:  `text`, of `bytes`, gets the descriptions, separated by "; " and cut off where they do
///          not fit: "it moved task 7, of which there are 6". It always ends with a zero.
/// Returns: how many parts were dropped, an overflow counted as one; 0: nothing, `text` is empty.
uint32_t wb_decision_check(struct wb_decision *decision, const struct wb_snapshot *snapshot,
                           const struct wb_policy *policy, char *text, size_t bytes);

/// Writes the defaults of a policy's parameters.
///
/// Context: any. Never blocks.
/// Memory:  `values` has room for WB_POLICY_PARAMS.
void wb_policy_defaults(const struct wb_policy *policy, int64_t *values);

/// Sets one parameter from text, a decimal number.
///
/// Context: any. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL: the policy has no such parameter, the text is no number, or the
///          number is out of the parameter's range; `values` is unchanged.
WB_MUST_USE enum wb_status wb_policy_param_set(const struct wb_policy *policy, int64_t *values,
                                               const char *key, const char *text);

/// Finds a policy by name: `static`, `table`, `spread`, … NULL: there is none.
///
/// Context: any. Never blocks.
const struct wb_policy *wb_policy_find(const char *name);

/// The policies in the order of their names; NULL past the last.
///
/// Context: any. Never blocks.
const struct wb_policy *wb_policy_at(uint32_t position);

WB_END_C

#endif
