// SPDX-License-Identifier: Apache-2.0
// A lock of the Lock Unit for a few loads and stores, by the address of a word.
//
// Interrupts are off meanwhile: a core has one lock at a time, and whoever has one must not be kept
// from giving it back. The lowest core wins a tie, and whoever waits is served before all who ask
// later. A core that is held in reset gives back what it has.
//
// Memory order. An access to a device waits until the write buffer is empty. So when the lock is
// asked for, all that this core stored before is in memory (release); and when it is given back, so
// is the word. Whoever gets the lock next loads the word anew: a store removes its line from the
// other data cache as it reaches the bus, before the lock is free, and loads are not carried out
// before the device has answered (acquire). So each of these orders everything, WB_SEQ_CST as well.
#ifndef WB_RISCV_LOCK_H
#define WB_RISCV_LOCK_H

#include <stdint.h>

#include "lock_unit_regs.h"
#include "soc_regs.h"

enum { INTERRUPTS = 8 };  // of mstatus

static inline uint32_t lock(volatile uint32_t *at)
{
    uint32_t state;

    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(state)::"memory");
    *(volatile uint32_t *)(SOC_LOCK_BASE + LOCK_UNIT_ACQUIRE) = (uint32_t)at;
    __asm__ volatile("" ::: "memory");
    return state;
}

static inline void unlock(volatile uint32_t *at, uint32_t state)
{
    __asm__ volatile("" ::: "memory");
    *(volatile uint32_t *)(SOC_LOCK_BASE + LOCK_UNIT_RELEASE) = (uint32_t)at;
    __asm__ volatile("csrs mstatus, %0" ::"r"(state & INTERRUPTS) : "memory");
}

#endif
