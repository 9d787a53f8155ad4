// SPDX-License-Identifier: Apache-2.0
// A line with bytes that are wrong every now and then: no emulator has any.

#include "arm_board.h"

#define DATA (*(volatile uint32_t *)0x10009000)

enum { GOOD_BYTES = 300 };

uint32_t uart_data(void)
{
    static uint32_t taken;

    const uint32_t data = DATA;

    return ++taken % GOOD_BYTES == 0 ? ' ' : data;
}
