// SPDX-License-Identifier: Apache-2.0
// FreeRTOS on one Cortex-A53 of the four: each has a kernel of its own.
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 0
#define configUSE_PORT_OPTIMISED_TASK_SELECTION 1
#define configMAX_PRIORITIES 32  // 30 of the middleware (board.toml); idle below, kernel above
#define configTICK_RATE_HZ 1000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_64_BITS
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

// What the C library keeps of a task, errno among it, lies at the top of the task's stack and moves
// along (library.c).
#define configUSE_C_RUNTIME_TLS_SUPPORT 1
#define configTLS_BLOCK_TYPE void *
#define configINIT_TLS_BLOCK(block, top) ((top) = library_begin_task(&(block), top))
#define configSET_TLS_BLOCK(block) library_use(block)
#define configDEINIT_TLS_BLOCK(block)

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
#define configINTERRUPT_CONTROLLER_BASE_ADDRESS 0x08000000
#define configINTERRUPT_CONTROLLER_CPU_INTERFACE_OFFSET 0x10000

#ifndef __ASSEMBLER__
#include <string.h>  // which the port uses

void gic_begin_tick(void);
void gic_end_tick(void);
void *library_begin_task(void **block, void *top);
void library_use(void *block);
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
