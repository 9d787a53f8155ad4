// SPDX-License-Identifier: Apache-2.0
// The line's device: a UART of an i.MX, by its names in NXP's i.MX 6Dual/6Quad Reference Manual.
// Its clock and its pins are as U-Boot leaves them, whose console it is.

#include "arm_board.h"
#include "map.h"

#define REGISTER(offset) (*(volatile uint32_t *)(MAP_UART + (offset)))
#define URXD REGISTER(0x00)
#define UTXD REGISTER(0x40)
#define UCR1 REGISTER(0x80)
#define UCR2 REGISTER(0x84)
#define UCR3 REGISTER(0x88)
#define UFCR REGISTER(0x90)
#define UBIR REGISTER(0xa4)
#define UBMR REGISTER(0xa8)
#define UTS REGISTER(0xb4)

enum {
    UARTEN = 1 << 0,  // of UCR1
    RRDYEN = 1 << 9,
    TRDYEN = 1 << 13,
    SRST = 1 << 0,  // of UCR2; 0: reset
    RXEN = 1 << 1,
    TXEN = 1 << 2,
    WS = 1 << 5,  // eight bits
    IRTS = 1 << 14,
    RXDMUXSEL = 1 << 2,  // of UCR3; always set on an i.MX6
    ADNIMP = 1 << 7,
    RXTL = 1 << 0,   // of UFCR: an interrupt from one byte on,
    TXTL = 2 << 10,  // and while fewer than two are to be sent
    UNDIVIDED = 5 << 7,
    RXEMPTY = 1 << 5,  // of UTS
    TXFULL = 1 << 4,
};

void uart_begin(void)
{
    UCR1 = 0;
    UCR2 = 0;
    while ((UCR2 & SRST) == 0) {}
    UCR2 = SRST | RXEN | TXEN | WS | IRTS;
    UCR3 |= RXDMUXSEL | ADNIMP;
    UFCR = RXTL | TXTL | UNDIVIDED;
    // 115200 Bd out of 80 MHz. UBIR first: the device takes both when UBMR is written.
    UBIR = 15;
    UBMR = 80000000 / 115200 - 1;
    uart_listen(true, false);
}

bool uart_has_data(void)
{
    return (UTS & RXEMPTY) == 0;
}

uint32_t uart_data(void)
{
    return URXD;
}

bool uart_has_room(void)
{
    return (UTS & TXFULL) == 0;
}

void uart_send(unsigned char byte)
{
    UTXD = byte;
}

void uart_listen(bool for_data, bool for_room)
{
    UCR1 = UARTEN | (for_data ? RRDYEN : 0) | (for_room ? TRDYEN : 0);
}
