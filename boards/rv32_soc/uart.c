// SPDX-License-Identifier: Apache-2.0
// The line to the command. Bytes come by interrupts of the first core into a ring; as the line
// takes one in some cycles, whoever sends waits for it.

#include "rv32_soc.h"

enum { BYTES = 1 << 14, PATIENCE = 10000 };

#define DATA REGISTER(SOC_UART_BASE + UART_DATA)
#define STATUS REGISTER(SOC_UART_BASE + UART_STATUS)
#define CONTROL REGISTER(SOC_UART_BASE + UART_CONTROL)

static struct {
    uint32_t first, after;  // run on; a byte's place in the ring is taken modulo BYTES
} received;
static unsigned char ring[BYTES] __attribute__((noinit));

static uint32_t used(void)
{
    return received.after - received.first;
}

// What does not fit stays there, and whoever sends waits.
static void receive(void)
{
    while (used() < BYTES && (STATUS & UART_STATUS_RECEIVED) != 0)
        ring[received.after++ % BYTES] = (unsigned char)DATA;
    CONTROL = used() < BYTES ? UART_CONTROL_INTERRUPT : 0;
}

void uart_begin(void)
{
    CONTROL = UART_CONTROL_INTERRUPT;
}

void uart_interrupt(void)
{
    receive();
}

size_t board_line_read(void *to, size_t bytes)
{
    const uint32_t irq_state = board_irq_save();
    size_t n = 0;

    receive();
    for (; n < bytes && used() != 0; n++)
        ((unsigned char *)to)[n] = ring[received.first++ % BYTES];
    board_irq_restore(irq_state);
    return n;
}

static bool has_room(void)
{
    for (uint32_t turns = 0; turns < PATIENCE; turns++)
        if ((STATUS & UART_STATUS_ROOM) != 0)
            return true;
    return false;
}

size_t board_line_write(const void *from, size_t bytes)
{
    size_t n = 0;

    for (; n < bytes && has_room(); n++)
        DATA = ((const unsigned char *)from)[n];
    return n;
}

// Nothing waits to be sent: the line is as quick as whoever writes.
size_t board_line_room(void)
{
    return BYTES;
}
