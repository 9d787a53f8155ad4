// SPDX-License-Identifier: Apache-2.0
#include "coding.h"

enum { UNKNOWN = 2 };

static uint32_t bit(uint32_t bits, int n)
{
    return bits >> n & 1;
}

// From the least significant bit on: P1 D1 P2 D2 P3 D3 P4 D4, parities odd.
static uint8_t encode(uint32_t d)
{
    const uint32_t d1 = bit(d, 0), d2 = bit(d, 1), d3 = bit(d, 2), d4 = bit(d, 3);
    const uint32_t p1 = 1 ^ d1 ^ d3 ^ d4, p2 = 1 ^ d1 ^ d2 ^ d4, p3 = 1 ^ d1 ^ d2 ^ d3;
    const uint32_t p4 = 1 ^ p1 ^ d1 ^ p2 ^ d2 ^ p3 ^ d3 ^ d4;

    return (uint8_t)(p1 | d1 << 1 | p2 << 2 | d2 << 3 | p3 << 4 | d3 << 5 | p4 << 6 | d4 << 7);
}

void coding_init(struct coding *coding)
{
    for (int i = 0; i < 256; i++) {
        coding->bits[i] = 0;
        coding->wrong[i] = UNKNOWN;
    }
    for (uint32_t d = 0; d < 16; d++) {
        const uint8_t code = encode(d);

        coding->bits[code] = (uint8_t)d;
        coding->wrong[code] = 0;
        for (int n = 0; n < 8; n++) {
            coding->bits[code ^ 1 << n] = (uint8_t)d;
            coding->wrong[code ^ 1 << n] = 1;
        }
    }
}

void coding_encode(const uint8_t *data, size_t bytes, uint8_t *coded)
{
    for (size_t i = 0; i < bytes; i++) {
        coded[2 * i] = encode(data[i] & 15);
        coded[2 * i + 1] = encode(data[i] >> 4);
    }
}

uint32_t coding_decode(const struct coding *coding, const uint8_t *coded, size_t bytes,
                       uint8_t *data)
{
    uint32_t corrected = 0;

    for (size_t i = 0; i < bytes; i++) {
        const uint8_t low = coded[2 * i], high = coded[2 * i + 1];

        data[i] = (uint8_t)(coding->bits[low] | coding->bits[high] << 4);
        corrected += (coding->wrong[low] & 1U) + (coding->wrong[high] & 1U);
    }
    return corrected;
}
