// SPDX-License-Identifier: Apache-2.0
// The recording that the radio reads and the sound file that it writes.
//
// Both are plain descriptors used with pread and pwrite, and remember their own places: opened once
// before the kernels exist, they work alike in every kernel, so the tasks that own them may move.
#ifndef FM_FILE_H
#define FM_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"

struct fm_input {
    int fd;
    uint64_t samples;  // in one play of the file
    uint64_t at;       // the next sample, counted over all plays
    uint64_t end;      // of the last play
};

struct fm_output {
    int fd;  // -1: the sound is dropped
    bool wav;
    uint32_t rate;
    uint64_t samples;
};

/// Opens a recording (.cu8: bytes I, Q, I, Q, …) to be played `plays` times.
///
/// Context: before the kernels start, or any single process. May block.
/// Returns: false, with the reason in `why`, for what is no readable file of whole samples.
bool fm_input_open(struct fm_input *input, const char *path, uint64_t plays,
                   char why[FM_WHY_BYTES]);

/// Reads the next samples.
///
/// Context: the owner of the input. May block in the operating system.
/// Returns: how many, fewer than `samples` only at the end; -1 with the reason in `why`.
int64_t fm_input_read(struct fm_input *input, uint8_t *iq, uint32_t samples,
                      char why[FM_WHY_BYTES]);

/// Makes `sample`, counted over all plays and not past their end, the next to be read.
///
/// Context: the owner of the input. Never blocks.
void fm_input_seek(struct fm_input *input, uint64_t sample);

/// Closes the recording.
///
/// Context: the owner of the input. Never blocks.
void fm_input_close(struct fm_input *input);

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
