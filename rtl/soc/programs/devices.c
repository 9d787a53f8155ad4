// SPDX-License-Identifier: Apache-2.0
// The serial line's queues and interrupt, the guard of a stack, code that a program writes, and
// files of the host.
#include "soc.h"

#define MSECCFG "0x747"

static volatile uint32_t interrupts, cause, text[8], received;
static volatile uint32_t guarded[16] __attribute__((aligned(64)));
static volatile uint32_t elsewhere[16] __attribute__((aligned(64)));
static uint32_t code[4] __attribute__((aligned(16)));
static volatile uint32_t wanted, result;

__attribute__((interrupt)) void trap(void)
{
    uint32_t why, at;
    __asm__ volatile("csrr %0, mcause; csrr %1, mepc" : "=r"(why), "=r"(at));
    if (why == (uint32_t)SOC_CAUSE_UART) {
        interrupts++;
        while (soc_read(SOC_UART_BASE + UART_STATUS) & UART_STATUS_RECEIVED)
            text[received++ & 7] = soc_read(SOC_UART_BASE + UART_DATA);
    } else {
        cause = why;
        at += (*(const uint16_t *)at & 3) == 3 ? 4 : 2;
        __asm__ volatile("csrw mepc, %0" ::"r"(at));
    }
}

static void try_receive(void)
{
    soc_write(SOC_UART_BASE + UART_CONTROL, UART_CONTROL_INTERRUPT);
    __asm__ volatile("csrs mie, %0; csrsi mstatus, 8" ::"r"(1U << 17));
    while (received < 5)
        __asm__ volatile("wfi");
    soc_write(SOC_UART_BASE + UART_CONTROL, 0);
    soc_check("bytes come in order", text[0] == 'h' && text[3] == 'l' && text[4] == 'o');
    soc_check("they interrupt", interrupts > 0);
    soc_check("an empty queue reads as 0", soc_read(SOC_UART_BASE + UART_DATA) == 0);
    soc_check("no byte was lost", soc_read(SOC_UART_BASE + UART_LOST) == 0);
}

static void try_overflow(void)
{
    for (int i = 0; i < 200; i++)
        soc_write(SOC_UART_BASE + UART_DATA, '.');
    const uint32_t lost = soc_read(SOC_UART_BASE + UART_LOST);
    soc_put("\n");
    soc_check("bytes without room are counted", lost >> 16 > 0 && lost >> 16 < 200 - 64);
    soc_put_number(200 - (lost >> 16));
    soc_put(" sent\n");
}

// Bit 2 of mseccfg lets a locked rule be changed; the rule is of a power of two, without rights.
static void try_guard(void)
{
    __asm__ volatile("csrwi " MSECCFG ", 4");
    __asm__ volatile("csrw pmpaddr0, %0" ::"r"((uint32_t)guarded >> 2 | 7));
    __asm__ volatile("csrw pmpcfg0, %0" ::"r"(0x98));
    cause = 0;
    guarded[3] = 1;
    soc_check("a store to a guard fails", cause == SOC_CAUSE_STORE_FAULT);
    cause = 0;
    (void)guarded[3];
    soc_check("a load from a guard fails", cause == SOC_CAUSE_LOAD_FAULT);
    cause = 0;
    __asm__ volatile("csrw pmpaddr0, %0" ::"r"((uint32_t)elsewhere >> 2 | 7));
    guarded[3] = 1;
    soc_check("a guard can be moved", cause == 0);
}

// li a0, N; ret
static void write_code(uint32_t number)
{
    code[0] = number << 20 | 0x513;
    code[1] = 0x8067;
}

static uint32_t run_code(void)
{
    __asm__ volatile("fence.i" ::: "memory");
    return ((uint32_t(*)(void))code)();
}

static void try_code(void)
{
    uint32_t good = 1;
    for (uint32_t number = 1; number < 50; number++) {
        write_code(number);
        good &= run_code() == number;
    }
    soc_check("code that a core writes is what it runs", good);
    for (uint32_t number = 50; number < 100; number++) {
        soc_lock(code);
        write_code(number);
        soc_unlock(code);
        wanted = number;
        while (result != number) {}
    }
    soc_check("and what the other core runs", 1);
}

static int ask(uint32_t what, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const struct soc_request request = { what, { a, b, c, d } };
    __asm__ volatile("" ::"r"(&request) : "memory");
    soc_write(SOC_SYSTEM_BASE + SYSTEM_HOST, (uint32_t)&request);
    return (int)soc_read(SOC_SYSTEM_BASE + SYSTEM_HOST);
}

// The negative answers are numbers of errno.
static void try_host(void)
{
    static const char hello[] = "hello";
    const int file = ask(SOC_HOST_CREATE, (uint32_t) "made.bin", 0, 0, 0);
    soc_check("the host has files, or says that it has none", file == 0 || file == -30);
    if (file != 0)
        return;
    soc_check("it writes", ask(SOC_HOST_WRITE, 0, (uint32_t)hello, 5, 3) == 5);
    soc_check("only what is in the RAM", ask(SOC_HOST_WRITE, 0, SOC_TCM_BASE, 4, 0) == -14);
    soc_check("and all of it", ask(SOC_HOST_WRITE, 0, (uint32_t)hello, 1U << 30, 0) == -14);
    soc_check("it closes", ask(SOC_HOST_CLOSE, 0, 0, 0, 0) == 0);
    soc_check("then it is not open", ask(SOC_HOST_WRITE, 0, (uint32_t)hello, 5, 0) == -9);
    soc_check("nor is another", ask(SOC_HOST_CLOSE, 70, 0, 0, 0) == -9);
    soc_check("a folder must be there", ask(SOC_HOST_CREATE, (uint32_t) "no/made", 0, 0, 0) == -2);
    soc_check("it does nothing else", ask(99, 0, 0, 0, 0) == -22);
}

// Core 1: runs the code that core 0 writes, each time that there is another.
static void follow(void)
{
    uint32_t last = 0;
    for (;;) {
        while (wanted == last) {}
        last = wanted;
        soc_lock(code);
        result = run_code();
        soc_unlock(code);
    }
}

void core_main(uint32_t core)
{
    if (core == 1)
        follow();
    if (core > 0)
        return;
    try_receive();
    try_overflow();
    try_guard();
    try_code();
    try_host();
    soc_exit(soc_failures);
}
