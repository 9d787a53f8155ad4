// SPDX-License-Identifier: Apache-2.0
// Tasks of FreeRTOS as it is distributed, on core 0.
#include "rtos.h"

#include <task.h>

enum { TICK_CYCLES = configCPU_CLOCK_HZ / configTICK_RATE_HZ };

QueueHandle_t os_queues[OS_PORTS];

static StaticTask_t tcbs[RTOS_TASKS];
static uint32_t ports, tasks, ticks_left;

uint32_t rtos_port(uint32_t words)
{
    os_queues[ports] = xQueueCreate(RTOS_PORT_MESSAGES, 4 * words);
    return ports++;
}

void rtos_prefer_last(uint32_t patience_cycles)
{
    (void)patience_cycles;
}

void rtos_task(rtos_entry *entry, void *argument, void *stack, uint32_t stack_bytes, uint32_t cores)
{
    (void)cores;
    xTaskCreateStatic(entry, "", stack_bytes / sizeof(StackType_t), argument, 1, stack,
                      &tcbs[tasks++]);
}

void rtos_exit(void)
{
    vTaskSuspend(NULL);
    for (;;) {}
}

// The ticks begin with the tasks.
void rtos_end_after(uint32_t cycles)
{
    ticks_left = cycles / TICK_CYCLES;
}

void vApplicationTickHook(void)
{
    if (ticks_left > 0 && --ticks_left == 0)
        program_end();
}

void vApplicationIdleHook(void)
{
    __asm__ volatile("wfi");
}

void core_main(uint32_t core)
{
    if (core == 0) {
        program_setup();
        vTaskStartScheduler();
    }
}
