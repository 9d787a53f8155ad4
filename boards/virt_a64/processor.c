// SPDX-License-Identifier: Apache-2.0
// What a Cortex-A53 has of its own: its number, its interrupts' mask, its timers, contexts.

#include <string.h>

#include "FreeRTOS.h"
#include "arm_board.h"
#include "guest_board.h"
#include "map.h"
#include "psci.h"

// Of the generic timers, as QEMU has them.
enum { TIMER_HZ = 62500000, NS_PER_COUNT = 1000000000 / TIMER_HZ };
enum { ENABLED = 1 << 0, IS_DUE = 1 << 2 };  // of their control registers

uint32_t board_core(void)
{
    uint64_t id;

    __asm__ volatile("mrs %0, mpidr_el1" : "=r"(id));
    return id & 0xff;
}

bool processor_has_core(uint32_t core)
{
    return psci(PSCI_AFFINITY_INFO, core, 0) >= 0;
}

void processor_begin(void)
{
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    if (hz != TIMER_HZ)
        board_failed(WB_CORE_NONE, "", "the timers do not count at 62.5 MHz: take a cortex-a53");
}

static uint64_t counts(void)
{
    uint64_t n;

    __asm__ volatile("isb\n mrs %0, cntvct_el0" : "=r"(n)::"memory");
    return n;
}

static int64_t offset_ns;  // what this board's clock is behind that of the system

void board_set_clock(int64_t behind_ns)
{
    offset_ns = behind_ns;
}

uint64_t board_now_ns(void)
{
    return counts() * NS_PER_COUNT + (uint64_t)offset_ns;
}

// An emulator that runs one core at a time goes on with the next.
void board_relax(void)
{
    __asm__ volatile("yield");
}

// An emulator has no cycles: one for each nanosecond.
uint64_t board_hz(void)
{
    return 1000000000;
}

uint32_t board_irq_save(void)
{
    uint64_t state;

    __asm__ volatile("mrs %0, daif\n msr daifset, #2" : "=r"(state)::"memory");
    return (uint32_t)state;
}

void board_irq_restore(uint32_t state)
{
    __asm__ volatile("msr daif, %0" ::"r"((uint64_t)state) : "memory");
}

void processor_irq_enable(void)
{
    __asm__ volatile("msr daifclr, #2" ::: "memory");
}

// ---- Timers -------------------------------------------------------------------------------------

static uint64_t tick_due;  // when the kernel's timer rings next, in counts

static void set_tick(void)
{
    __asm__ volatile("msr cntv_cval_el0, %0" ::"r"(tick_due));
}

void gic_begin_tick(void)
{
    tick_due = counts() + TIMER_HZ / configTICK_RATE_HZ;
    set_tick();
    __asm__ volatile("msr cntv_ctl_el0, %0" ::"r"((uint64_t)ENABLED));
}

void gic_end_tick(void)
{
    for (const uint64_t now = counts(); tick_due <= now;)
        tick_due += TIMER_HZ / configTICK_RATE_HZ;
    set_tick();
}

void tick_timer_stop(void)
{
    __asm__ volatile("msr cntv_ctl_el0, xzr");
}

void board_wake_supervisor(uint32_t us)
{
    const uint64_t due = counts() + (uint64_t)us * TIMER_HZ / 1000000;

    __asm__ volatile("msr cntp_cval_el0, %0\n msr cntp_ctl_el0, %1" ::"r"(due),
                     "r"((uint64_t)ENABLED));
}

void supervisor_timer_stop(void)
{
    __asm__ volatile("msr cntp_ctl_el0, xzr\n isb");
}

bool supervisor_timer_is_due(void)
{
    uint64_t control;

    __asm__ volatile("isb\n mrs %0, cntp_ctl_el0" : "=r"(control));
    return (control & IS_DUE) != 0;
}

void supervisor_timer_acknowledge(void)
{
    supervisor_timer_stop();
}

// ---- Contexts -----------------------------------------------------------------------------------

// As board_switch() leaves one.
void *board_context(void *stack_end, void (*entry)(void))
{
    enum { LINK = 11 };  // x30
    uint64_t *sp = (uint64_t *)(((uintptr_t)stack_end & ~(uintptr_t)15) - BOARD_CONTEXT_BYTES);

    memset(sp, 0, BOARD_CONTEXT_BYTES);
    sp[LINK] = (uintptr_t)entry;
    return sp;
}
