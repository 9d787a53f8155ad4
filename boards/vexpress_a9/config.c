// SPDX-License-Identifier: Apache-2.0
// What FreeRTOS asks of its application.

#include "freertos_board.h"

void vApplicationIdleHook(void);

void vApplicationIdleHook(void)
{
    wb_freertos_idle();
    __asm__ volatile("dsb\n wfi");
}
