// SPDX-License-Identifier: Apache-2.0
// Compiled at the end of FreeRTOS's tasks.c, where its lists can be seen: what a kernel does with
// the TCB of a task that comes from another kernel or goes there (holmbacka2013 section IV).
//
// Kernels have their lists at the same addresses, each in its own memory. So a TCB's list pointers
// say nothing about which kernel has it in a list: whoever owns its descriptor does.

#include <string.h>

#include "tcb.h"

#if __ARM_ARCH_PROFILE == 'A' || __ARM_ARCH_PROFILE == 'R'
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
void wb_tcb_attach(StaticTask_t *at, UBaseType_t priority)
{
    TCB_t *tcb = (TCB_t *)(void *)at;

    tcb->xStateListItem.pxContainer = NULL;
    tcb->xEventListItem.pxContainer = NULL;
    listSET_LIST_ITEM_VALUE(&tcb->xEventListItem, (TickType_t)configMAX_PRIORITIES - priority);
    tcb->uxPriority = priority;
#if configUSE_MUTEXES == 1
    tcb->uxBasePriority = priority;
#endif
    // Whatever it waited for, it looks again.
    tcb->ulNotifiedValue[WB_FREERTOS_NOTIFICATION] = 1;
    tcb->ucNotifyState[WB_FREERTOS_NOTIFICATION] = taskNOTIFICATION_RECEIVED;
    uxCurrentNumberOfTasks++;
    uxTaskNumber++;
#if configUSE_TRACE_FACILITY == 1
    tcb->uxTCBNumber = uxTaskNumber;
#endif
    prvAddTaskToReadyList(tcb);
}

// A mutex of this kernel, or a priority that somebody who waits for one lends; or this kernel may
// not switch.
static int is_held(const TCB_t *tcb)
{
#if configUSE_MUTEXES == 1
    if (tcb->uxMutexesHeld != 0 || tcb->uxPriority != tcb->uxBasePriority)
        return 1;
#endif
    return uxSchedulerSuspended != 0;
}

int wb_tcb_is_held(const StaticTask_t *at)
{
    return is_held((const TCB_t *)(const void *)at);
}

int wb_tcb_detach(StaticTask_t *at)
{
    TCB_t *tcb = (TCB_t *)(void *)at;

    if (is_held(tcb))
        return 0;
    const List_t *ready = listLIST_ITEM_CONTAINER(&tcb->xStateListItem);
    listREMOVE_ITEM(&tcb->xStateListItem);
    if (listLIST_IS_EMPTY(ready))
        portRESET_READY_PRIORITY(tcb->uxPriority, uxTopReadyPriority);
    uxCurrentNumberOfTasks--;
    return 1;
}

void wb_tcb_notify(TaskHandle_t task, UBaseType_t index)
{
    TCB_t *tcb = task;
    const uint8_t before = tcb->ucNotifyState[index];

    tcb->ulNotifiedValue[index]++;
    tcb->ucNotifyState[index] = taskNOTIFICATION_RECEIVED;
    if (before != taskWAITING_NOTIFICATION)
        return;
    (void)uxListRemove(&tcb->xStateListItem);
    prvAddTaskToReadyList(tcb);
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
