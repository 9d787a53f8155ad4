// SPDX-License-Identifier: Apache-2.0
// FreeRTOS on one Cortex-A9 of the four: each has a kernel of its own.
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "map.h"

#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configUSE_POSIX_ERRNO 1

// newlib's part of a task (reent.c). The TCB needs nothing for it.
#define configUSE_C_RUNTIME_TLS_SUPPORT 1
#define configTLS_BLOCK_TYPE char
#define configINIT_TLS_BLOCK(block, stack)
#define configSET_TLS_BLOCK(block)                                                                 \
    board_use_reent(pxCurrentTCB->pvThreadLocalStoragePointers[WB_FREERTOS_POINTER])
#define configDEINIT_TLS_BLOCK(block)

#define configINTERRUPT_CONTROLLER_BASE_ADDRESS MAP_GICD
#define configINTERRUPT_CONTROLLER_CPU_INTERFACE_OFFSET (MAP_GICC - MAP_GICD)

#ifndef __ASSEMBLER__
void board_use_reent(const void *task);
#endif

#include "freertos_on_arm.h"

#endif
