// SPDX-License-Identifier: Apache-2.0
// memcpy and memset by words: the library's go byte by byte, as it is made to be small.
#include <stddef.h>
#include <stdint.h>

static void copy_bytes(uint8_t *to, const uint8_t *from, size_t bytes)
{
    while (bytes-- > 0)
        *to++ = *from++;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint32_t *at = to;
    const uint32_t *source = from;

    if (((uintptr_t)to | (uintptr_t)from) % 4 == 0) {
        for (; bytes >= 16; bytes -= 16, at += 4, source += 4) {
            const uint32_t a = source[0], b = source[1], c = source[2], d = source[3];

            at[0] = a, at[1] = b, at[2] = c, at[3] = d;
        }
        for (; bytes >= 4; bytes -= 4)
            *at++ = *source++;
    }
    copy_bytes((uint8_t *)at, (const uint8_t *)source, bytes);
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *at = to;

    for (; bytes > 0 && (uintptr_t)at % 4 != 0; bytes--)
        *at++ = (uint8_t)value;
    for (; bytes >= 4; bytes -= 4, at += 4)
        *(uint32_t *)at = (uint8_t)value * 0x01010101U;
    for (; bytes > 0; bytes--)
        *at++ = (uint8_t)value;
    return to;
}
