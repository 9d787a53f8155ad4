// SPDX-License-Identifier: Apache-2.0
#include "soc.h"

static void put_byte(char byte)
{
    while (!(soc_read(SOC_UART_BASE + UART_STATUS) & UART_STATUS_ROOM)) {}
    soc_write(SOC_UART_BASE + UART_DATA, (uint32_t)byte);
}

void soc_put(const char *text)
{
    while (*text != '\0')
        put_byte(*text++);
}

void soc_put_number(uint32_t number)
{
    char digits[11];
    char *at = digits + sizeof digits - 1;
    *at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    soc_put(at);
}

char soc_get(void)
{
    while (!(soc_read(SOC_UART_BASE + UART_STATUS) & UART_STATUS_RECEIVED)) {}
    return (char)soc_read(SOC_UART_BASE + UART_DATA);
}

uint32_t soc_failures;

void soc_check(const char *what, int good)
{
    soc_put(good ? "ok " : "FAILED ");
    soc_put(what);
    soc_put("\n");
    soc_failures += !good;
}

void soc_exit(uint32_t code)
{
    const uint32_t all = 64U << 16;  // the room of an empty queue
    while ((soc_read(SOC_UART_BASE + UART_STATUS) & 0xFF0000U) != all) {}
    soc_write(SOC_SYSTEM_BASE + SYSTEM_EXIT, code);
    for (;;) {}
}
