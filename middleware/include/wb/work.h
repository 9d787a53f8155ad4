// SPDX-License-Identifier: Apache-2.0
// Work: what a task computes in each firing, in cycles of each kind of core it runs on.
//
// A task with work may run where the code behind its numbers never ran: the simulator charges the
// cycles of each firing (wb_compute()), whether or not the task computes really. A task without
// work runs on every kind of core, and takes the time that it takes.
#ifndef WB_WORK_H
#define WB_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/status.h"

struct wb_core;
struct wb_task;

enum {
    WB_KINDS_MAX = 32,  // kinds of cores
    WB_RATE_MAX = 1 << 15,
};

#define WB_CYCLES_MAX ((uint64_t)1 << 48)  // of one firing: a day at 3 GHz

// How the cycles of a firing vary around their mean. See draw.c for how they are drawn.
enum wb_distribution {
    WB_CONSTANT,
    WB_UNIFORM,      // evenly from mean * (1 - spread) to mean * (1 + spread)
    WB_NORMAL,       // spread: its standard deviation, over the mean
    WB_EXPONENTIAL,  // has no spread of its own
};

struct wb_work_config {
    enum wb_distribution distribution;
    uint32_t spread_ppm;     // millionths of the mean; uniform: at most 1000000, normal: 333333
    uint64_t working_bytes;  // memory that it comes back to in each firing
    uint64_t traffic_bytes;  // over the interconnect in each firing
    uint64_t firings;        // a source ends after so many; 0: when the run stops
    const uint64_t *cycles;  // mean of a firing, at most WB_CYCLES_MAX; 0: not on this kind
    uint32_t n_cycles;       // one for each kind of the system; 1: the same on every kind
};

struct wb_work {
    // Fixed at the start.
    enum wb_distribution distribution;
    uint32_t spread_ppm;
    uint64_t working_bytes, traffic_bytes, firings;
    const uint64_t *cycles;  // one for each kind of the system; NULL: it has no work
    uint32_t not_on;         // bit k: it does not run on kind k

    // The task itself, by wb_compute().
    uint64_t random;  // where the stream of its draws is; a function of seed and task at the start
};

/// Says of what kind a core is: a number below wb_system_config.kinds.
///
/// Context: the launcher, before any task is added. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL for a kind that does not exist, or once there are tasks.
WB_MUST_USE enum wb_status wb_core_set_kind(struct wb_core *core, uint32_t kind);

/// Gives a task its work.
///
/// Context: the launcher, before wb_system_start(), once per task. Never blocks.
/// Memory:  `config->cycles` are copied.
/// Returns: WB_OK; WB_ERR_INVAL for a spread that its distribution does not have, too many cycles,
///          a number of them that is not that of the kinds, or a task that starts on a core of a
///          kind it does not run on; WB_ERR_NOMEM.
WB_MUST_USE enum wb_status wb_task_set_work(struct wb_task *task,
                                            const struct wb_work_config *config);

/// True if the task may run on the core: it has no work, or cycles for cores of that kind.
///
/// Context: any. Never blocks.
bool wb_task_runs_on(const struct wb_task *task, const struct wb_core *core);

/// The cycles of one firing, the next of a stream of draws; the same bits on every machine.
///
/// `mean`: at most WB_CYCLES_MAX; `spread_ppm`: as in struct wb_work_config.
/// Context: any, of one stream one caller at a time. Never blocks. Integer arithmetic only.
uint64_t wb_draw_cycles(uint64_t *random, enum wb_distribution distribution, uint32_t spread_ppm,
                        uint64_t mean);

/// The start of the stream of one task.
uint64_t wb_draw_seed(uint64_t seed, uint32_t task);

#endif
