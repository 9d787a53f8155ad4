// SPDX-License-Identifier: Apache-2.0
// What this board has besides board.h and riscv_board.h, for its own files.
#ifndef RV32_SOC_H
#define RV32_SOC_H

#define BOARD_CORES 2
#define BOOT_STACK_BYTES 32768
#define GUARD_BYTES 1024

#ifndef __ASSEMBLER__
#include "riscv_board.h"
#include "soc_regs.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

/// Which core this is.
static inline uint32_t board_core(void)
{
    uint32_t core;

    __asm__("csrr %0, mhartid" : "=r"(core));
    return core;
}

/// Sets up this core's timer; nothing rings but the heartbeat.
void timer_begin(void);

/// The interrupt of the timer.
void timer_interrupt(void);

/// The line's interrupt, and how it begins.
void uart_begin(void);
void uart_interrupt(void);

/// The arguments of main(): none, unless the program defines this.
int board_arguments(char **argv, int most);
#endif

#endif
