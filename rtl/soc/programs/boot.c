// SPDX-License-Identifier: Apache-2.0
// Tries every part of the SoC with two cores, a line for each. Exits with how many failed.
#include "soc.h"

enum { INCREMENTS = 1000 };

static volatile uint32_t counter, arrived, interrupts[2], cause, beats, boots, ready;

__attribute__((interrupt)) void trap(void)
{
    uint32_t core, why, at;
    __asm__ volatile("csrr %0, mhartid; csrr %1, mcause; csrr %2, mepc"
                     : "=&r"(core), "=&r"(why), "=&r"(at));
    if (why == (uint32_t)SOC_CAUSE_SOFTWARE) {
        soc_write(SOC_TIMER_BASE + TIMER_SOFTWARE + 4 * core, 0);
        interrupts[core]++;
    } else if (why == (uint32_t)SOC_CAUSE_TIMER) {
        soc_write(SOC_TIMER_BASE + TIMER_COMPARE + 8 * core + 4, UINT32_MAX);
        interrupts[core]++;
    } else {
        cause = why;
        at += (*(const uint16_t *)at & 3) == 3 ? 4 : 2;  // behind the instruction that failed
        __asm__ volatile("csrw mepc, %0" ::"r"(at));
    }
}

static void enable(uint32_t interrupts_mask)
{
    __asm__ volatile("csrs mie, %0; csrsi mstatus, 8" ::"r"(interrupts_mask));
}

static void increment(void)
{
    for (int i = 0; i < INCREMENTS; i++) {
        soc_lock(&counter);
        counter = counter + 1;
        soc_unlock(&counter);
    }
    soc_lock(&counter);
    arrived = arrived + 1;
    soc_unlock(&counter);
}

static void try_locks(void)
{
    increment();
    while (arrived != 2) {}
    soc_check("2000 increments under a lock", counter == 2 * INCREMENTS);
}

static void try_interrupts(void)
{
    while (!ready) {}
    soc_write(SOC_TIMER_BASE + TIMER_SOFTWARE + 4, 1);
    while (interrupts[1] == 0) {}
    soc_check("an interrupt of the other core", interrupts[1] == 1);

    const uint32_t begin = soc_read(SOC_TIMER_BASE + TIMER_TIME);
    soc_write(SOC_TIMER_BASE + TIMER_COMPARE + 4, 0);
    soc_write(SOC_TIMER_BASE + TIMER_COMPARE, begin + 5000);
    enable(1U << 7);
    while (interrupts[0] == 0)
        __asm__ volatile("wfi");
    const uint32_t took = soc_read(SOC_TIMER_BASE + TIMER_TIME) - begin;
    soc_check("an interrupt of the timer", took >= 5000 && took < 5400);
    soc_check("cycles asleep", soc_counter(0, SOC_COUNTER_ASLEEP) > 4000);
}

static uint32_t fault_of_load(uint32_t address)
{
    cause = 0;
    (void)soc_read(address);
    return cause;
}

static uint32_t fault_of_store(uint32_t address)
{
    cause = 0;
    soc_write(address, 0);
    return cause;
}

static uint32_t fault_of_byte(uint32_t address)
{
    cause = 0;
    (void)*(volatile uint8_t *)address;
    return cause;
}

static void try_bus_errors(void)
{
    const uint32_t behind = SOC_RAM_BASE + soc_read(SOC_SYSTEM_BASE + SYSTEM_RAM_BYTES);
    soc_check("a load from nothing", fault_of_load(0x40000000) == SOC_CAUSE_LOAD_FAULT);
    soc_check("a store to nothing", fault_of_store(0x40000000) == SOC_CAUSE_STORE_FAULT);
    soc_check("a load from behind the RAM", fault_of_load(behind) == SOC_CAUSE_LOAD_FAULT);
    soc_check("a load from no register",
              fault_of_load(SOC_UART_BASE + 0x40) == SOC_CAUSE_LOAD_FAULT);
    soc_check("a store to a register that is read",
              fault_of_store(SOC_SYSTEM_BASE + SYSTEM_INFO) == SOC_CAUSE_STORE_FAULT);
    soc_check("a byte of a register",
              fault_of_byte(SOC_SYSTEM_BASE + SYSTEM_INFO) == SOC_CAUSE_LOAD_FAULT);
    soc_check("a load that works", fault_of_load(SOC_SYSTEM_BASE + SYSTEM_INFO) == 0);
}

static void try_hold(void)
{
    const uint32_t seen = beats;
    while (beats == seen) {}
    soc_write(SOC_SYSTEM_BASE + SYSTEM_HOLD, 3);
    soc_check("core 0 cannot be held", soc_read(SOC_SYSTEM_BASE + SYSTEM_HOLD) == 2);
    soc_lock(&beats);  // which the other core held
    soc_unlock(&beats);
    const uint32_t stopped = beats;
    for (volatile int i = 0; i < 1000; i++) {}
    soc_check("a core that is held stops", beats == stopped);
    soc_write(SOC_SYSTEM_BASE + SYSTEM_HOLD, 0);
    while (boots != 2) {}
    soc_check("a core that was held boots again", 1);
}

static void try_console(void)
{
    for (const char *at = "next to the line\n"; *at != '\0'; at++)
        soc_write(SOC_SYSTEM_BASE + SYSTEM_CONSOLE, (uint32_t)*at);
}

static void try_line(void)
{
    soc_put("name? ");
    char name[2] = "";
    while ((name[0] = soc_get()) != '\n')
        soc_put(name);
    soc_put("\n");
}

// Core 1: is interrupted, and then counts with a lock that it never releases.
static void follow(void)
{
    enable(1U << 3);
    ready = 1;
    while (interrupts[1] == 0)
        __asm__ volatile("wfi");
    soc_lock(&beats);
    for (;;)
        beats = beats + 1;
}

void core_main(uint32_t core)
{
    const uint32_t number = soc_read(SOC_TCM_BASE);
    if (core == 0) {
        soc_check("core 0 has its number", number == 0);
        try_locks();
        try_interrupts();
        try_bus_errors();
        try_hold();
        try_console();
        try_line();
        soc_exit(soc_failures);
    }
    boots = number == core ? boots + 1 : 100;
    if (boots > 1)
        return;
    increment();
    follow();
}
