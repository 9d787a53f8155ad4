// SPDX-License-Identifier: Apache-2.0
// The memory map of the SoC for C: the numbers of soc_pkg.sv and of the devices, which a test
// compares. All registers are words, and are read and written whole.
#ifndef SOC_REGS_H
#define SOC_REGS_H

#define SOC_RAM_BASE 0x80000000U
#define SOC_TCM_BASE 0x10000000U
#define SOC_TIMER_BASE 0x02000000U
#define SOC_RTOS_BASE 0x20000000U
#define SOC_LOCK_BASE 0x20001000U
#define SOC_UART_BASE 0x20002000U
#define SOC_SYSTEM_BASE 0x20003000U

// Of the timer: SOFTWARE at 4 * core from here, COMPARE at 8 * core, COMPARE and TIME of 64 bits.
#define TIMER_SOFTWARE 0x0000U
#define TIMER_COMPARE 0x4000U
#define TIMER_TIME 0xBFF8U

#define UART_DATA 0x000U
#define UART_STATUS 0x004U
#define UART_LOST 0x008U
#define UART_CONTROL 0x00CU

#define SYSTEM_EXIT 0x000U
#define SYSTEM_INFO 0x004U
#define SYSTEM_CLOCK_HZ 0x008U
#define SYSTEM_RAM_BYTES 0x00CU
#define SYSTEM_TCM_BYTES 0x010U
#define SYSTEM_HOLD 0x014U
#define SYSTEM_WAIT_STATES 0x018U
#define SYSTEM_CONSOLE 0x01CU
#define SYSTEM_HOST 0x020U
// Of a core at 32 * core from here, in the order of enum soc_counter.
#define SYSTEM_COUNTERS 0x100U

// Of UART_STATUS: [15:8] are the bytes that wait, [23:16] the room to send.
#define UART_STATUS_RECEIVED 0x1U
#define UART_STATUS_ROOM 0x2U
// Of UART_CONTROL: interrupts core 0 while a byte is there.
#define UART_CONTROL_INTERRUPT 0x1U

enum soc_counter {
    SOC_COUNTER_ASLEEP = 0,
    SOC_COUNTER_DATA_HIT = 1,
    SOC_COUNTER_DATA_MISS = 2,
    SOC_COUNTER_FETCH_MISS = 3,
    SOC_COUNTER_BUS_WAIT = 4,
    SOC_COUNTER_BUFFER_STALL = 5
};

// What is asked of the machine that simulates the SoC. SYSTEM_HOST takes the address of a
// struct soc_request in the RAM; then it has the answer: a negative one is an errno, -EROFS where
// the simulation has no files.
enum soc_host {
    SOC_HOST_CREATE = 1,  // a path that ends in a zero; the answer is the file
    SOC_HOST_WRITE = 2,   // a file, where the bytes are, how many, at which place of the file
    SOC_HOST_CLOSE = 3    // a file
};
struct soc_request {
    unsigned int what, words[4];
};

// Of mcause.
enum soc_cause {
    SOC_CAUSE_LOAD_FAULT = 5,
    SOC_CAUSE_STORE_FAULT = 7,
    SOC_CAUSE_SOFTWARE = 3 | (int)0x80000000,
    SOC_CAUSE_TIMER = 7 | (int)0x80000000,
    SOC_CAUSE_RTOS = 16 | (int)0x80000000,
    SOC_CAUSE_UART = 17 | (int)0x80000000
};

#endif
