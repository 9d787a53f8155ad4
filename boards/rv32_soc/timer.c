// SPDX-License-Identifier: Apache-2.0
// Time: one counter of cycles for all cores, and for each core one alarm, which three things share.

#include "rv32_soc.h"
#include "wb/wb.h"

enum {
    NS_PER_CYCLE = 100,
    HZ = 1000000000 / NS_PER_CYCLE,
    HEARTBEAT_CYCLES = HZ / 50,
    TIMESLICE_NS = 2000000,
};

#define NEVER UINT64_MAX

// In cycles; of this core.
static struct {
    uint64_t kernel, heartbeat, supervisor, set;
} due WB_PRIVATE;

static volatile bool pausing;
static volatile uint32_t pulses[BOARD_CORES];  // each is written by its core

// The time at the last heartbeat, many of which there are in 2^32 cycles: of the present time the
// low half is read alone. An access to a device waits for all stores.
static struct {
    volatile uint32_t high, low;
} last WB_PRIVATE;

static uint64_t now(void)
{
    uint32_t high, low, from;

    do {
        from = last.low;
        high = last.high;
        low = REGISTER(SOC_TIMER_BASE + TIMER_TIME);
    } while (last.low != from);
    return (uint64_t)(high + (low < from)) << 32 | low;
}

static void remember(uint64_t cycles)
{
    last.high = (uint32_t)(cycles >> 32);
    last.low = (uint32_t)cycles;
}

__attribute__((hot)) uint64_t board_now_ns(void)
{
    return now() * NS_PER_CYCLE;
}

uint64_t board_hz(void)
{
    return HZ;
}

uint64_t board_timeslice_ns(void)
{
    return TIMESLICE_NS;
}

uint32_t board_heartbeat(uint32_t core)
{
    return pulses[core];
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// The high half last, so that no moment in between is early.
static void set(void)
{
    const uint32_t at = SOC_TIMER_BASE + TIMER_COMPARE + 8 * board_core();
    const uint64_t next = earlier(due.kernel, earlier(due.heartbeat, due.supervisor));

    if (next == due.set)
        return;
    due.set = next;
    REGISTER(at + 4) = UINT32_MAX;
    REGISTER(at) = (uint32_t)next;
    REGISTER(at + 4) = (uint32_t)(next >> 32);
}

void timer_begin(void)
{
    const uint32_t at = SOC_TIMER_BASE + TIMER_TIME;
    uint32_t high;

    do {
        high = REGISTER(at + 4);
        remember((uint64_t)high << 32 | REGISTER(at));
    } while (REGISTER(at + 4) != high);
    due.kernel = due.supervisor = NEVER;
    due.heartbeat = now() + HEARTBEAT_CYCLES;
    due.set = 0;
    set();
}

// Dividing 64 bits would take hundreds of cycles: who waits for longer than four seconds looks in
// between.
static uint64_t cycles_at(uint64_t at_ns)
{
    const uint64_t cycles = now(), now_ns = cycles * NS_PER_CYCLE;

    if (at_ns <= now_ns)
        return cycles;
    const uint64_t ns = at_ns - now_ns;
    return cycles + (uint32_t)(ns < UINT32_MAX ? ns : UINT32_MAX) / NS_PER_CYCLE + 1;
}

void board_alarm(uint64_t at_ns)
{
    const uint32_t irq_state = board_irq_save();

    due.kernel = at_ns == WB_FOREVER ? NEVER : cycles_at(at_ns);
    set();
    board_irq_restore(irq_state);
}

void board_wake_supervisor(uint32_t us)
{
    const uint32_t irq_state = board_irq_save();

    due.supervisor = now() + us * (HZ / 1000000);
    set();
    board_irq_restore(irq_state);
}

// A launcher that waits is woken where it waits.
static void wake_supervisor(void)
{
    due.supervisor = NEVER;
    set();
    if (!pausing)
        board_supervisor();
    pausing = false;
}

void timer_interrupt(void)
{
    const uint64_t cycles = now();

    if (due.heartbeat <= cycles) {
        pulses[board_core()]++;
        remember(cycles);
        due.heartbeat = cycles + HEARTBEAT_CYCLES;
    }
    if (due.kernel <= cycles) {
        due.kernel = NEVER;
        wb_riscv_attend();
    }
    set();
    if (due.supervisor <= cycles)
        wake_supervisor();
}

void board_pause(uint32_t us)
{
    pausing = true;
    board_wake_supervisor(us);
    const uint32_t irq_state = board_irq_save();
    while (pausing) {
        board_sleep();
        board_irq_restore(UINT32_MAX);
        (void)board_irq_save();
    }
    board_irq_restore(irq_state);
}

__attribute__((weak)) void board_supervisor(void) {}
