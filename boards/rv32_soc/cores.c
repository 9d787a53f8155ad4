// SPDX-License-Identifier: Apache-2.0
// What each core does after booting: the first runs main(), the others wait for work. A core is
// stopped by holding it in reset, from which it comes back here.

#include <picolibc.h>

#include <picotls.h>
#include <stdlib.h>
#include <string.h>

#include "picolibc_system.h"
#include "rv32_soc.h"

enum { WORDS = 8, INTERRUPTS = 8, ENABLED = 1 << 3 | 1 << 7 | 1 << 17, LINE_ENABLED = 1 << 17 };

int main(int argc, char **argv);
void __libc_init_array(void);
_Noreturn void board_begin(uint32_t core);

extern unsigned char gvm_begin[], gvm_end[], stacks_begin[], stacks_end[], code_end[];
extern unsigned char private_begin[], private_end[];

// Not cleared when the first core boots, as the others may be here already.
static struct {
    volatile uint32_t life, count;
    void (*volatile entry)(uint32_t core);
    volatile uint32_t stopped[BOARD_CORES];  // 1 + the life that it waits for the end of
} start __attribute__((section(".data")));

// ---- Interrupts ---------------------------------------------------------------------------------

uint32_t board_irq_save(void)
{
    uint32_t state;

    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(state)::"memory");
    return state;
}

void board_irq_restore(uint32_t state)
{
    __asm__ volatile("csrs mstatus, %0" ::"r"(state & INTERRUPTS) : "memory");
}

void board_relax(void) {}

void board_sleep(void)
{
    __asm__ volatile("wfi" ::: "memory");
}

// On the first core the supervisor runs meanwhile, if it is its time. The interrupt that ends the
// sleep is taken after the kernel has counted as idle: the timer's would switch to the supervisor
// although another interrupt has called the kernel.
void board_idle(void)
{
    if (board_core() != 0) {
        board_sleep();
        return;
    }
    if (!board_kernel_idles())
        board_sleep();
    board_kernel_wakes();
}

static uint32_t doorbell(uint32_t core)
{
    return SOC_TIMER_BASE + TIMER_SOFTWARE + 4 * core;
}

// What it is about is in memory before a device is written.
void board_ring(uint32_t core)
{
    __asm__ volatile("" ::: "memory");
    REGISTER(doorbell(core)) = 1;
}

void board_interrupt(uint32_t cause);
void board_interrupt(uint32_t cause)
{
    if (cause == (uint32_t)SOC_CAUSE_SOFTWARE) {
        REGISTER(doorbell(board_core())) = 0;
        wb_riscv_attend();
    } else if (cause == (uint32_t)SOC_CAUSE_TIMER) {
        timer_interrupt();
    } else if (cause == (uint32_t)SOC_CAUSE_RTOS) {
        wb_riscv_attend_task();
    } else if (cause == (uint32_t)SOC_CAUSE_UART) {
        uart_interrupt();
        return;
    }
    if (board_core() == 0)
        board_kernel_is_called();
}

bool board_tells_idle(void)
{
    return true;
}

__attribute__((weak)) bool board_kernel_idles(void)
{
    return false;
}

__attribute__((weak)) void board_kernel_wakes(void) {}
__attribute__((weak)) void board_kernel_is_called(void) {}

// A power of two of bytes, of which none may be read or written.
__attribute__((hot)) void board_guard(const void *stack)
{
    const uintptr_t from = (uintptr_t)stack - GUARD_BYTES;

    __asm__ volatile("csrw pmpaddr0, %0" ::"r"(from >> 2 | (GUARD_BYTES / 8 - 1)) : "memory");
}

// ---- Cores --------------------------------------------------------------------------------------

static void use_library_of(uint32_t core)
{
    static _Alignas(16) unsigned char libraries[BOARD_CORES][1024];

    if (context_library_bytes() > sizeof libraries[0])
        __builtin_trap();
    _init_tls(libraries[core]);
    _set_tls(libraries[core]);
}

// A doorbell wakes it; interrupts are not taken here.
static _Noreturn void wait_for_work(uint32_t core)
{
    for (;;) {
        const uint32_t life = start.life;

        start.stopped[core] = 1 + life;
        while (start.life == life) {
            board_sleep();
            REGISTER(doorbell(core)) = 0;
        }
        if (core < start.count)
            break;
    }
    start.stopped[core] = 0;
    use_library_of(core);
    timer_begin();
    start.entry(core);
    for (;;)
        board_sleep();
}

__attribute__((weak)) int board_arguments(char **argv, int most)
{
    (void)argv;
    (void)most;
    return 0;
}

_Noreturn void board_begin(uint32_t core)
{
    static char *argv[WORDS];

    __asm__ volatile("csrw mie, %0" ::"r"(core == 0 ? ENABLED : ENABLED & ~LINE_ENABLED));
    wb_board_killed();
    if (core != 0)
        wait_for_work(core);
    use_library_of(core);
    timer_begin();
    uart_begin();
    board_irq_restore(INTERRUPTS);
    __libc_init_array();
    const int argc = board_arguments(argv, WORDS);
    exit(main(argc, argv));
}

uint32_t board_cores(void)
{
    return BOARD_CORES;
}

// The clock counts cycles, which all cores have alike: a slow host keeps none of them waiting.
bool board_waits(uint32_t core)
{
    enum { LONGEST_NS = 1000000000 };
    const uint64_t until_ns = board_now_ns() + LONGEST_NS;

    while (start.stopped[core] != 1 + start.life)
        if (board_now_ns() > until_ns)
            return false;
    return true;
}

void board_start_others(uint32_t count, void (*entry)(uint32_t core))
{
    start.entry = entry;
    start.count = count;
    start.life++;
    for (uint32_t i = 1; i < BOARD_CORES; i++)
        board_ring(i);
}

// It leaves its reset when none of its transfers is under way any more, gives back what it has of
// the HW-RTOS, and waits for work.
void board_kill(uint32_t core)
{
    const uint32_t bit = 1u << core;

    start.stopped[core] = 0;
    REGISTER(SOC_SYSTEM_BASE + SYSTEM_HOLD) = bit;
    REGISTER(SOC_SYSTEM_BASE + SYSTEM_HOLD) = 0;
    while ((REGISTER(SOC_SYSTEM_BASE + SYSTEM_HOLD) & bit) != 0 || start.stopped[core] == 0) {}
    library_let_go(core);
}

// Its interrupts stay its own, and so does the timer, which the launcher has.
void board_reset_first(void)
{
    const uint32_t irq_state = board_irq_save();

    memset(private_begin, 0, (size_t)(private_end - private_begin));
    REGISTER(doorbell(0)) = 0;
    timer_begin();
    board_irq_restore(irq_state);
}

// The launcher sees that the run has failed, and stops the others.
void board_halt(void)
{
    for (;;) {
        board_irq_restore(INTERRUPTS);
        board_sleep();
    }
}

// ---- Programs of the first core -----------------------------------------------------------------

void board_switch(void **save, void *load)
{
    context_switch(save, load);
}

static void call(void *entry)
{
    ((void (*)(void))entry)();
}

// What is passed over belongs to others that have been there before.
void *board_context(void *stack_end, void (*entry)(void))
{
    enum { BYTES = 4096 };

    return context_make((unsigned char *)stack_end - BYTES, BYTES, call, (void *)entry);
}

// It is switched with the context.
void *board_library(void *next)
{
    return next;
}

// ---- Memory -------------------------------------------------------------------------------------

static unsigned char *memory_used = gvm_begin, *stacks_used;

// The RAM begins as zeros.
void *board_memory(size_t *bytes)
{
    memset(gvm_begin, 0, (size_t)(memory_used - gvm_begin));
    memory_used = gvm_begin;
    *bytes = (size_t)(gvm_end - gvm_begin);
    return gvm_begin;
}

void board_memory_used(const void *end)
{
    memory_used = (unsigned char *)(uintptr_t)end;
}

bool board_owns(const void *address)
{
    const unsigned char *at = address;

    return at >= gvm_begin && at < gvm_end;
}

void *board_stack(size_t bytes)
{
    const size_t room = (size_t)(stacks_end - stacks_used);
    const size_t rounded = (bytes + GUARD_BYTES - 1) & ~(size_t)(GUARD_BYTES - 1);

    if (room < GUARD_BYTES || rounded > room - GUARD_BYTES)
        return NULL;
    stacks_used += GUARD_BYTES + rounded;
    return stacks_used - rounded;
}

void board_free_stacks(void)
{
    stacks_used = stacks_begin;
}

// Tasks have no memory that others do not see.
void *board_take_private(size_t bytes)
{
    (void)bytes;
    return NULL;
}

void board_free_private(void) {}

void board_give_private(uint32_t core, void *at, size_t bytes)
{
    (void)core;
    (void)at;
    (void)bytes;
}
