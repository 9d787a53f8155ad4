// SPDX-License-Identifier: Apache-2.0
// The line's device: Arm's PL011.

#include "arm_board.h"
#include "map.h"

#define REGISTER(offset) (*(volatile uint32_t *)(uintptr_t)(MAP_UART + (offset)))
#define DATA REGISTER(0x00)
#define FLAGS REGISTER(0x18)
#define DIVISOR REGISTER(0x24)
#define DIVISOR_64THS REGISTER(0x28)
#define FRAME REGISTER(0x2c)
#define CONTROL REGISTER(0x30)
#define MASK REGISTER(0x38)

enum {
    RECEIVER_EMPTY = 1 << 4,  // of FLAGS
    SENDER_FULL = 1 << 5,
    RECEIVED = 1 << 4,  // of MASK, and so the time-out of the receiver
    SENT = 1 << 5,
    RECEIVED_LATE = 1 << 6,
    ENABLED = 0x301,          // of CONTROL: both directions
    EIGHT_BITS_FIFOS = 0x70,  // of FRAME
};

void uart_begin(void)
{
    CONTROL = 0;
    // 115200 Bd out of 24 MHz.
    DIVISOR = 13;
    DIVISOR_64THS = 1;
    FRAME = EIGHT_BITS_FIFOS;
    CONTROL = ENABLED;
    uart_listen(true, false);
}

bool uart_has_data(void)
{
    return (FLAGS & RECEIVER_EMPTY) == 0;
}

// Weak: an emulator damages none, so fault injection has its own.
__attribute__((weak)) uint32_t uart_data(void)
{
    return DATA;
}

bool uart_has_room(void)
{
    return (FLAGS & SENDER_FULL) == 0;
}

void uart_send(unsigned char byte)
{
    DATA = byte;
}

void uart_listen(bool for_data, bool for_room)
{
    MASK = (for_data ? RECEIVED | RECEIVED_LATE : 0) | (for_room ? SENT : 0);
}
