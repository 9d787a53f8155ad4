// SPDX-License-Identifier: Apache-2.0
// The sound file that the radio writes.
//
// It is a plain descriptor used with pwrite, and remembers its own place: opened once before the
// kernels exist, it works alike in every kernel, so the task that owns it may move.
#ifndef FM_FILE_H
#define FM_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

struct fm_output {
    int fd;  // -1: the sound is dropped
    bool wav;
    uint32_t rate;
    uint64_t samples;
};

/// Creates the sound file: NAME.wav has 16-bit samples, NAME.f32 bare floats, an empty name drops
/// the sound.
///
/// Context: before the kernels start, or any single process. May block.
/// Returns: false, with the reason in `why`, for another name or where it cannot be created.
bool fm_output_open(struct fm_output *output, const char *path, double rate,
                    char why[FM_WHY_BYTES]);

/// Appends samples, or writes them again: they take the places from `output->samples` on.
///
/// Context: the owner of the output. May block in the operating system.
/// Returns: false, with the reason in `why`, where the file cannot be written.
bool fm_output_write(struct fm_output *output, const float *audio, uint32_t samples,
                     char why[FM_WHY_BYTES]);

/// Writes the header that says how long the sound is. The file stays open.
///
/// Context: the owner of the output. May block in the operating system.
/// Returns: false, with the reason in `why`, where the file cannot be written.
bool fm_output_finish(struct fm_output *output, char why[FM_WHY_BYTES]);

/// Closes the sound file.
///
/// Context: the owner of the output. Never blocks.
void fm_output_close(struct fm_output *output);

#endif
