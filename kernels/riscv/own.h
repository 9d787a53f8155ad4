// SPDX-License-Identifier: Apache-2.0
// What the files of the RISC-V kernel share.
#ifndef WB_RISCV_OWN_H
#define WB_RISCV_OWN_H

#include "wb/system.h"

enum { PRIORITIES = 32 };

// The kernel's own part of a task. It moves along.
struct riscv_task {
    void *sp;               // the saved context, while the task does not run
    struct wb_task *next;   // in a ready list
    uint32_t queue;         // 1 + its number, 0: in none
    struct wb_task *later;  // among the timers
    uint64_t until_ns;      // when to wake it
    bool timed;             // it is among the timers
    bool blocked, woken;    // woken: an unblock came while it was not blocked
};

_Static_assert(sizeof(struct riscv_task) <= WB_KERNEL_TASK_BYTES, "raise WB_KERNEL_TASK_BYTES");

static inline struct riscv_task *of(struct wb_task *task)
{
    return (struct riscv_task *)(void *)task->kernel;
}

// ---- timers.c: timed blocks of this kernel ------------------------------------------------------

/// Context: this core's kernel, as all below.
void timers_add(struct wb_task *task, uint64_t until_ns);

/// Nothing if it is not among them.
void timers_remove(struct wb_task *task);

/// When the next one of more than this priority is due, -1: of any. WB_FOREVER: there is none.
uint64_t timers_next_ns(int32_t above);

/// Takes off the tasks whose time has come, and unblocks them.
void timers_wake(uint64_t now_ns);

// ---- Who runs next: ready.c ---------------------------------------------------------------------

/// A task of this core may run. It is not in the list.
void ready_add(struct wb_task *task);

/// Takes the most urgent one of at least this priority, the first that came. NULL: there is none.
struct wb_task *ready_take(uint32_t floor);

/// True if there is a more urgent one.
bool ready_above(uint32_t priority);

/// Its effective priority has changed. Nothing if it is not in the list.
void ready_move(struct wb_task *task);

#endif
