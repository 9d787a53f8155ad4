// SPDX-License-Identifier: Apache-2.0
// Interrupts of a GICv2. Doorbells are software-generated interrupts; those that ring a guest from
// elsewhere are a device's.

#include "FreeRTOS.h"
#include "arm_board.h"
#include "map.h"

enum {
    DOORBELL = 0,
    KILL = 15,
    KILL_PRIORITY = 2,
    LINE_PRIORITY = 3,
    SUPERVISOR_PRIORITY = 4,
    HALTED_PRIORITY = 8,  // what a core that has been halted still listens to
    DOORBELL_PRIORITY = 24,
    PRIORITY_SHIFT = 3,
    IRQS_OFF = 1 << 7,  // of what board_irq_save() returns: CPSR, or DAIF
};

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define BYTE(address) (*(volatile uint8_t *)(uintptr_t)(address))

// The interface of each core, and the distributor (MAP_GICC, MAP_GICD): registers by their names in
// Arm's manual.
enum { GICC_CTLR = 0, GICC_PMR = 4, GICC_BPR = 8, GICC_IAR = 0xc, GICC_EOIR = 0x10 };
enum {
    GICD_CTLR = 0,
    GICD_ISENABLER = 0x100,
    GICD_ICPENDR = 0x280,
    GICD_ISACTIVER = 0x300,
    GICD_IPRIORITYR = 0x400,  // a byte for each interrupt
    GICD_ITARGETSR = 0x800,   // as well
    GICD_ICFGR = 0xc00,       // two bits for each interrupt; the second: edge-triggered
    GICD_SGIR = 0xf00,
};

void FreeRTOS_Tick_Handler(void);

static void send(uint32_t core, uint32_t interrupt)
{
    // What the interrupt is about has been written before.
    __asm__ volatile("dsb sy" ::: "memory");
    REGISTER(MAP_GICD + GICD_SGIR) = (0x10000u << core) | interrupt;
}

void gic_ring(uint32_t core)
{
    send(core, DOORBELL);
}

// Weak: a guest has cores by the numbers of its system.
__attribute__((weak)) void board_ring(uint32_t core)
{
    gic_ring(core);
}

void gic_stop(uint32_t core)
{
    send(core, KILL);
}

static void set_priority(uint32_t interrupt, uint32_t priority)
{
    BYTE(MAP_GICD + GICD_IPRIORITYR + interrupt) = (uint8_t)(priority << PRIORITY_SHIFT);
}

__attribute__((weak)) uint64_t board_timeslice_ns(void)
{
    return 1000000;
}

static volatile bool pausing;

static void wait_for_interrupt(void)
{
    const uint32_t irq_state = board_irq_save();

    if (pausing)
        __asm__ volatile("dsb sy\n wfi" ::: "memory");
    board_irq_restore(irq_state);
}

// Asleep, if the timer's interrupt can wake it: not where it has interrupted a kernel that has been
// killed since, and is not over, nor where interrupts are off, as in a kernel that fails while it
// starts.
void board_pause(uint32_t us)
{
    const uint32_t irq_state = board_irq_save();
    const bool wakes = (irq_state & IRQS_OFF) == 0 &&
                       (REGISTER(MAP_GICD + GICD_ISACTIVER) >> MAP_SUPERVISOR_IRQ & 1) == 0;
    board_irq_restore(irq_state);

    pausing = true;
    board_wake_supervisor(us);
    while (pausing && (wakes || !supervisor_timer_is_due()))
        if (wakes)
            wait_for_interrupt();
        else
            board_relax();
    pausing = false;
    supervisor_timer_stop();
}

__attribute__((weak)) void board_supervisor(void) {}

// How many interrupts of its timer each core has taken. Globally visible; each word has one writer.
static struct {
    _Alignas(64) volatile uint32_t n;
} pulses[MAP_CORES] __attribute__((section(".gvm")));

uint32_t board_heartbeat(uint32_t core)
{
    return pulses[core].n;
}

// An emulator under load loses ticks: there are as many as the clock says.
static void tick(void)
{
    static uint64_t next_ns;
    const uint64_t now_ns = board_now_ns(), period_ns = 1000000000 / configTICK_RATE_HZ;

    pulses[board_core()].n++;
    for (next_ns = next_ns != 0 ? next_ns : now_ns; next_ns <= now_ns; next_ns += period_ns) {
        FreeRTOS_Tick_Handler();
        // It returns with interrupts on, and begins with them off.
        (void)board_irq_save();
    }
    // QEMU before 8.1 would give a core that never waits all the instructions that it counts.
    if (now_ns / period_ns % MAP_CORES != board_core())
        board_relax();
}

static void end_interrupt(uint32_t interrupt)
{
    REGISTER(MAP_GICC + GICC_EOIR) = interrupt;
}

// Those of a former life, the most urgent first. Of a software-generated one, whoever sent it.
static void end_active(void)
{
    static const uint8_t by_urgency[] = { KILL, MAP_SUPERVISOR_IRQ, DOORBELL, MAP_TICK_IRQ };

    for (uint32_t i = 0; i < sizeof by_urgency; i++)
        for (uint32_t from = 0;
             (REGISTER(MAP_GICD + GICD_ISACTIVER) >> by_urgency[i] & 1) != 0 && from < 4; from++)
            end_interrupt(from << 10 | by_urgency[i]);
}

// Interrupts that are due. Of a core that stopped by itself, at its fence: what was to stop it.
static void drop_due(uint32_t more_urgent_than)
{
    enum { NOTHING = 0x3ff };

    REGISTER(MAP_GICC + GICC_PMR) = more_urgent_than << PRIORITY_SHIFT;
    for (uint32_t id; ((id = REGISTER(MAP_GICC + GICC_IAR)) & NOTHING) != NOTHING;)
        end_interrupt(id);
}

// An interrupt of a device, to a core whatever it does.
static void begin_shared(uint32_t interrupt, uint32_t priority, uint32_t core)
{
    set_priority(interrupt, priority);
    BYTE(MAP_GICD + GICD_ITARGETSR + interrupt) = (uint8_t)(1u << core);
    REGISTER(MAP_GICD + GICD_ISENABLER + interrupt / 32 * 4) = 1u << interrupt % 32;
}

// Interrupts by which others than this board's cores ring them. Globally visible, as all cores take
// some.
static struct {
    uint32_t first, n;
} doorbells __attribute__((section(".gvm")));

void gic_begin_doorbells(uint32_t first, uint32_t n)
{
    doorbells.first = first;
    doorbells.n = n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t doorbell = first + i;
        REGISTER(MAP_GICD + GICD_ICFGR + doorbell / 16 * 4) |= 2u << doorbell % 16 * 2;
        begin_shared(doorbell, DOORBELL_PRIORITY, i);
    }
}

void gic_core(uint32_t core)
{
    if (core == 0) {
        processor_begin();
        REGISTER(MAP_GICD + GICD_CTLR) = 1;
        begin_shared(MAP_LINE_IRQ, LINE_PRIORITY, 0);
    }
    set_priority(DOORBELL, DOORBELL_PRIORITY);
    set_priority(KILL, KILL_PRIORITY);
    set_priority(MAP_TICK_IRQ, portLOWEST_USABLE_INTERRUPT_PRIORITY);
    set_priority(MAP_SUPERVISOR_IRQ, SUPERVISOR_PRIORITY);
    tick_timer_stop();
    supervisor_timer_stop();
    REGISTER(MAP_GICD + GICD_ICPENDR) = 1u << MAP_TICK_IRQ | 1u << MAP_SUPERVISOR_IRQ;
    end_active();
    REGISTER(MAP_GICD + GICD_ISENABLER) = 1u << MAP_TICK_IRQ | 1u << MAP_SUPERVISOR_IRQ | 0xffff;
    REGISTER(MAP_GICC + GICC_BPR) = 0;
    REGISTER(MAP_GICC + GICC_CTLR) = 1;
    drop_due(core == 0 ? LINE_PRIORITY : 0xff >> PRIORITY_SHIFT);
    REGISTER(MAP_GICC + GICC_PMR) = 0xff;
}

// FreeRTOS's port has saved what the floating-point unit holds, and ends the interrupt.
void vApplicationFPUSafeIRQHandler(uint32_t acknowledged)
{
    switch (acknowledged & 0x3ff) {
    case DOORBELL:
        wb_freertos_doorbell();
        break;
    case KILL:
        board_restart(board_core());
    case MAP_TICK_IRQ:
        tick();
        break;
    case MAP_SUPERVISOR_IRQ:
        supervisor_timer_acknowledge();
        if (!pausing)
            board_supervisor();
        pausing = false;
        break;
    case MAP_LINE_IRQ:
        uart_interrupt();
        break;
    default:
        if ((acknowledged & 0x3ff) - doorbells.first < doorbells.n)
            wb_freertos_doorbell();
        break;
    }
    __asm__ volatile("clrex");
}

void board_halt(void)
{
    const uint32_t self = board_core();

    REGISTER(MAP_GICC + GICC_PMR) = HALTED_PRIORITY << PRIORITY_SHIFT;
    for (uint32_t i = 0; i < MAP_CORES; i++)
        if (i != self && i != 0)
            gic_stop(i);
    processor_irq_enable();
    for (;;)
        __asm__ volatile("wfi");
}
