// SPDX-License-Identifier: Apache-2.0
// The line to the command: a PL011. Bytes come and go by interrupts of the first core,
// which nothing of FreeRTOS masks, into and out of two rings.

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
    BYTES = 1 << 14,
};

struct bytes {
    uint32_t first, after;  // run on; a byte's place is taken modulo BYTES
    unsigned char at[BYTES];
};

static struct bytes received, to_send;

static uint32_t used(const struct bytes *bytes)
{
    return bytes->after - bytes->first;
}

void uart_begin(void)
{
    CONTROL = 0;
    // 115200 Bd out of 24 MHz.
    DIVISOR = 13;
    DIVISOR_64THS = 1;
    FRAME = EIGHT_BITS_FIFOS;
    CONTROL = ENABLED;
    MASK = RECEIVED | RECEIVED_LATE;
}

// The next byte. Weak: an emulator damages none, so fault injection has its own.
__attribute__((weak)) uint32_t uart_data(void)
{
    return DATA;
}

// What does not fit stays there, and whoever sends waits, if he can.
static void receive(void)
{
    while (used(&received) < BYTES && (FLAGS & RECEIVER_EMPTY) == 0) {
        received.at[received.after++ % BYTES] = (unsigned char)uart_data();
    }
}

static void send(void)
{
    while (used(&to_send) != 0 && (FLAGS & SENDER_FULL) == 0)
        DATA = to_send.at[to_send.first++ % BYTES];
}

// Interrupts are off.
static void work(void)
{
    receive();
    send();
    MASK =
        (used(&received) < BYTES ? RECEIVED | RECEIVED_LATE : 0) | (used(&to_send) != 0 ? SENT : 0);
}

void uart_interrupt(void)
{
    work();
}

size_t board_line_read(void *to, size_t bytes)
{
    const uint32_t state = board_irq_save();
    size_t n = 0;

    work();
    for (; n < bytes && used(&received) != 0; n++)
        ((unsigned char *)to)[n] = received.at[received.first++ % BYTES];
    board_irq_restore(state);
    return n;
}

size_t board_line_write(const void *from, size_t bytes)
{
    const uint32_t state = board_irq_save();
    size_t n = 0;

    for (; n < bytes && used(&to_send) < BYTES; n++)
        to_send.at[to_send.after++ % BYTES] = ((const unsigned char *)from)[n];
    work();
    board_irq_restore(state);
    return n;
}

size_t board_line_room(void)
{
    return BYTES - used(&to_send);
}
