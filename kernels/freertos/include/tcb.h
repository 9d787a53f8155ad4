// SPDX-License-Identifier: Apache-2.0
// The TCBs of tasks that move, for the kernel (kernel.c) and FreeRTOS's tasks.c.
#ifndef WB_TCB_H
#define WB_TCB_H

#include <stddef.h>

#include "FreeRTOS.h"
#include "task.h"

// The last of a task's notifications is the kernel's: the permit of wb_kernel_block().
#define WB_FREERTOS_NOTIFICATION (configTASK_NOTIFICATION_ARRAY_ENTRIES - 1)

struct wb_tcb_config {
    const char *name;
    TaskFunction_t entry;  // is given `task`
    void *task;
    UBaseType_t priority;
    StackType_t *stack;
    size_t stack_bytes;
};

/// Writes the first context of a task that is in no list and runs nowhere.
///
/// Memory: the TCB and the stack stay the caller's.
void wb_tcb_create(StaticTask_t *at, const struct wb_tcb_config *config);

/// Enters a task, of whichever kernel, into this kernel's ready list. It looks again whatever it
/// waited for.
///
/// Context: a task of this kernel, at least as urgent.
void wb_tcb_attach(StaticTask_t *at, UBaseType_t priority);

/// Takes a ready task that does not run out of this kernel.
void wb_tcb_detach(StaticTask_t *at);

/// True while a task holds, or has to do with, a mutex of this kernel.
int wb_tcb_is_held(const StaticTask_t *at);

/// True of a blocked task, of whichever kernel, that waits without a time limit.
int wb_tcb_waits_for_ever(const StaticTask_t *at);

/// The lowest address of its stack that is in use, while it does not run.
void *wb_tcb_stack_low(const StaticTask_t *at);

#endif
