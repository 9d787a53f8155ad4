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
// wb_port_is_masked(): the running task is in a critical section, or has disabled interrupts; on
// AArch64 the latter is wb_port_is_disabled().
#ifdef __aarch64__
#define wb_port_mask() __asm__ volatile("msr daifset, #2" ::: "memory")
#define wb_port_switch() portYIELD()
#define wb_port_unmask() __asm__ volatile("msr daifclr, #2" ::: "memory")
#else
#define wb_port_mask() __asm__ volatile("cpsid i" ::: "memory")
#define wb_port_switch() __asm__ volatile("svc 0" ::: "memory")
#define wb_port_unmask() __asm__ volatile("cpsie i" ::: "memory")
#endif
#ifdef portICCPMR_PRIORITY_MASK_REGISTER
#define wb_port_is_masked()                                                                        \
    (portICCPMR_PRIORITY_MASK_REGISTER == configMAX_API_CALL_INTERRUPT_PRIORITY                    \
                                              << portPRIORITY_SHIFT)
#else
extern volatile uint32_t ulCriticalNesting;
#define wb_port_is_masked() (ulCriticalNesting != 0)
#endif
#else
#define wb_port_mask() taskENTER_CRITICAL()
#define wb_port_switch() taskYIELD()
#define wb_port_unmask() taskEXIT_CRITICAL()
#define wb_port_is_masked() 0
#endif

static inline int wb_port_is_disabled(void)
{
#ifdef __aarch64__
    unsigned long daif;

    __asm__ volatile("mrs %0, daif" : "=r"(daif));
    return (daif & 0x80) != 0;
#else
    return 0;
#endif
}

// What keeps a task on its kernel.
enum wb_tcb_hold {
    WB_TCB_FREE,
    WB_TCB_HOLDS,      // a mutex
    WB_TCB_INHERITS,   // the priority of somebody who waits for one
    WB_TCB_CLOSES,     // the scheduler, which it has suspended
    WB_TCB_CRITICAL,   // interrupts, which it has masked
    WB_TCB_WAITS,      // for a queue, a semaphore, a notification
    WB_TCB_SUSPENDED,  // by vTaskSuspend()
    WB_TCB_READY,      // nothing: it is not asleep
    WB_TCB_FALLING,    // nothing: it is asleep as soon as it is switched away from
};

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
void wb_tcb_detach(TaskHandle_t task);

/// The same of one that may be held. `left_at`: the ticks of this kernel.
///
/// Returns: what holds it: it stays; else WB_TCB_FREE.
enum wb_tcb_hold wb_tcb_leave(TaskHandle_t task, TickType_t *left_at);

/// The same of one that is to be asleep, in vTaskDelay(), for `asleep` ticks from now.
enum wb_tcb_hold wb_tcb_leave_asleep(TaskHandle_t task, TickType_t *left_at, TickType_t *asleep);

/// Enters a task as it is, of whichever kernel: ready, or asleep for so many ticks more. Returns
/// the ticks of this kernel.
///
/// Context: as wb_tcb_attach().
TickType_t wb_tcb_come(TaskHandle_t task);
TickType_t wb_tcb_come_asleep(TaskHandle_t task, TickType_t asleep);

struct wb_tcb_about {
    const char *name;
    void *stack;
    size_t stack_bytes;
    UBaseType_t priority;
};

/// Says what a task of FreeRTOS is made of; has it known as `task` at each switch.
struct wb_tcb_about wb_tcb_about(TaskHandle_t handle);
void wb_tcb_adopt(TaskHandle_t handle, void *task);

/// As xTaskNotifyGiveIndexed(), where that may not be called: never switches.
///
/// Context: FreeRTOS's switch, before it has chosen; a critical section.
/// Returns: 1 when this has made ready a task that is more urgent than the one that runs.
int wb_tcb_notify(TaskHandle_t task, UBaseType_t index);

/// What holds a task that runs.
///
/// Context: that task, outside of critical sections of the kernel's.
enum wb_tcb_hold wb_tcb_held(TaskHandle_t task);

/// True of a blocked task, of whichever kernel, that waits without a time limit.
int wb_tcb_waits_for_ever(const StaticTask_t *at);

/// The lowest address of its stack that is in use, while it does not run.
void *wb_tcb_stack_low(const StaticTask_t *at);

/// The name of the task that runs; "" before the scheduler starts.
const char *wb_tcb_running(void);

/// Ends the program unless this kernel has a task: a function of FreeRTOS is called for it.
///
/// Memory: `task` is what wb_tcb_adopt() was given, perhaps of a handle whose task is deleted.
void wb_freertos_check(const void *task, const void *handle, const char *call);

/// The core whose kernel has an adopted task, if that is another; else WB_CORE_NONE.
uint32_t wb_freertos_is_elsewhere(const void *task);

#endif
