// SPDX-License-Identifier: Apache-2.0
// What the files of the RISC-V kernel share.
#ifndef WB_RISCV_OWN_H
#define WB_RISCV_OWN_H

#include "wb/system.h"

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

// ---- timers.c: timed blocks of this kernel ------------------------------------------------------

/// Context: this core's kernel, as all below.
void timers_add(struct wb_task *task, uint64_t until_ns);

/// Nothing if it is not among those of this core.
void timers_remove(struct wb_task *task);

/// When the next one of more than this priority is due, -1: of any. WB_FOREVER: there is none.
uint64_t timers_next_ns(int32_t above);

/// Takes off the tasks whose time has come, and unblocks them.
void timers_wake(uint64_t now_ns);

// ---- Who runs next: ready.c, or slots.c by the HW-RTOS ------------------------------------------

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

/// A task has come to this core. Whatever it waited for, it looks again.
void ready_attach(struct wb_task *task);

/// A task may run again after ready_block(), or its next one returns it.
void ready_wake(struct wb_task *task);

/// The running task waits for ready_wake(). Returns who runs next, the most urgent one, of these
/// the first that came; NULL: nobody; itself: it has been woken since its last ready_looks().
struct wb_task *ready_block(struct wb_task *self);

/// The running task looks at what it waits for: what woke it until now is forgotten.
void ready_looks(struct wb_task *self);

/// The running task leaves this core. Returns who runs next.
struct wb_task *ready_leave(struct wb_task *self);

/// The running task stays ready, and another of at least this priority runs next. NULL: there is
/// none, and nothing has changed.
struct wb_task *ready_yield(struct wb_task *self, uint32_t floor);

/// The same for a task that ran until the loop did: ready_first() says who runs next.
void ready_stay(struct wb_task *self);

/// The context of the task that ran before is complete, after one of these but ready_stay().
void ready_saved(void);

/// Who runs next after the loop. NULL: nobody.
struct wb_task *ready_first(void);

/// Sets need_resched if there is, or as soon as there is, a task of more than this priority.
void ready_watch(uint32_t priority);

/// The interrupt of the HW-RTOS has said so.
void ready_heard(void);

/// The effective priority of a task has changed.
void ready_move(struct wb_task *task);

#endif
