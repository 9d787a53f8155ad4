// SPDX-License-Identifier: Apache-2.0
// A line that loses bytes after a while, as the board's own does when its interrupt comes too late.

#include "board_a9.h"

#define DATA (*(volatile uint32_t *)0x10009000)

enum { GOOD_BYTES = 1000, OVERRUN = 1 << 11 };

uint32_t uart_data(void)
{
    static uint32_t taken;

    return DATA | (++taken == GOOD_BYTES ? OVERRUN : 0);
}
