// SPDX-License-Identifier: Apache-2.0
// Ports of the HW-RTOS. A send is visible at once; whoever sends knows that there is room.
#ifndef OS_H
#define OS_H

#include <stdbool.h>
#include <stdint.h>

#include "hw_rtos_regs.h"
#include "soc.h"

enum { RTOS_SEND_WAITS = false };

/// Waits until there is a message: a function of C.
void hw_wait(uint32_t port);

/// The same inside the function that waits: nothing stays in registers, so nothing is stored but
/// what the compiler needs afterwards.
static inline void hw_wait_here(uint32_t port)
{
    register uint32_t a0 __asm__("a0") = port;

    __asm__ volatile("jal t0, hw_wait_here\n\t"
                     "sw zero, %1(a5)"
                     : "+r"(a0)
                     : "i"(HW_RTOS_SAVED)
                     : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s0", "s1", "s2", "s3", "s4",
                       "s5", "s6", "s7", "s8", "s9", "s10", "s11", "a1", "a2", "a3", "a4", "a5",
                       "a6", "a7", "memory");
}

static inline void hw_receive(uint32_t port, uint32_t *message, uint32_t words,
                              void (*wait)(uint32_t port))
{
    const uint32_t at = SOC_RTOS_BASE + 4 * port;

    if (!(soc_read(at + HW_RTOS_PORT_STATE) & HW_RTOS_PORT_STATE_MESSAGE))
        wait(port);
    for (; words > 0; words--)
        *message++ = soc_read(at + HW_RTOS_RECEIVE);
    __asm__ volatile("" ::: "memory");
}

static inline void rtos_receive(uint32_t port, uint32_t *message, uint32_t words)
{
    hw_receive(port, message, words, hw_wait);
}

static inline void rtos_receive_here(uint32_t port, uint32_t *message, uint32_t words)
{
    hw_receive(port, message, words, hw_wait_here);
}

static inline void rtos_send(uint32_t port, const uint32_t *message, uint32_t words)
{
    const uint32_t at = SOC_RTOS_BASE + 4 * port;

    __asm__ volatile("" ::: "memory");
    for (; words > 1; words--)
        soc_write(at + HW_RTOS_SEND_NOW_MORE, *message++);
    soc_write(at + HW_RTOS_SEND_NOW, *message);
}

#endif
