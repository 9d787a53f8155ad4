// SPDX-License-Identifier: Apache-2.0
// The part of whimbrel_freertos.h that is about tasks which may have moved.
#ifndef FREERTOS_GUARD_HOOKS_H
#define FREERTOS_GUARD_HOOKS_H

// Functions of FreeRTOS that change a task, or look for it in the lists of this kernel. Others only
// read or write a word of its TCB, which is the same memory for all kernels.
#define traceENTER_vTaskDelete(task) wb_tcb_call(task, "vTaskDelete")
#define traceRETURN_vTaskDelete() taskEXIT_CRITICAL()
#define traceENTER_vTaskPrioritySet(task, priority) wb_tcb_call(task, "vTaskPrioritySet")
#define traceRETURN_vTaskPrioritySet() taskEXIT_CRITICAL()
#define traceENTER_vTaskSuspend(task) wb_tcb_call(task, "vTaskSuspend")
#define traceRETURN_vTaskSuspend() taskEXIT_CRITICAL()
#define traceENTER_vTaskResume(task) wb_tcb_call(task, "vTaskResume")
#define traceRETURN_vTaskResume() taskEXIT_CRITICAL()
#define traceENTER_xTaskAbortDelay(task) wb_tcb_call(task, "xTaskAbortDelay")
#define traceRETURN_xTaskAbortDelay(status) taskEXIT_CRITICAL()
#define traceENTER_eTaskGetState(task) wb_tcb_call(task, "eTaskGetState")
#define traceRETURN_eTaskGetState(state) taskEXIT_CRITICAL()
#define traceENTER_xTaskGenericNotify(task, index, value, action, previous)                        \
    wb_tcb_call(task, "xTaskNotify")
#define traceRETURN_xTaskGenericNotify(status) taskEXIT_CRITICAL()
#define traceENTER_xTaskGenericNotifyStateClear(task, index)                                       \
    wb_tcb_call(task, "xTaskNotifyStateClear")
#define traceRETURN_xTaskGenericNotifyStateClear(status) taskEXIT_CRITICAL()
#define traceENTER_ulTaskGenericNotifyValueClear(task, index, bits)                                \
    wb_tcb_call(task, "ulTaskNotifyValueClear")
#define traceRETURN_ulTaskGenericNotifyValueClear(value) taskEXIT_CRITICAL()

// Nothing moves while an interrupt, or a critical section around the call, runs.
#define traceENTER_xTaskResumeFromISR(task) wb_tcb_check(task, "xTaskResumeFromISR")
#define traceENTER_xTaskGenericNotifyFromISR(task, index, value, action, previous, woken)          \
    wb_tcb_check(task, "xTaskNotifyFromISR")
#define traceENTER_vTaskGenericNotifyGiveFromISR(task, index, woken)                               \
    wb_tcb_check(task, "vTaskNotifyGiveFromISR")
#define traceENTER_xTaskRemoveFromEventList(list)                                                  \
    wb_tcb_check(listGET_OWNER_OF_HEAD_ENTRY(list), "xQueueSend/xSemaphoreGive")
#define traceENTER_vTaskRemoveFromUnorderedEventList(item, value)                                  \
    wb_tcb_check(listGET_LIST_ITEM_OWNER(item), "xEventGroupSetBits")
#define traceENTER_xTaskPriorityInherit(holder) wb_tcb_check(holder, "xSemaphoreTake")

// Of a task that another kernel runs, too.
#define traceRETURN_ulTaskGetRunTimeCounter(time)                                                  \
    (time) = (configRUN_TIME_COUNTER_TYPE)wb_tcb_run_time(xTask, time)

#endif
