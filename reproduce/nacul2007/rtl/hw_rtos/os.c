// SPDX-License-Identifier: Apache-2.0
// Tasks of the HW-RTOS.
#include "rtos.h"

enum { CONTEXT_WORDS = 16, PC = 0, SP = 1 };

// For switch.S, which knows their layout. A context has four lines of the data cache.
_Alignas(64) uint32_t hw_contexts[RTOS_TASKS][CONTEXT_WORDS];

void hw_first(void);
__attribute__((noreturn)) void hw_idle(void);

static uint32_t ports, tasks, extra = HW_RTOS_TASK_CONFIG_VALID;
static volatile uint32_t ready;

static void write_register(uint32_t offset, uint32_t index, uint32_t value)
{
    soc_write(SOC_RTOS_BASE + offset + 4 * index, value);
}

uint32_t rtos_port(uint32_t words)
{
    const uint32_t info = soc_read(SOC_RTOS_BASE + HW_RTOS_INFO);

    if (ports == (info >> 16 & 0xFF) || words > info >> 24)
        soc_exit(RTOS_TOO_SMALL);
    return ports++;
}

void rtos_prefer_last(uint32_t patience_cycles)
{
    extra |= HW_RTOS_TASK_CONFIG_PREFERS_LAST;
    write_register(HW_RTOS_PATIENCE, 0, patience_cycles);
}

void rtos_task(rtos_entry *entry, void *argument, void *stack, uint32_t stack_bytes, uint32_t cores)
{
    uint32_t *top = (uint32_t *)((uint8_t *)stack + stack_bytes - 16);

    top[0] = (uint32_t)entry;
    top[1] = (uint32_t)argument;
    hw_contexts[tasks][PC] = (uint32_t)hw_first;
    hw_contexts[tasks][SP] = (uint32_t)top;
    write_register(HW_RTOS_TASK_CONFIG, tasks++,
                   cores << HW_RTOS_TASK_CONFIG_AFFINITY_SHIFT | extra);
}

void rtos_exit(void)
{
    write_register(HW_RTOS_CALL_RTOS, 0, HW_RTOS_CALL_EXIT);
    write_register(HW_RTOS_SAVED, 0, 0);  // nothing of it is of use
    hw_idle();
}

void rtos_end_after(uint32_t cycles)
{
    const uint32_t now = soc_read(SOC_TIMER_BASE + TIMER_TIME);

    soc_write(SOC_TIMER_BASE + TIMER_COMPARE + 4, 0);
    soc_write(SOC_TIMER_BASE + TIMER_COMPARE, now + cycles);
    __asm__ volatile("csrs mie, %0" ::"r"(1U << 7));
}

// An exception, for switch.S.
__attribute__((noreturn)) void hw_trapped(uint32_t cause, uint32_t at, uint32_t value)
{
    soc_put("trapped: mcause, mepc, mtval ");
    soc_put_number(cause);
    soc_put(" ");
    soc_put_number(at);
    soc_put(" ");
    soc_put_number(value);
    soc_put("\n");
    soc_exit(RTOS_TRAPPED);
}

void core_main(uint32_t core)
{
    if (core == 0) {
        program_setup();
        ready = 1;
    }
    while (!ready) {}
    soc_write(SOC_RTOS_BASE + HW_RTOS_CALL_RTOS, 0);
    hw_idle();
}
