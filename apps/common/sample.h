// SPDX-License-Identifier: Apache-2.0
// One number of a recording: integers and floats of any width and byte order.
#ifndef APPS_SAMPLE_H
#define APPS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum sample_coding { SAMPLE_UNSIGNED, SAMPLE_SIGNED, SAMPLE_FLOAT };

/// The bits of an integer of 1 to 8 bytes.
///
/// Context: any. Never blocks.
static inline uint64_t sample_bits(const uint8_t *at, uint32_t bytes, bool is_big_endian)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < bytes; i++)
        bits = bits << 8 | at[is_big_endian ? i : bytes - 1 - i];
    return bits;
}

/// The value of a sample, full scale at 1; of what is no number, 0.
///
/// Context: any. Never blocks.
static inline double sample_value(const uint8_t *at, uint32_t bytes, enum sample_coding coding,
                                  bool is_big_endian)
{
    const uint64_t bits = sample_bits(at, bytes, is_big_endian);
    const uint64_t half = UINT64_C(1) << (8 * bytes - 1);
    const uint32_t low = (uint32_t)bits;
    double value;
    float single;

    if (coding == SAMPLE_UNSIGNED)
        return ((double)bits - (double)half) / (double)half;
    if (coding == SAMPLE_SIGNED)
        return ((double)(bits ^ half) - (double)half) / (double)half;
    memcpy(&single, &low, sizeof single);
    memcpy(&value, &bits, sizeof value);
    if (bytes == sizeof single)
        value = (double)single;
    return value > -1e9 && value < 1e9 ? value : 0;
}

#endif
