// SPDX-License-Identifier: Apache-2.0
// Compiled at the end of FreeRTOS's tasks.c, where its lists can be seen: what a kernel does with
// the TCB of a task that comes from another kernel or goes there (holmbacka2013 section IV).
//
// Kernels have their lists at the same addresses, each in its own memory. So a TCB's list pointers
// say nothing about which kernel has it in a list: whoever owns its descriptor does.

#include <string.h>

#include "tcb.h"

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
void wb_tcb_attach(StaticTask_t *at, UBaseType_t priority)
{
    TCB_t *tcb = (TCB_t *)(void *)at;

    vListInitialiseItem(&tcb->xStateListItem);
    vListInitialiseItem(&tcb->xEventListItem);
    listSET_LIST_ITEM_VALUE(&tcb->xEventListItem, (TickType_t)configMAX_PRIORITIES - priority);
    tcb->uxPriority = priority;
#if configUSE_MUTEXES == 1
    tcb->uxBasePriority = priority;
#endif
    // Whatever it waited for, it looks again.
    tcb->ulNotifiedValue[WB_FREERTOS_NOTIFICATION] = 1;
    tcb->ucNotifyState[WB_FREERTOS_NOTIFICATION] = taskNOTIFICATION_RECEIVED;
    prvAddNewTaskToReadyList(tcb);
}

// Of a task that is ready and does not run.
void wb_tcb_detach(StaticTask_t *at)
{
    TCB_t *tcb = (TCB_t *)(void *)at;

    taskENTER_CRITICAL();
    configASSERT(tcb != pxCurrentTCB);
    if (uxListRemove(&tcb->xStateListItem) == 0)
        taskRESET_READY_PRIORITY(tcb->uxPriority);
    uxCurrentNumberOfTasks--;
    taskEXIT_CRITICAL();
}

// A mutex of this kernel, or a priority that somebody who waits for one lends.
int wb_tcb_is_held(const StaticTask_t *at)
{
#if configUSE_MUTEXES == 1
    const TCB_t *tcb = (const TCB_t *)(const void *)at;
    return tcb->uxMutexesHeld != 0 || tcb->uxPriority != tcb->uxBasePriority;
#else
    (void)at;
    return 0;
#endif
}

// The lists of all kernels are at the same addresses.
int wb_tcb_waits_for_ever(const StaticTask_t *at)
{
    return listLIST_ITEM_CONTAINER(&((const TCB_t *)(const void *)at)->xStateListItem) ==
           &xSuspendedTaskList;
}

void *wb_tcb_stack_low(const StaticTask_t *at)
{
    return (void *)((const TCB_t *)(const void *)at)->pxTopOfStack;
}
