// SPDX-License-Identifier: Apache-2.0
// The phasor exp(-j phase) of a steady frequency, a block of samples at a time.
//
// Phase is an integer count of 2^-32 turns, so it wraps and steps exactly: the phasor of sample n
// depends on n alone, never drifts, and needs no table and no recurrence over the samples.
#ifndef FM_ROTATOR_H
#define FM_ROTATOR_H

#include <stdint.h>

#include "fir.h"

struct fm_phasors {
    _Alignas(64) float re[FM_BLOCK];
    _Alignas(64) float im[FM_BLOCK];
};

/// Returns the step of phase for `cycles` per sample (any number; only its fraction counts).
///
/// Context: any. Never blocks.
uint32_t fm_phase_step(double cycles);

/// Writes the phasors of the phases `phase`, `phase + step`, … of one block.
///
/// Each component is within 1e-6 of the truth.
///
/// Context: any. Never blocks.
void fm_phasors_fill(struct fm_phasors *phasors, uint32_t phase, uint32_t step);

#endif
