// SPDX-License-Identifier: Apache-2.0
// Watches that virtual time passes. A task that computes really, and for ever, or that only does
// what costs nothing, would let the simulation stand still.
#ifndef WB_WATCH_H
#define WB_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct wb_task;

struct watch_report {
    struct wb_task *task;  // that executed; NULL: a kernel
    uint32_t core;
    uint32_t patience_ms;  // that was had with it, in processor time
};

/// Starts to watch this process. Once.
///
/// After 10 s of its processor time in the event loop without virtual time passing, the loop is
/// left: at the next charge, or out of the midst of a task that makes none.
/// WHIMBREL_SIM_PATIENCE_MS in the environment is a shorter such time.
void watch_open(void);

/// A run begins.
void watch_begin(void);

/// True once the loop was left because time stood still.
bool watch_expired(void);
struct watch_report watch_report(void);

#endif
