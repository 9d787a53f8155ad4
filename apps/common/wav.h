// SPDX-License-Identifier: Apache-2.0
// WAV files: where the samples of one are, and what they are; and the header of one channel of 16
// bits.
//
// Recorders that write into a pipe, or lose power, leave sizes that are wrong: the file is then
// read to its end.
#ifndef APPS_WAV_H
#define APPS_WAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample.h"

enum { WAV_HEADER_BYTES = 44, WAV_WHY_BYTES = 128, WAV_CHANNELS_MAX = 8 };

struct wav {
    uint64_t at;       // its first sample, in bytes from the start of the file
    uint64_t samples;  // of each channel, in the file
    uint32_t rate;     // samples in a second
    uint32_t channels;
    uint32_t sample_bytes;  // of one channel, the lowest first: 1 to 4, and 8 of floats
    enum sample_coding coding;
    uint64_t centre_hz;  // what a radio program was tuned to; 0: the file does not say
    bool is_cut;         // the file ends before its samples do
};

// A file to be read: `read` reads up to `bytes` at `place`, and returns how many; less than 0 where
// it cannot.
struct wav_file {
    int64_t (*read)(const void *file, void *data, size_t bytes, uint64_t place);
    const void *file;
    uint64_t bytes;
};

/// Reads where the samples of a file are, and what they are.
///
/// Context: any; blocks as `read` does.
/// Returns: false, with the reason and what helps in `why`, for what cannot be read.
bool wav_find(struct wav *wav, const struct wav_file *file, char why[WAV_WHY_BYTES]);

/// Reads up to `n` samples from sample `from` on as one channel of 16 bits, the mean of those there
/// are.
///
/// Context: any; blocks as `read` does.
/// Returns: how many; less than 0 where reading fails.
int64_t wav_read(const struct wav *wav, const struct wav_file *file, uint64_t from,
                 int16_t *samples, size_t n);

/// Makes the header of a file of so many samples; of more than 32 bits can count, of the most that
/// they can.
///
/// Context: any. Never blocks.
void wav_header(uint8_t header[WAV_HEADER_BYTES], uint32_t rate, uint64_t samples);

#endif
