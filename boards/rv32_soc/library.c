// SPDX-License-Identifier: Apache-2.0
// What picolibc asks of this board alone.

#include <unistd.h>

#include "picolibc_system.h"
#include "rv32_soc.h"

struct line *library_line(void)
{
    static struct line lines[BOARD_CORES];

    return &lines[board_core()];
}

uint32_t library_core(void)
{
    return board_core();
}

void _exit(int status)
{
    while ((REGISTER(SOC_UART_BASE + UART_STATUS) >> 16 & 0xff) != 64) {}
    for (;;)
        REGISTER(SOC_SYSTEM_BASE + SYSTEM_EXIT) = (uint32_t)status;
}
