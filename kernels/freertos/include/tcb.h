// SPDX-License-Identifier: Apache-2.0
// The TCBs of tasks that move, for the kernel (kernel.c) and FreeRTOS's tasks.c.
#ifndef WB_TCB_H
#define WB_TCB_H

#include <stddef.h>

#include "FreeRTOS.h"
#include "task.h"

// The last of a task's notifications is the kernel's: the permit of wb_kernel_block().
#define WB_FREERTOS_NOTIFICATION (configTASK_NOTIFICATION_ARRAY_ENTRIES - 1)

// A task is masked only for as long as it takes to switch away from it. Elsewhere it goes on as
// masked as it was.
#if __ARM_ARCH_PROFILE == 'A' || __ARM_ARCH_PROFILE == 'R'
#define wb_port_mask() __asm__ volatile("cpsid i" ::: "memory")
#define wb_port_switch() __asm__ volatile("svc 0" ::: "memory")
#define wb_port_unmask() __asm__ volatile("cpsie i" ::: "memory")
#else
#define wb_port_mask() taskENTER_CRITICAL()
#define wb_port_switch() taskYIELD()
#define wb_port_unmask() taskEXIT_CRITICAL()
#endif

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
/// Context: nothing else of this core runs: a critical section, or FreeRTOS's switch before it has
///          chosen.
void wb_tcb_attach(StaticTask_t *at, UBaseType_t priority);

/// Takes a task that is ready or runs out of this kernel.
///
/// Context: nothing else of this core runs; whoever runs then yields.
/// Returns: 0 where wb_tcb_is_held(): it stays.
int wb_tcb_detach(StaticTask_t *at);

/// As xTaskNotifyGiveIndexed(), where that may not be called.
///
/// Context: FreeRTOS's switch, before it has chosen.
void wb_tcb_notify(TaskHandle_t task, UBaseType_t index);

/// True while a task holds, or has to do with, a mutex of this kernel, or has suspended its
/// scheduler.
int wb_tcb_is_held(const StaticTask_t *at);

/// True of a blocked task, of whichever kernel, that waits without a time limit.
int wb_tcb_waits_for_ever(const StaticTask_t *at);

/// The lowest address of its stack that is in use, while it does not run.
void *wb_tcb_stack_low(const StaticTask_t *at);

#endif
