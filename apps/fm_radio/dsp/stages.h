// SPDX-License-Identifier: Apache-2.0
// Every stage of the radio, built from its configuration: shared by the tasks and the plain loop.
#ifndef FM_STAGES_H
#define FM_STAGES_H

#include "bpf.h"
#include "config.h"
#include "demodulator.h"
#include "lpf.h"
#include "sum.h"

/// Each prepares one stage from numbers that fm_config_check() agreed to.
///
/// Context: any. Never blocks.
void fm_stage_lpf(struct fm_lpf *lpf, const struct fm_config *config);
void fm_stage_demodulator(struct fm_demodulator *demodulator, const struct fm_config *config);
void fm_stage_bpf(struct fm_bpf *bpf, const struct fm_config *config, uint32_t band);
void fm_stage_sum(struct fm_sum *sum, const struct fm_config *config);

/// The input samples of one frame, and the most audio samples that a frame can give.
///
/// Context: any. Never blocks.
uint32_t fm_frame_input(const struct fm_config *config);
uint32_t fm_frame_audio(const struct fm_config *config);

#endif
