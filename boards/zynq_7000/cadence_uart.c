// SPDX-License-Identifier: Apache-2.0
// The line's device: Cadence's UART, by the names of registers in the Zynq-7000 Technical Reference
// Manual. Its clock, its pins and its speed are as the boot loader leaves them, whose console it
// is.

#include "arm_board.h"
#include "map.h"

#define REGISTER(offset) (*(volatile uint32_t *)(MAP_UART + (offset)))
#define CONTROL REGISTER(0x00)
#define MODE REGISTER(0x04)
#define INTRPT_EN REGISTER(0x08)
#define INTRPT_DIS REGISTER(0x0c)
#define CHNL_INT_STS REGISTER(0x14)
#define RCVR_FIFO_TRIGGER_LEVEL REGISTER(0x20)
#define CHANNEL_STS REGISTER(0x2c)
#define TX_RX_FIFO REGISTER(0x30)

enum {
    RESETS = 3 << 0,  // of CONTROL: both FIFOs; read as 0 when they are over
    RX_EN = 1 << 2,
    TX_EN = 1 << 4,
    CLOCK_DIVIDED = 1 << 0,  // of MODE
    NO_PARITY = 4 << 3,      // with eight bits
    RTRIG = 1 << 0,          // of interrupts: so many bytes have come as the trigger says
    TEMPTY = 1 << 3,
    RX_EMPTY = 1 << 1,  // of CHANNEL_STS
    TX_FULL = 1 << 4,
};

void uart_begin(void)
{
    INTRPT_DIS = ~0u;
    CONTROL = RESETS | RX_EN | TX_EN;
    while ((CONTROL & RESETS) != 0) {}
    MODE = (MODE & CLOCK_DIVIDED) | NO_PARITY;
    RCVR_FIFO_TRIGGER_LEVEL = 1;
    uart_listen(true, false);
}

// An interrupt stays raised until it is cleared: before the look, so that a byte that comes after
// it raises it again.
bool uart_has_data(void)
{
    CHNL_INT_STS = RTRIG;
    return (CHANNEL_STS & RX_EMPTY) == 0;
}

uint32_t uart_data(void)
{
    return TX_RX_FIFO;
}

bool uart_has_room(void)
{
    return (CHANNEL_STS & TX_FULL) == 0;
}

// Cleared as in uart_has_data(), before the sender is looked at again.
void uart_send(unsigned char byte)
{
    TX_RX_FIFO = byte;
    CHNL_INT_STS = TEMPTY;
}

void uart_listen(bool for_data, bool for_room)
{
    INTRPT_DIS = RTRIG | TEMPTY;
    INTRPT_EN = (for_data ? RTRIG : 0) | (for_room ? TEMPTY : 0);
}
