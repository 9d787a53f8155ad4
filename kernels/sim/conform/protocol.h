// SPDX-License-Identifier: Apache-2.0
// Protocols under fault injection: each is run once without a fault, which counts its steps and its
// doorbells, and then again for every fault at every one of them.
#ifndef WB_PROTOCOL_H
#define WB_PROTOCOL_H

#include "faults.h"
#include "suite.h"

struct protocol {
    /// Makes the system, with all of its tasks. They come to an end by themselves.
    struct harness *(*open)(void);

    /// After its end: NULL, or what does not hold. `fault` is the one that was injected.
    const char *(*check)(struct harness *h, const struct fault *fault);
    uint32_t cores;
    uint32_t migrations;  // that there are at least without a fault
};

/// Runs a protocol with every fault. Ends the program at the first that it does not stand.
void protocol_inject(const struct protocol *protocol);

/// The simulator below the harness (harness.c).
struct wb_host *harness_simulator(struct harness *h);

/// True of a fault that stops a kernel.
static inline bool protocol_kills(const struct fault *fault)
{
    return fault->kind == FAULT_KILL || fault->kind == FAULT_LEAVE || fault->kind == FAULT_RETURN;
}

/// True once a kernel has been stopped.
bool protocol_has_death(const struct wb_system *system);

/// One migration by the only task that moves `task`. Fails the run unless the task is on its target
/// afterwards, or on its source with a reason.
void protocol_move(struct wb_task *self, struct wb_task *task, uint32_t core);

/// Adds a task that may move, and that starts again where it is stopped: on the core of its index,
/// and more urgent than those of a lower one.
struct wb_task *protocol_task(struct harness *h, const char *name, uint32_t index,
                              wb_task_entry *entry, bool moves_at_waits);

/// Adds a task that moves all that were added before it in turn, to the next core each, so many
/// times. What the case shares begins with a word that says how many are left: that outlives it.
void protocol_mover(struct harness *h, uint32_t moves);

#endif
