// SPDX-License-Identifier: Apache-2.0
// The line to the command, by any device (pl011.c, for one). Bytes come and go by interrupts of the
// first core, which nothing of FreeRTOS masks, into and out of two rings.

#include "arm_board.h"

enum { BYTES = 1 << 14 };

struct bytes {
    uint32_t first, after;  // run on; a byte's place is taken modulo BYTES
    unsigned char at[BYTES];
};

static struct bytes received, to_send;

// Globally visible; written by the first core, where the launcher is.
static bool has_launcher __attribute__((section(".gvm")));

static uint32_t used(const struct bytes *bytes)
{
    return bytes->after - bytes->first;
}

// What does not fit stays there, and whoever sends waits, if he can.
static void receive(void)
{
    while (used(&received) < BYTES && uart_has_data()) {
        received.at[received.after++ % BYTES] = (unsigned char)uart_data();
    }
}

static void send(void)
{
    while (used(&to_send) != 0 && uart_has_room())
        uart_send(to_send.at[to_send.first++ % BYTES]);
}

// Interrupts are off.
static void work(void)
{
    receive();
    send();
    uart_listen(used(&received) < BYTES, used(&to_send) != 0);
}

void uart_interrupt(void)
{
    work();
}

size_t board_line_read(void *to, size_t bytes)
{
    const uint32_t state = board_irq_save();
    size_t n = 0;

    has_launcher = true;
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

static void put(char byte)
{
    while (!uart_has_room())
        board_relax();
    uart_send((unsigned char)byte);
}

// As a terminal expects the ends of lines.
void uart_print(const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes && !has_launcher; i++) {
        if (text[i] == '\n')
            put('\r');
        put(text[i]);
    }
}
