// SPDX-License-Identifier: Apache-2.0
// Sound in WAV files: one channel of 16 bits.
#ifndef APPS_WAV_H
#define APPS_WAV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WAV_HEADER_BYTES = 44, WAV_WHY_BYTES = 128 };

struct wav {
    uint64_t at;       // its first sample, in bytes from the start of the file
    uint64_t samples;  // in the file
    uint32_t rate;     // samples in a second
};

/// Reads where the sound of a file is.
///
/// `read` reads up to `bytes` at `place`, and returns how many; less than 0 where it cannot.
/// Context: any; blocks as `read` does.
/// Returns: false, with the reason in `why`, for what is no such sound.
bool wav_find(struct wav *wav,
              int64_t (*read)(void *file, void *data, size_t bytes, uint64_t place), void *file,
              char why[WAV_WHY_BYTES]);

/// Makes the header of a file of so many samples; of more than 32 bits can count, of the most that
/// they can.
///
/// Context: any. Never blocks.
void wav_header(uint8_t header[WAV_HEADER_BYTES], uint32_t rate, uint64_t samples);

#endif
