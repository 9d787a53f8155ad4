// SPDX-License-Identifier: Apache-2.0
// FreeRTOS on one Cortex-A53 of the four: each has a kernel of its own.
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_64_BITS

// What the C library keeps of a task, errno among it, lies at the top of the task's stack and moves
// along (library.c).
#define configUSE_C_RUNTIME_TLS_SUPPORT 1
#define configTLS_BLOCK_TYPE void *
#define configINIT_TLS_BLOCK(block, top) ((top) = library_begin_task(&(block), top))
#define configSET_TLS_BLOCK(block) library_use(block)
#define configDEINIT_TLS_BLOCK(block)

#define configINTERRUPT_CONTROLLER_BASE_ADDRESS 0x08000000
#define configINTERRUPT_CONTROLLER_CPU_INTERFACE_OFFSET 0x10000

#ifndef __ASSEMBLER__
#include <string.h>  // which the port uses

void *library_begin_task(void **block, void *top);
void library_use(void *block);
#endif

#include "freertos_on_arm.h"

#endif
