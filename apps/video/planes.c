// SPDX-License-Identifier: Apache-2.0
#include "planes.h"

size_t picture_bytes(uint32_t width, uint32_t height)
{
    return (size_t)width * height + 2 * (size_t)((width + 1) / 2) * ((height + 1) / 2);
}

// 5552 bytes are the most whose sums do not overflow 32 bits (RFC 1950).
uint32_t picture_checksum(const uint8_t *planes, size_t bytes)
{
    enum { MODULUS = 65521, PIECE = 5552 };
    uint32_t a = 0, b = 0;

    while (bytes > 0) {
        const size_t piece = bytes < PIECE ? bytes : PIECE;

        for (size_t i = 0; i < piece; i++) {
            a += planes[i];
            b += a;
        }
        a %= MODULUS;
        b %= MODULUS;
        planes += piece;
        bytes -= piece;
    }
    return b << 16 | a;
}
