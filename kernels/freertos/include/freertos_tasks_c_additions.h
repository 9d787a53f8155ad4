// SPDX-License-Identifier: Apache-2.0
// Compiled at the end of FreeRTOS's tasks.c, where its lists can be seen: what a kernel does with
// the TCB of a task that comes from another kernel or goes there (holmbacka2013 section IV).
//
// Kernels have their lists at the same addresses, each in its own memory. So a TCB's list pointers
// say nothing about which kernel has it in a list: whoever owns its descriptor does.

#include <string.h>

#include "tcb.h"

#if (__ARM_ARCH_PROFILE == 'A' || __ARM_ARCH_PROFILE == 'R') && !defined __aarch64__
// These ports switch on the stack of the task that leaves; here they do so on one of the kernel's
// (`ld --wrap=vTaskSwitchContext`). As soon as a task is handed off another kernel may run it, over
// whatever this one had there. Where this returns to loads all registers of whoever comes.
#define SWITCH_STACK_BYTES 4096

_Alignas(8) unsigned char wb_freertos_switch_stack[SWITCH_STACK_BYTES];

void __wrap_vTaskSwitchContext(void);

__attribute__((naked)) void __wrap_vTaskSwitchContext(void)
{
    __asm__("mov r4, lr\n"
            "ldr sp, =wb_freertos_switch_stack + %c0\n"
            "bl vTaskSwitchContext\n"
            "bx r4" ::"i"(SWITCH_STACK_BYTES));
}
#endif

void wb_tcb_create(StaticTask_t *at, const struct wb_tcb_config *config)
{
    TCB_t *tcb = (TCB_t *)(void *)at;
    TaskHandle_t handle;

    memset(tcb, 0, sizeof *tcb);
    tcb->pxStack = config->stack;
#if tskSTATIC_AND_DYNAMIC_ALLOCATION_POSSIBLE != 0
    tcb->ucStaticallyAllocated = tskSTATICALLY_ALLOCATED_STACK_AND_TCB;
#endif
    tcb->pvThreadLocalStoragePointers[WB_FREERTOS_POINTER] = config->task;
    prvInitialiseNewTask(config->entry, config->name, config->stack_bytes / sizeof(StackType_t),
                         config->task, config->priority, &handle, tcb, NULL);
}

// In no list of this kernel, whatever its links say.
static void count_in(TCB_t *task)
{
    task->xStateListItem.pxContainer = NULL;
    task->xEventListItem.pxContainer = NULL;
    uxCurrentNumberOfTasks++;
    uxTaskNumber++;
#if configUSE_TRACE_FACILITY == 1
    task->uxTCBNumber = uxTaskNumber;
#endif
}

void wb_tcb_attach(StaticTask_t *at, UBaseType_t priority)
{
    TCB_t *tcb = (TCB_t *)(void *)at;

    count_in(tcb);
    listSET_LIST_ITEM_VALUE(&tcb->xEventListItem, (TickType_t)configMAX_PRIORITIES - priority);
    tcb->uxPriority = priority;
#if configUSE_MUTEXES == 1
    tcb->uxBasePriority = priority;
#endif
    // Whatever it waited for, it looks again.
    tcb->ulNotifiedValue[WB_FREERTOS_NOTIFICATION] = 1;
    tcb->ucNotifyState[WB_FREERTOS_NOTIFICATION] = taskNOTIFICATION_RECEIVED;
    prvAddTaskToReadyList(tcb);
}

static enum wb_tcb_hold held(TaskHandle_t task)
{
    (void)task;
#if configUSE_MUTEXES == 1
    if (task->uxMutexesHeld != 0)
        return WB_TCB_HOLDS;
    if (task->uxPriority != task->uxBasePriority)
        return WB_TCB_INHERITS;
#endif
    return uxSchedulerSuspended != 0 ? WB_TCB_CLOSES : WB_TCB_FREE;
}

enum wb_tcb_hold wb_tcb_held(TaskHandle_t task)
{
    return wb_port_is_masked() || wb_port_is_disabled() ? WB_TCB_CRITICAL : held(task);
}

static inline void detach(TCB_t *task)
{
    const List_t *ready = listLIST_ITEM_CONTAINER(&task->xStateListItem);

    listREMOVE_ITEM(&task->xStateListItem);
    if (listLIST_IS_EMPTY(ready))
        portRESET_READY_PRIORITY(task->uxPriority, uxTopReadyPriority);
    uxCurrentNumberOfTasks--;
}

void wb_tcb_detach(TaskHandle_t task)
{
    detach(task);
}

enum wb_tcb_hold wb_tcb_leave(TaskHandle_t task, TickType_t *left_at)
{
    const enum wb_tcb_hold hold = wb_port_is_masked() ? WB_TCB_CRITICAL : held(task);

    *left_at = xTickCount;
    if (hold == WB_TCB_FREE)
        detach(task);
    return hold;
}

static int waits_for_notification(const TCB_t *task)
{
    for (UBaseType_t i = 0; i < configTASK_NOTIFICATION_ARRAY_ENTRIES; i++)
        if (task->ucNotifyState[i] == taskWAITING_NOTIFICATION)
            return 1;
    return 0;
}

static enum wb_tcb_hold held_asleep(TaskHandle_t task)
{
    const List_t *list = listLIST_ITEM_CONTAINER(&task->xStateListItem);

    if (waits_for_notification(task) || listLIST_ITEM_CONTAINER(&task->xEventListItem) != NULL)
        return WB_TCB_WAITS;
    if (list == &xSuspendedTaskList)
        return WB_TCB_SUSPENDED;
    if (list != pxDelayedTaskList && list != pxOverflowDelayedTaskList)
        return WB_TCB_READY;
    return task == pxCurrentTCB ? WB_TCB_FALLING : held(task);
}

enum wb_tcb_hold wb_tcb_leave_asleep(TaskHandle_t task, TickType_t *left_at, TickType_t *asleep)
{
    const enum wb_tcb_hold hold = held_asleep(task);

    *left_at = xTickCount;
    if (hold != WB_TCB_FREE)
        return hold;
    *asleep = listGET_LIST_ITEM_VALUE(&task->xStateListItem) - xTickCount;
    listREMOVE_ITEM(&task->xStateListItem);
    prvResetNextTaskUnblockTime();
    uxCurrentNumberOfTasks--;
    return WB_TCB_FREE;
}

static void sleep(TCB_t *task, TickType_t ticks)
{
    const TickType_t wake = xTickCount + ticks;

    listSET_LIST_ITEM_VALUE(&task->xStateListItem, wake);
    vListInsert(wake < xTickCount ? pxOverflowDelayedTaskList : pxDelayedTaskList,
                &task->xStateListItem);
    if (wake >= xTickCount && wake < xNextTaskUnblockTime)
        xNextTaskUnblockTime = wake;
}

TickType_t wb_tcb_come(TaskHandle_t task)
{
    count_in(task);
    prvAddTaskToReadyList(task);
    return xTickCount;
}

TickType_t wb_tcb_come_asleep(TaskHandle_t task, TickType_t asleep)
{
    count_in(task);
    sleep(task, asleep);
    return xTickCount;
}

void wb_tcb_adopt(TaskHandle_t handle, void *task)
{
    handle->pvThreadLocalStoragePointers[WB_FREERTOS_POINTER] = task;
}

struct wb_tcb_about wb_tcb_about(TaskHandle_t handle)
{
    return (struct wb_tcb_about){
        .name = handle->pcTaskName,
        .stack = handle->pxStack,
        .stack_bytes = (size_t)(handle->pxEndOfStack - handle->pxStack + 1) * sizeof(StackType_t),
        .priority = handle->uxPriority,
    };
}

int wb_tcb_notify(TaskHandle_t task, UBaseType_t index)
{
    TCB_t *tcb = task;
    const uint8_t before = tcb->ucNotifyState[index];

    tcb->ulNotifiedValue[index]++;
    tcb->ucNotifyState[index] = taskNOTIFICATION_RECEIVED;
    if (before != taskWAITING_NOTIFICATION)
        return 0;
    (void)uxListRemove(&tcb->xStateListItem);
    prvAddTaskToReadyList(tcb);
    return tcb->uxPriority > pxCurrentTCB->uxPriority;
}

// The lists of all kernels are at the same addresses.
int wb_tcb_waits_for_ever(const StaticTask_t *at)
{
    return listLIST_ITEM_CONTAINER(&((const TCB_t *)(const void *)at)->xStateListItem) ==
           &xSuspendedTaskList;
}

const char *wb_tcb_running(void)
{
    return xSchedulerRunning != pdFALSE ? pxCurrentTCB->pcTaskName : "";
}

void *wb_tcb_stack_low(const StaticTask_t *at)
{
    return (void *)((const TCB_t *)(const void *)at)->pxTopOfStack;
}

#include "freertos_guards.h"
