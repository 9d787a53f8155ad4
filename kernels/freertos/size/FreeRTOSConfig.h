// SPDX-License-Identifier: Apache-2.0
// What an ordinary project has: as the board's, with and without Whimbrel's fragment.
#ifndef FREERTOS_SIZE_CONFIG_H
#define FREERTOS_SIZE_CONFIG_H

#define configUSE_PREEMPTION 1
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configMAX_PRIORITIES 32
#define configTICK_RATE_HZ 1000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMINIMAL_STACK_SIZE 512
#define configMAX_TASK_NAME_LEN 16
#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 0
#define configUSE_MUTEXES 1
#define configUSE_TASK_FPU_SUPPORT 2
#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configTOTAL_HEAP_SIZE 0
#define configTASK_NOTIFICATION_ARRAY_ENTRIES 2
#define configNUM_THREAD_LOCAL_STORAGE_POINTERS 1
#define configRECORD_STACK_HIGH_ADDRESS 1

#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskPrioritySet 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1

#define configUNIQUE_INTERRUPT_PRIORITIES 32
#define configMAX_API_CALL_INTERRUPT_PRIORITY 20
#define configINTERRUPT_CONTROLLER_BASE_ADDRESS 0x1e001000
#define configINTERRUPT_CONTROLLER_CPU_INTERFACE_OFFSET (-0xf00)

#ifndef __ASSEMBLER__
void begin_tick(void);
void end_tick(void);
_Noreturn void wb_freertos_asserted(const char *file, int line);
#endif
#define configSETUP_TICK_INTERRUPT() begin_tick()
#define configCLEAR_TICK_INTERRUPT() end_tick()
#define configASSERT(x)                                                                            \
    do {                                                                                           \
        if (!(x))                                                                                  \
            wb_freertos_asserted(__FILE__, __LINE__);                                              \
    } while (0)

#ifdef WITH_WHIMBREL
#include "whimbrel_freertos.h"
#endif

#endif
