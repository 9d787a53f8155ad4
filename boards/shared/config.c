// SPDX-License-Identifier: Apache-2.0
// What FreeRTOS asks of its application.

#include "FreeRTOS.h"
#include "freertos_board.h"

#if configUSE_IDLE_HOOK != 1
#error "configUSE_IDLE_HOOK is 0: a core that has nothing to do sleeps there, so set it to 1"
#endif

void vApplicationIdleHook(void);

void vApplicationIdleHook(void)
{
    wb_freertos_idle();
    __asm__ volatile("dsb sy\n wfi");
}
