// SPDX-License-Identifier: Apache-2.0
// A code is a sign, a segment of three bits and a step of four. Segments of the µ-law are twice as
// long as the one before; those of the A-law from the second on.
#include "g711.h"

enum {
    SIGN = 0x80,
    STEP = 0x0f,
    ALAW_EVEN = 0x55,  // even bits are sent inverted
    ULAW_BIAS = 33,    // makes the ends of segments powers of two
    ULAW_MOST = 0x1fff,
};

static int highest_bit(uint32_t number)
{
    return 31 - __builtin_clz(number);
}

// Of a negative sample its complement: -1 is to the left of zero what 0 is to the right.
static uint32_t magnitude(int16_t sample)
{
    return (uint32_t)(sample < 0 ? ~sample : sample);
}

uint8_t g711_alaw_encode(int16_t sample)
{
    const uint32_t level = magnitude(sample) >> 4;
    const int segment = level < 16 ? 0 : highest_bit(level) - 3;
    const uint32_t step = (level >> (segment < 2 ? 0 : segment - 1)) & STEP;
    const uint32_t code = (uint32_t)segment << 4 | step;

    return (uint8_t)((code | (sample < 0 ? 0 : SIGN)) ^ ALAW_EVEN);
}

int16_t g711_alaw_decode(uint8_t code)
{
    const int plain = code ^ ALAW_EVEN, segment = (plain & ~SIGN) >> 4;
    const int step = ((plain & STEP) << 4) + 8;  // the middle of it
    const int level = segment == 0 ? step : (step + 0x100) << (segment - 1);

    return (int16_t)(plain & SIGN ? level : -level);
}

uint8_t g711_ulaw_encode(int16_t sample)
{
    const uint32_t biased = (magnitude(sample) >> 2) + ULAW_BIAS;
    const uint32_t level = biased > ULAW_MOST ? ULAW_MOST : biased;
    const int segment = highest_bit(level) - 5;
    const uint32_t code = (uint32_t)segment << 4 | ((level >> (segment + 1)) & STEP);

    return (uint8_t) ~(code | (sample < 0 ? SIGN : 0));
}

int16_t g711_ulaw_decode(uint8_t code)
{
    const int plain = (uint8_t)~code, segment = (plain & ~SIGN) >> 4;
    const int level = (((plain & STEP) << 1) + ULAW_BIAS) << segment;
    const int sample = (level - ULAW_BIAS) * 4;

    return (int16_t)(plain & SIGN ? -sample : sample);
}
