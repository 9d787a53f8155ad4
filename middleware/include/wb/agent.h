// SPDX-License-Identifier: Apache-2.0
// What agents report, and how the launcher says who decides.
//
// Each period (wb_system_config.agent_period_ns) the agent of each core writes what its core and
// its tasks used into globally visible memory, and the coordinator, on one core, reads all of that
// and asks the policy (acquaviva2008 section 4.2: slave and master daemon). A local policy is asked
// by each core for itself. Each word has one writer and stands for itself, so nothing here is
// locked: a reader may see one word of this period and the next of the one before.
#ifndef WB_AGENT_H
#define WB_AGENT_H

#include "wb/counter.h"
#include "wb/policy.h"
#include "wb/record.h"
#include "wb/word.h"

struct wb_core;
struct wb_system;

enum {
    WB_ADVICE_BYTES = 160,
    WB_NO_POINT = UINT16_MAX,  // no operating point has been asked for
};

// The nonsense that a policy decided and that was not carried out, for the launcher to tell.
struct wb_advice {
    uint64_t time_ns;
    const struct wb_policy *policy;
    uint32_t core;  // that asked it
    char text[WB_ADVICE_BYTES];
};

struct wb_task_report {
    // Any core reads; written by the agent of the core that owns the task.
    struct wb_word load_ppm;       // part of a core at its highest frequency, of the last period
    struct wb_word context_bytes;  // stack and heap in use; UINT32_MAX: that or more
    struct wb_word last_core;      // where it ran before
    struct wb_word migration_ns;   // what its migrations cost it of late; 0: it never moved
    struct wb_stamp since_ns;      // when it came to its core

    // That agent's own, handed over with the task.
    uint64_t mark_ns;  // its busy time when `work_ns` was last brought up to date
    uint64_t work_ns;  // since `from_ns`, at the highest frequency
    uint64_t from_ns;
};

struct wb_core_report {
    // Any core reads; written by the core's own agent.
    struct wb_word busy_ppm;       // of the last period in tasks, at the present frequency
    struct wb_word load_ppm;       // sum of its tasks' loads
    struct wb_word context_bytes;  // of its tasks; UINT32_MAX: that or more
    WB_STORED(int32_t) temperature_mc;
    struct wb_word periods;  // reported so far

    // That agent's own.
    uint64_t due_ns, from_ns, mark_ns;
    struct wb_swapped *residents;    // a bit for each task that came here, and may have left
    uint32_t obeyed_point;           // the order that was carried out last
    uint32_t advised_choice;         // of which policy `advised` was told
    char advised[WB_ADVICE_BYTES];   // told last, so that it is told once
    struct wb_ring advice;           // for the launcher
    struct wb_snapshot_core *cores;  // for this core's snapshots and decisions; fixed at the start
    struct wb_snapshot_task *tasks;
    struct wb_move *moves;
    struct wb_set_point *points;
};

struct wb_control {
    const struct wb_table_row *rows;  // fixed at the start, ascending
    uint32_t n_rows;

    struct wb_compared coordinator;  // its core; whoever sees that this one is dead swaps it
    // The policy in force. The launcher writes; `choice` counts, and is odd while it does.
    struct wb_word choice;
    WB_STORED(const struct wb_policy *) policy;
    struct wb_word params[2 * WB_POLICY_PARAMS];  // low and high half of each
};

/// True of a core without tasks whose next reports all say what the last one did, until a task or a
/// note comes to it or another policy decides: they may as well not be made, and be counted by
/// wb_agent_skip(). Of temperatures it knows nothing.
///
/// Context: the core's kernel. Never blocks.
bool wb_agent_is_silent(const struct wb_core *core);

/// Whether a task has come to the core and had not left when its agent reported last.
///
/// Context: the core's kernel, of a system whose agents report. Never blocks.
bool wb_agent_has_residents(const struct wb_core *core);

/// Counts the periods that were over before `now_ns` as reported; when the next one is.
///
/// Context: the core's kernel, or the launcher while no kernel runs. Never blocks.
uint64_t wb_agent_skip(struct wb_core *core, uint64_t now_ns);

/// Lets another policy decide from the next period on; NULL: none. `params`: one value for each of
/// its parameters.
///
/// Context: the launcher. Never blocks.
/// Memory:  `policy` lies at the same address in every kernel and outlives them; `params` is
///          copied.
/// Returns: WB_OK, or WB_ERR_INVAL when agents do not report (agent_period_ns is 0).
WB_MUST_USE enum wb_status wb_system_set_policy(struct wb_system *system,
                                                const struct wb_policy *policy,
                                                const int64_t *params);

/// The policy that decides, or NULL.
///
/// Context: the launcher. Never blocks.
const struct wb_policy *wb_system_policy(const struct wb_system *system);

/// Changes the frame rate, in thousandths of frames per second: what follows it has a new period
/// from its next job on. 0: the periods they began with.
///
/// Context: the launcher. Never blocks.
void wb_system_set_rate(struct wb_system *system, uint32_t rate_millihz);

#endif
