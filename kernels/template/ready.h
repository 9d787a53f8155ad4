// SPDX-License-Identifier: Apache-2.0
// What the scheduler of a cooperative kernel (cooperative.h) asks of its kernel's ready queues and
// timers. kernels/linux and kernels/riscv realise it by software, and kernels/riscv/slots.c by the
// HW-RTOS.
//
// Context: this core's kernel, or a task of it.
#ifndef WB_READY_H
#define WB_READY_H

#include "wb/system.h"

// ---- Who runs next ------------------------------------------------------------------------------

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
/// `yields`: after ready_yield().
void ready_saved(struct wb_task *task, bool yields);

/// Who runs next after the loop. NULL: nobody.
struct wb_task *ready_first(void);

/// Sets need_resched if there is, or as soon as there is, a task of more than this priority.
void ready_watch(uint32_t priority);

/// The effective priority of a task has changed.
void ready_reprioritise(struct wb_task *task);

/// The kernel's: the running task is to enter its next checkpoint.
void kernel_set_need_resched(void);

// ---- Timed blocks -------------------------------------------------------------------------------

void timers_add(struct wb_task *task, uint64_t until_ns);

/// Nothing if it is not among those of this core.
void timers_remove(struct wb_task *task);

/// When the next one of more than this priority is due, or earlier; -1: of any. WB_FOREVER: there
/// is none.
uint64_t timers_next_ns(int32_t above);

/// Takes off the tasks whose time has come, and unblocks them.
void timers_wake(uint64_t now_ns);

#endif
