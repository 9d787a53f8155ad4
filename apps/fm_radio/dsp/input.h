// SPDX-License-Identifier: Apache-2.0
// The recording that the radio reads, in the files of SDR programs: bare samples, WAV, SigMF.
//
// It is a plain descriptor used with pread, and remembers its own place: opened once before the
// kernels exist, it works alike in every kernel, so the task that owns it may move.
#ifndef FM_INPUT_H
#define FM_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "format.h"

struct fm_input {
    int fd;
    struct fm_format format;
    uint64_t first;    // byte of the first sample
    uint64_t samples;  // in one play of the file
    uint64_t at;       // the next sample, counted over all plays
    uint64_t end;      // of the last play
    double rate;       // samples in a second; 0: the file does not say
    double centre_hz;  // what the receiver was tuned to; 0: the file does not say
    bool is_cut;       // the file ends before its samples do, or inside one
};

/// Opens a recording to be played `plays` times. `format` is that of bare samples; "": by the end
/// of the name.
///
/// Context: before the kernels start, or any single process. May block.
/// Returns: false, with the reason in `why`, for what is no recording of IQ samples.
bool fm_input_open(struct fm_input *input, const char *path, const char *format, uint64_t plays,
                   char why[FM_WHY_BYTES]);

/// Compares what the file says with the configuration, and sets the offset of the station.
///
/// Context: after fm_input_open(), before anything is made of the configuration. Never blocks.
/// Returns: false, with the reason in `why`, where both cannot be.
bool fm_input_tune(const struct fm_input *input, const char *path, struct fm_config *config,
                   char why[FM_WHY_BYTES]);

/// Reads the next samples as they are: two numbers each.
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

#endif
