// SPDX-License-Identifier: Apache-2.0
// Faults at chosen moments of a simulation. A step is one charge (wb_kernel_charge()): between two
// of them nobody else acts, so a fault at each step is a fault at each moment that differs.
#ifndef WB_FAULTS_H
#define WB_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

struct sim_core;
struct wb_host;

enum fault_kind {
    FAULT_NONE,    // only counts
    FAULT_DROP,    // a doorbell does not ring
    FAULT_DELAY,   // it rings later; others that are rung after it may overtake it
    FAULT_REPEAT,  // it rings, and later again
    FAULT_KILL,    // a kernel is stopped, in the midst of what it does
    FAULT_CANCEL,  // every migration under way is withdrawn
    FAULT_SKEW,    // a core's clock differs from then on
    FAULT_HOLD,    // a task is held up, and may be preempted there
    FAULT_LEAVE,   // the same; the kernel that preempts it is stopped soon after
    FAULT_RETURN,  // all kernels are stopped, and each is started again later
    FAULT_KINDS
};

struct fault {
    enum fault_kind kind;
    uint64_t at;    // the doorbell, the step, or of HOLD and LEAVE the moment, that it strikes:
                    // from 1
    uint32_t core;  // KILL, SKEW: whose
    int64_t ns;     // DELAY, REPEAT, RETURN: later by so much; SKEW: ahead by so much, or behind;
                    // HOLD: for
    bool preempts;  // kernels do; but for HOLD and LEAVE, tasks are held up at random as well
};

struct faults {
    struct fault fault;
    struct wb_host *host;
    uint64_t doorbells;  // that were rung
    bool struck;         // of HOLD: what it holds up is preempted
};

/// Plans one fault. Every kernel looks at its inbox every so often from now on: who misses a
/// doorbell comes late, not never. `faults` has to outlive the simulation.
///
/// Context: the launcher, after wb_host_start().
void faults_plan(struct faults *faults, struct wb_host *host, const struct fault *fault);

/// How many steps there have been, and how many moments of tasks (sim_moment()).
uint64_t faults_steps(void);
uint64_t faults_moments(void);

// ---- The simulator's ----------------------------------------------------------------------------

/// A doorbell is rung, to be heard at `at_ps`.
void faults_ring(struct sim_core *core, uint64_t at_ps);

/// The step has come.
void faults_strike(void);

/// What the clock of the core that executes says; when it says so.
uint64_t faults_now_ns(void);
uint64_t faults_true_ns(uint64_t ns);

/// A kernel is stopped, or started again.
void faults_stop(uint32_t core);

/// Every kernel looks.
void faults_look(void);

#endif
