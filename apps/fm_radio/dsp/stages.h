// SPDX-License-Identifier: Apache-2.0
// Every stage of the radio, built from its configuration: shared by the tasks and the plain loop.
#ifndef FM_STAGES_H
#define FM_STAGES_H

#include "bpf.h"
#include "config.h"
#include "demodulator.h"
#include "input.h"
#include "lpf.h"
#include "sum.h"

/// Each prepares one stage from numbers that fm_config_check() agreed to.
///
/// Context: any. Never blocks.
void fm_stage_lpf(struct fm_lpf *lpf, const struct fm_config *config);
void fm_stage_demodulator(struct fm_demodulator *demodulator, const struct fm_config *config);
void fm_stage_bpf(struct fm_bpf *bpf, const struct fm_config *config, uint32_t band);
void fm_stage_sum(struct fm_sum *sum, const struct fm_config *config);

/// The bytes that fm_stage_read() needs for the samples of an input.
///
/// Context: any. Never blocks.
size_t fm_stage_room(const struct fm_input *input, const struct fm_config *config);

/// Reads and filters the samples of the next frame.
///
/// Context: the owner of the input. May block as it does.
/// Memory:  `room` has fm_stage_room() bytes, aligned to 16; `re` and `im` have room for a frame.
/// Returns: how many the filter gives, 0 at the end of the input; -1 with the reason in `why`.
int64_t fm_stage_read(struct fm_lpf *lpf, struct fm_input *input, const struct fm_config *config,
                      uint8_t *room, float *re, float *im, char why[FM_WHY_BYTES]);

/// The input samples of one frame, and the most audio samples that a frame can give.
///
/// Context: any. Never blocks.
uint32_t fm_frame_input(const struct fm_config *config);
uint32_t fm_frame_audio(const struct fm_config *config);

#endif
