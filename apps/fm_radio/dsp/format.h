// SPDX-License-Identifier: Apache-2.0
// How a recording has its samples: pairs I, Q of integers or floats.
#ifndef FM_FORMAT_H
#define FM_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/sample.h"

struct fm_format {
    uint32_t bytes;  // of one number
    enum sample_coding coding;
    bool is_big_endian;
};

/// Finds a format by its name: cu8, cs8, cs16, cf32 and so on, as SigMF has them (ci16_le) or UHD
/// (sc16, fc32).
///
/// Context: any. Never blocks.
/// Returns: false for what is no name.
bool fm_format_named(struct fm_format *format, const char *name);

/// Finds a format by the end of a file's name: that of a format, or one that a program gives.
///
/// Context: any. Never blocks.
/// Returns: false for another end.
bool fm_format_of_file(struct fm_format *format, const char *path);

/// True of what an RTL-SDR gives, which is filtered as it comes.
///
/// Context: any. Never blocks.
bool fm_format_is_cu8(const struct fm_format *format);

/// Converts samples to pairs of floats, in the units of cu8.
///
/// Context: any. Never blocks.
void fm_format_convert(const struct fm_format *format, const uint8_t *raw, uint32_t samples,
                       float *pairs);

#endif
