// SPDX-License-Identifier: Apache-2.0
// What a Cortex-A9 has of its own: its number, its interrupts' mask, its timers, contexts.

#include <string.h>

#include "FreeRTOS.h"
#include "arm_board.h"
#include "map.h"
#include "mpcore_clock.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

// Registers of each block by their names in Arm's manuals.
enum { SCU_CONFIG = 4, LAST_CORE = 3 };  // LAST_CORE: the bits of SCU_CONFIG
enum { GLOBAL_CONTROL = 8 };
enum { TIMER_LOAD = 0, TIMER_CONTROL = 8, TIMER_STATUS = 0xc };
enum { ENABLED = 1 << 0, AGAIN = 1 << 1, INTERRUPTS = 1 << 2 };  // of TIMER_CONTROL

uint32_t board_core(void)
{
    uint32_t id;

    __asm__ volatile("mrc p15, 0, %0, c0, c0, 5" : "=r"(id));
    return id & 3;
}

bool processor_has_core(uint32_t core)
{
    return core <= (REGISTER(MAP_SCU + SCU_CONFIG) & LAST_CORE);
}

void processor_begin(void)
{
    REGISTER(MAP_GLOBAL_TIMER + GLOBAL_CONTROL) = ENABLED;
    clock_begin();
}

// An emulator that runs one core at a time goes on with the next.
void board_relax(void)
{
    __asm__ volatile("yield");
}

uint32_t board_irq_save(void)
{
    uint32_t state;

    __asm__ volatile("mrs %0, cpsr\n cpsid i" : "=r"(state)::"memory");
    return state;
}

void board_irq_restore(uint32_t state)
{
    __asm__ volatile("msr cpsr_c, %0" ::"r"(state) : "memory");
}

void processor_irq_enable(void)
{
    __asm__ volatile("cpsie i" ::: "memory");
}

// ---- Timers -------------------------------------------------------------------------------------

static void begin_timer(uint32_t timer, uint32_t hz)
{
    REGISTER(timer + TIMER_CONTROL) = 0;
    REGISTER(timer + TIMER_STATUS) = 1;
    REGISTER(timer + TIMER_LOAD) = clock_hz() / hz - 1;
    REGISTER(timer + TIMER_CONTROL) = ENABLED | AGAIN | INTERRUPTS;
}

static void stop_timer(uint32_t timer)
{
    REGISTER(timer + TIMER_CONTROL) = 0;
    REGISTER(timer + TIMER_STATUS) = 1;
}

void gic_begin_tick(void)
{
    begin_timer(MAP_PRIVATE_TIMER, configTICK_RATE_HZ);
}

void gic_end_tick(void)
{
    REGISTER(MAP_PRIVATE_TIMER + TIMER_STATUS) = 1;
}

void tick_timer_stop(void)
{
    stop_timer(MAP_PRIVATE_TIMER);
}

void board_wake_supervisor(uint32_t us)
{
    REGISTER(MAP_WATCHDOG + TIMER_CONTROL) = 0;
    REGISTER(MAP_WATCHDOG + TIMER_LOAD) =
        (uint32_t)(((uint64_t)us * clock_hz() + 999999) / 1000000) - 1;
    REGISTER(MAP_WATCHDOG + TIMER_CONTROL) = ENABLED | INTERRUPTS;
}

void supervisor_timer_stop(void)
{
    stop_timer(MAP_WATCHDOG);
}

bool supervisor_timer_is_due(void)
{
    return (REGISTER(MAP_WATCHDOG + TIMER_STATUS) & 1) != 0;
}

void supervisor_timer_acknowledge(void)
{
    REGISTER(MAP_WATCHDOG + TIMER_STATUS) = 1;
}

// ---- Contexts -----------------------------------------------------------------------------------

// As board_switch() leaves one: d8 to d15, r4 to r11, and where to go.
void *board_context(void *stack_end, void (*entry)(void))
{
    enum { WORDS = 16 + 9 };
    uint32_t *sp = (uint32_t *)stack_end - WORDS - 1;

    memset(sp, 0, WORDS * sizeof *sp);
    sp[WORDS - 1] = (uint32_t)entry;
    return sp;
}
