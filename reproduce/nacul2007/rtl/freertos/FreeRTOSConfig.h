/* SPDX-License-Identifier: Apache-2.0 */
/* FreeRTOS with what the measured programs need, and no checks: as fast as it is. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configCPU_CLOCK_HZ 10000000U
#define configTICK_RATE_HZ 1000U
#define configMTIME_BASE_ADDRESS 0x0200BFF8U
#define configMTIMECMP_BASE_ADDRESS 0x02004000U
#define configISR_STACK_SIZE_WORDS 256

#define configUSE_PREEMPTION 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configMAX_PRIORITIES 4
#define configMINIMAL_STACK_SIZE 128
#define configMAX_TASK_NAME_LEN 4
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 1
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configSUPPORT_STATIC_ALLOCATION 1
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configTOTAL_HEAP_SIZE 16384
#define configUSE_TASK_NOTIFICATIONS 0
#define configUSE_MUTEXES 0
#define configUSE_TIMERS 0

#define INCLUDE_vTaskSuspend 1

#endif
