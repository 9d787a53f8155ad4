// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder need of the SoC.
#ifndef SOC_H
#define SOC_H

#include <stdint.h>

#include "lock_unit_regs.h"
#include "soc_regs.h"

/// What each core runs: start.S calls it, with a stack of its own.
void core_main(uint32_t core);
/// Every interrupt and exception of a core; mepc is where it goes on.
void trap(void);

static inline void soc_write(uint32_t address, uint32_t value)
{
    *(volatile uint32_t *)address = value;
}

static inline uint32_t soc_read(uint32_t address)
{
    return *(volatile uint32_t *)address;
}

// The Lock Unit's answers order the stores and loads of this core, and these the compiler's.
static inline void soc_lock(const volatile void *address)
{
    soc_write(SOC_LOCK_BASE + LOCK_UNIT_ACQUIRE, (uint32_t)address);
    __asm__ volatile("" ::: "memory");
}

static inline void soc_unlock(const volatile void *address)
{
    __asm__ volatile("" ::: "memory");
    soc_write(SOC_LOCK_BASE + LOCK_UNIT_RELEASE, (uint32_t)address);
}

static inline uint32_t soc_cycles(void)
{
    uint32_t cycles;
    __asm__ volatile("csrr %0, mcycle" : "=r"(cycles)::"memory");
    return cycles;
}

static inline uint32_t soc_counter(uint32_t core, enum soc_counter which)
{
    return soc_read(SOC_SYSTEM_BASE + SYSTEM_COUNTERS + 32 * core + 4 * which);
}

/// Over the serial line: waits for room.
void soc_put(const char *text);
void soc_put_number(uint32_t number);
/// Waits for a byte.
char soc_get(void);
/// Prints whether something is as it should be, and counts what is not.
void soc_check(const char *what, int good);
extern uint32_t soc_failures;
/// Ends the simulation, when all is sent.
__attribute__((noreturn)) void soc_exit(uint32_t code);

#endif
