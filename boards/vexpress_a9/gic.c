// SPDX-License-Identifier: Apache-2.0
// Interrupts and timers of the Cortex-A9 MPCore: doorbells are software-generated interrupts.

#include "FreeRTOS.h"
#include "board_a9.h"
#include "map.h"

enum {
    DOORBELL = 0,
    KILL = 15,
    TICK = 29,        // the private timer
    SUPERVISOR = 30,  // the private watchdog, as a timer
    LINE = 37,        // the first UART
    KILL_PRIORITY = 2,
    LINE_PRIORITY = 3,
    SUPERVISOR_PRIORITY = 4,
    HALTED_PRIORITY = 8,  // what a core that has been halted still listens to
    DOORBELL_PRIORITY = 24,
    PRIORITY_SHIFT = 3,
    TIMER_HZ = 100000000,
    NS_PER_COUNT = 1000000000 / TIMER_HZ,
};

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define BYTE(address) (*(volatile uint8_t *)(address))

// What is private to a core of the MPCore, and what its cores share: each block, and registers of
// it by their names in Arm's manuals.
#define SCU 0x1e000000
enum { SCU_CTRL = 0, SCU_CONFIG = 4, LAST_CORE = 3 };  // LAST_CORE: the bits of SCU_CONFIG
#define GICC 0x1e000100
enum { GICC_CTLR = 0, GICC_PMR = 4, GICC_BPR = 8, GICC_IAR = 0xc, GICC_EOIR = 0x10 };
#define GLOBAL_TIMER 0x1e000200
enum { GLOBAL_LOW = 0, GLOBAL_HIGH = 4, GLOBAL_CONTROL = 8 };
#define PRIVATE_TIMER 0x1e000600
#define WATCHDOG 0x1e000620
enum { TIMER_LOAD = 0, TIMER_CONTROL = 8, TIMER_STATUS = 0xc };
enum { ENABLED = 1 << 0, AGAIN = 1 << 1, INTERRUPTS = 1 << 2 };  // of TIMER_CONTROL
#define GICD 0x1e001000
enum {
    GICD_CTLR = 0,
    GICD_ISENABLER = 0x100,
    GICD_ICPENDR = 0x280,
    GICD_ISACTIVER = 0x300,
    GICD_IPRIORITYR = 0x400,  // a byte for each interrupt
    GICD_ITARGETSR = 0x800,   // as well
    GICD_SGIR = 0xf00,
};

void FreeRTOS_Tick_Handler(void);

uint32_t board_core(void)
{
    uint32_t id;

    __asm__ volatile("mrc p15, 0, %0, c0, c0, 5" : "=r"(id));
    return id & 3;
}

bool gic_has_core(uint32_t core)
{
    return core <= (REGISTER(SCU + SCU_CONFIG) & LAST_CORE);
}

uint64_t board_now_ns(void)
{
    uint32_t high, low;

    do {
        high = REGISTER(GLOBAL_TIMER + GLOBAL_HIGH);
        low = REGISTER(GLOBAL_TIMER + GLOBAL_LOW);
    } while (high != REGISTER(GLOBAL_TIMER + GLOBAL_HIGH));
    return ((uint64_t)high << 32 | low) * NS_PER_COUNT;
}

// An emulator that runs one core at a time goes on with the next.
void board_relax(void)
{
    __asm__ volatile("yield");
}

// Of Arm's core tile; QEMU has no cycles.
uint64_t board_hz(void)
{
    return 400000000;
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

static void send(uint32_t core, uint32_t interrupt)
{
    // What the interrupt is about has been written before.
    __asm__ volatile("dsb" ::: "memory");
    REGISTER(GICD + GICD_SGIR) = (0x10000u << core) | interrupt;
}

void board_ring(uint32_t core)
{
    send(core, DOORBELL);
}

void gic_stop(uint32_t core)
{
    send(core, KILL);
}

static void set_priority(uint32_t interrupt, uint32_t priority)
{
    BYTE(GICD + GICD_IPRIORITYR + interrupt) = (uint8_t)(priority << PRIORITY_SHIFT);
}

static void begin_timer(uint32_t timer, uint32_t hz)
{
    REGISTER(timer + TIMER_CONTROL) = 0;
    REGISTER(timer + TIMER_STATUS) = 1;
    REGISTER(timer + TIMER_LOAD) = TIMER_HZ / hz - 1;
    REGISTER(timer + TIMER_CONTROL) = ENABLED | AGAIN | INTERRUPTS;
}

static void stop(uint32_t timer)
{
    REGISTER(timer + TIMER_CONTROL) = 0;
    REGISTER(timer + TIMER_STATUS) = 1;
}

void gic_begin_tick(void)
{
    begin_timer(PRIVATE_TIMER, configTICK_RATE_HZ);
}

void gic_end_tick(void)
{
    REGISTER(PRIVATE_TIMER + TIMER_STATUS) = 1;
}

void board_wake_supervisor(uint32_t us)
{
    REGISTER(WATCHDOG + TIMER_CONTROL) = 0;
    REGISTER(WATCHDOG + TIMER_LOAD) = us * (TIMER_HZ / 1000000) - 1;
    REGISTER(WATCHDOG + TIMER_CONTROL) = ENABLED | INTERRUPTS;
}

uint64_t board_timeslice_ns(void)
{
    return 1000000;
}

static volatile bool pausing;

static void wait_for_interrupt(void)
{
    const uint32_t irq_state = board_irq_save();

    if (pausing)
        __asm__ volatile("dsb\n wfi" ::: "memory");
    board_irq_restore(irq_state);
}

// Asleep, if the timer's interrupt can wake it: not where it has interrupted a kernel that has been
// killed since, and is not over.
void board_pause(uint32_t us)
{
    const bool wakes = (REGISTER(GICD + GICD_ISACTIVER) >> SUPERVISOR & 1) == 0;

    pausing = true;
    board_wake_supervisor(us);
    while (pausing && (wakes || (REGISTER(WATCHDOG + TIMER_STATUS) & 1) == 0))
        if (wakes)
            wait_for_interrupt();
        else
            board_relax();
    pausing = false;
    stop(WATCHDOG);
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
    for (next_ns = next_ns != 0 ? next_ns : now_ns; next_ns <= now_ns; next_ns += period_ns)
        FreeRTOS_Tick_Handler();
    // QEMU before 8.1 would give a core that never waits all the instructions that it counts.
    if (now_ns / period_ns % MAP_CORES != board_core())
        board_relax();
}

static void end_interrupt(uint32_t interrupt)
{
    REGISTER(GICC + GICC_EOIR) = interrupt;
}

// Those of a former life, the most urgent first. Of a software-generated one, whoever sent it.
static void end_active(void)
{
    static const uint8_t by_urgency[] = { KILL, SUPERVISOR, DOORBELL, TICK };

    for (uint32_t i = 0; i < sizeof by_urgency; i++)
        for (uint32_t from = 0;
             (REGISTER(GICD + GICD_ISACTIVER) >> by_urgency[i] & 1) != 0 && from < 4; from++)
            end_interrupt(from << 10 | by_urgency[i]);
}

// Interrupts that are due. Of a core that stopped by itself, at its fence: what was to stop it.
static void drop_due(uint32_t more_urgent_than)
{
    enum { NOTHING = 0x3ff };

    REGISTER(GICC + GICC_PMR) = more_urgent_than << PRIORITY_SHIFT;
    for (uint32_t id; ((id = REGISTER(GICC + GICC_IAR)) & NOTHING) != NOTHING;)
        end_interrupt(id);
}

// To the first core, whatever it does.
static void begin_line(void)
{
    set_priority(LINE, LINE_PRIORITY);
    BYTE(GICD + GICD_ITARGETSR + LINE) = 1;
    REGISTER(GICD + GICD_ISENABLER + LINE / 32 * 4) = 1u << LINE % 32;
}

void gic_core(uint32_t core)
{
    if (core == 0) {
        REGISTER(SCU + SCU_CTRL) |= 1;
        REGISTER(GLOBAL_TIMER + GLOBAL_CONTROL) = ENABLED;
        REGISTER(GICD + GICD_CTLR) = 1;
        begin_line();
    }
    set_priority(DOORBELL, DOORBELL_PRIORITY);
    set_priority(KILL, KILL_PRIORITY);
    set_priority(TICK, portLOWEST_USABLE_INTERRUPT_PRIORITY);
    set_priority(SUPERVISOR, SUPERVISOR_PRIORITY);
    stop(PRIVATE_TIMER);
    stop(WATCHDOG);
    REGISTER(GICD + GICD_ICPENDR) = 1u << TICK | 1u << SUPERVISOR;
    end_active();
    REGISTER(GICD + GICD_ISENABLER) = 1u << TICK | 1u << SUPERVISOR | 0xffff;
    REGISTER(GICC + GICC_BPR) = 0;
    REGISTER(GICC + GICC_CTLR) = 1;
    drop_due(core == 0 ? LINE_PRIORITY : 0xff >> PRIORITY_SHIFT);
    REGISTER(GICC + GICC_PMR) = 0xff;
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
    case TICK:
        tick();
        break;
    case SUPERVISOR:
        REGISTER(WATCHDOG + TIMER_STATUS) = 1;
        if (!pausing)
            board_supervisor();
        pausing = false;
        break;
    case LINE:
        uart_interrupt();
        break;
    default:
        break;
    }
    __asm__ volatile("clrex");
}

void board_halt(void)
{
    const uint32_t self = board_core();

    REGISTER(GICC + GICC_PMR) = HALTED_PRIORITY << PRIORITY_SHIFT;
    for (uint32_t i = 0; i < MAP_CORES; i++)
        if (i != self && i != 0)
            gic_stop(i);
    __asm__ volatile("cpsie i");
    for (;;)
        __asm__ volatile("wfi");
}
