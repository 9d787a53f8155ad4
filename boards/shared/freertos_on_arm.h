// SPDX-License-Identifier: Apache-2.0
// What the FreeRTOSConfig.h of boards of Arm processors have alike: each includes this at its end.
#ifndef FREERTOS_ON_ARM_H
#define FREERTOS_ON_ARM_H

#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 0
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configMAX_PRIORITIES 32  // 30 of the middleware (board.toml); idle below, kernel above
#define configTICK_RATE_HZ 1000
#define configMINIMAL_STACK_SIZE 512
#define configMAX_TASK_NAME_LEN 16
#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 0
#define configUSE_MUTEXES 1
#define configUSE_TASK_FPU_SUPPORT 2
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configTOTAL_HEAP_SIZE 0  // each kernel says where its own lies
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configTASK_NOTIFICATION_ARRAY_ENTRIES 2
#define configCHECK_FOR_STACK_OVERFLOW 0

#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskDelete 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_uxTaskPriorityGet 1
#define INCLUDE_xTaskGetCurrentTaskHandle 1
#define INCLUDE_xTaskAbortDelay 1
#define INCLUDE_xTaskResumeFromISR 1
#define INCLUDE_eTaskGetState 1
#define INCLUDE_xTaskGetHandle 1
#define INCLUDE_uxTaskGetStackHighWaterMark 1
#define configUSE_APPLICATION_TASK_TAG 1

// The interrupt controller has 32 priorities; above 20, interrupts may call FreeRTOS.
#define configUNIQUE_INTERRUPT_PRIORITIES 32
#define configMAX_API_CALL_INTERRUPT_PRIORITY 20

#ifndef __ASSEMBLER__
void gic_begin_tick(void);
void gic_end_tick(void);
_Noreturn void wb_freertos_asserted(const char *file, int line);
#endif
#define configSETUP_TICK_INTERRUPT() gic_begin_tick()
#define configCLEAR_TICK_INTERRUPT() gic_end_tick()
#define configASSERT(x)                                                                            \
    do {                                                                                           \
        if (!(x))                                                                                  \
            wb_freertos_asserted(__FILE__, __LINE__);                                              \
    } while (0)

#include "whimbrel_freertos.h"

#endif
