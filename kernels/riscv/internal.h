// SPDX-License-Identifier: Apache-2.0
// What the files of the RISC-V kernel share.
#ifndef WB_RISCV_OWN_H
#define WB_RISCV_OWN_H

#include "../template/ready.h"

enum { PRIORITIES = 32, CORES = 4 };  // at most

// Which core this is: it may be another one after each switch.
static inline uint32_t here(void)
{
    uint32_t core;

    __asm__ volatile("csrr %0, mhartid" : "=r"(core));
    return core;
}

// A task's part of a core's list.
struct timer {
    struct wb_task *later;
    uint64_t until_ns;
    bool on;  // it is in the list
};

// The kernel's own part of a task. It moves along.
struct riscv_task {
    void *sp;              // the saved context, while the task does not run
    struct wb_task *next;  // in a ready list
    uint32_t queue;        // 1 + its number, 0: in none; or the cores that may choose it
    bool blocked, woken;   // in a ready list; woken: ready_wake() came while it was not blocked
    struct timer timers[CORES];  // each is its core's alone
};

_Static_assert(sizeof(struct riscv_task) <= WB_KERNEL_TASK_BYTES, "raise WB_KERNEL_TASK_BYTES");

static inline struct riscv_task *of(struct wb_task *task)
{
    return (struct riscv_task *)(void *)task->kernel;
}

// ---- ready.c, or slots.c by the HW-RTOS, besides ready.h ----------------------------------------

/// A kernel begins on this core: it has no tasks.
void ready_begin(void);

/// The kernel that was here has been stopped.
///
/// Context: this core, outside of kernels.
void ready_killed(void);

/// What this way to schedule can do besides (enum wb_capability).
uint32_t ready_can(void);

/// False: there are more tasks than there is room for.
///
/// Context: also the launcher, before any kernel begins.
bool ready_takes(const struct wb_task *task);

/// The interrupt of the HW-RTOS has said so.
void ready_heard(void);

#endif
