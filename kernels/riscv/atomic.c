// SPDX-License-Identifier: Apache-2.0
// The compiler's functions for atomic operations on words, for cores without atomic instructions:
// a load and a store between which the core has the word's lock of the Lock Unit.
//
// Interrupts are off meanwhile: a core has one lock at a time, and whoever has one must not be kept
// from giving it back. It is held for a load and a store. The lowest core wins a tie, and whoever
// waits is served before all who ask later.
//
// Memory order. An access to a device waits until the write buffer is empty. So when the lock is
// asked for, all that this core stored before is in memory (release); and when it is given back, so
// is the word. Whoever gets the lock next loads the word anew: a store removes its line from the
// other data cache as it reaches the bus, before the lock is free, and loads are not carried out
// before the device has answered (acquire). So each of these orders everything, WB_SEQ_CST as well.

#include <stdbool.h>
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

// The compiler knows these names, with types of its own.
#define UPDATE(name, next)                                                                         \
    uint32_t name(volatile uint32_t *at, uint32_t with,                                            \
                  int order) __asm__("__atomic_" #name "_4");                                      \
    uint32_t name(volatile uint32_t *at, uint32_t with, int order)                                 \
    {                                                                                              \
        const uint32_t state = lock(at), last = *at;                                               \
                                                                                                   \
        (void)order;                                                                               \
        *at = next;                                                                                \
        unlock(at, state);                                                                         \
        return last;                                                                               \
    }

UPDATE(exchange, with)
UPDATE(fetch_add, last + with)
UPDATE(fetch_sub, last - with)
UPDATE(fetch_and, last &with)
UPDATE(fetch_or, last | with)

bool compare_exchange(volatile uint32_t *at, uint32_t *expected, uint32_t next, bool weak, int yes,
                      int no) __asm__("__atomic_compare_exchange_4");

bool compare_exchange(volatile uint32_t *at, uint32_t *expected, uint32_t next, bool weak, int yes,
                      int no)
{
    const uint32_t state = lock(at), last = *at;
    const bool same = last == *expected;

    (void)weak;
    (void)yes;
    (void)no;
    if (same)
        *at = next;
    unlock(at, state);
    if (!same)
        *expected = last;
    return same;
}
