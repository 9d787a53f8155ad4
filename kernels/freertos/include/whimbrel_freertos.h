// SPDX-License-Identifier: Apache-2.0
// What FreeRTOSConfig.h takes from Whimbrel: `#include "whimbrel_freertos.h"` at its end.
//
// FreeRTOS itself stays as it is. Its kernel includes freertos_tasks_c_additions.h, which takes
// tasks out of its lists and enters them, and calls the two functions below at each switch.
#ifndef WHIMBREL_FREERTOS_H
#define WHIMBREL_FREERTOS_H

#define configINCLUDE_FREERTOS_TASK_C_ADDITIONS_H 1

// The task of the middleware is kept in the last pointer of its own that a task has.
#ifndef configNUM_THREAD_LOCAL_STORAGE_POINTERS
#define configNUM_THREAD_LOCAL_STORAGE_POINTERS 1
#endif
#if configNUM_THREAD_LOCAL_STORAGE_POINTERS < 1
#error "configNUM_THREAD_LOCAL_STORAGE_POINTERS is 0: Whimbrel takes the last, so give it one more"
#endif
#define WB_FREERTOS_POINTER (configNUM_THREAD_LOCAL_STORAGE_POINTERS - 1)

// A TCB lies in the middleware's descriptor of its task.
#define configSUPPORT_STATIC_ALLOCATION 1
// An ordinary task is adopted with its whole stack.
#define configRECORD_STACK_HIGH_ADDRESS 1
// The last of a task's notifications is the middleware's.
#ifndef configTASK_NOTIFICATION_ARRAY_ENTRIES
#define configTASK_NOTIFICATION_ARRAY_ENTRIES 2
#endif
#if configTASK_NOTIFICATION_ARRAY_ENTRIES < 2
#error "configTASK_NOTIFICATION_ARRAY_ENTRIES is 1: Whimbrel takes the last, so give it one more"
#endif
#if !configUSE_PREEMPTION
#error "configUSE_PREEMPTION is 0: Whimbrel's task must get the processor at once, so set it to 1"
#endif
#define configUSE_TASK_NOTIFICATIONS 1
#define INCLUDE_vTaskPrioritySet 1
#define INCLUDE_vTaskSuspend 1

#ifndef __ASSEMBLER__
/// A task leaves the processor; `ready`: it may run on.
void wb_freertos_out(int ready);

/// A task gets the processor; NULL: not one of the middleware.
void wb_freertos_in(void *task);

/// Run-time statistics in nanoseconds: the time of the switch that is under way, or else the time.
unsigned long long wb_freertos_run_time(void);

/// vTaskDelete() has taken a task, which runs or not, out of its lists.
void wb_freertos_deleted(void *task, int runs);

/// A call of FreeRTOS for a task begins, or it wakes one. Ends the program if another kernel has
/// the task. wb_tcb_call() begins a critical section, which the end of the call leaves: the task
/// cannot move meanwhile.
///
/// Memory: `task` is a handle; NULL: the calling task, or none.
void wb_tcb_call(const void *task, const char *call);
void wb_tcb_check(const void *task, const char *call);

/// How long a task has run; `here`: as far as this kernel knows.
unsigned long long wb_tcb_run_time(const void *task, unsigned long long here);
#endif

// Statistics take the time of a switch once, with the middleware, and no division.
#if configGENERATE_RUN_TIME_STATS == 1 && !defined portGET_RUN_TIME_COUNTER_VALUE &&               \
    !defined portALT_GET_RUN_TIME_COUNTER_VALUE
#define configRUN_TIME_COUNTER_TYPE uint64_t
#define portCONFIGURE_TIMER_FOR_RUN_TIME_STATS()
#define portGET_RUN_TIME_COUNTER_VALUE() wb_freertos_run_time()
#endif

// ---- What is hooked into FreeRTOS ---------------------------------------------------------------
//
// A trace recorder's macros of these names contain ours: it is included after this header, and
// freertos_guards.h checks them.

#if defined traceTASK_SWITCHED_OUT || defined traceTASK_SWITCHED_IN || defined traceTASK_DELETE
#error "a trace macro of Whimbrel is defined: include the recorder after whimbrel_freertos.h"
#endif

#define traceTASK_SWITCHED_OUT()                                                                   \
    wb_freertos_out(listLIST_ITEM_CONTAINER(&pxCurrentTCB->xStateListItem) ==                      \
                    &pxReadyTasksLists[pxCurrentTCB->uxPriority])
#define traceTASK_SWITCHED_IN()                                                                    \
    wb_freertos_in(pxCurrentTCB->pvThreadLocalStoragePointers[WB_FREERTOS_POINTER])
#define traceTASK_DELETE(task)                                                                     \
    wb_freertos_deleted((task)->pvThreadLocalStoragePointers[WB_FREERTOS_POINTER],                 \
                        (task) == pxCurrentTCB)

#include "freertos_guard_hooks.h"

#endif
