// SPDX-License-Identifier: Apache-2.0
// The radio's last stage: weighted sum of the bands, de-emphasis, and 16-bit samples.
#ifndef FM_SUM_H
#define FM_SUM_H

#include <stdint.h>

#include "fir.h"

enum { FM_BANDS_MAX = 64 };

struct fm_sum {
    uint32_t bands;
    float feed, keep;  // de-emphasis: y[n] = keep * y[n-1] + feed * (x[n] + x[n-1])
    float x, y;        // the sample before the next, and its output
    float gain[FM_BANDS_MAX];
};

/// Prepares the sum of `bands` (1 to FM_BANDS_MAX) with one gain each.
///
/// `tau_samples` is the time constant of the de-emphasis in output samples; 0 leaves it out.
///
/// Context: any. Never blocks.
void fm_sum_init(struct fm_sum *sum, const double *gain, uint32_t bands, double tau_samples);

/// Adds `samples` samples of each band up and de-emphasises.
///
/// Context: the owner of the sum. Never blocks.
/// Memory:  `out` has room for `samples` and overlaps no band.
void fm_sum_process(struct fm_sum *sum, const float *const *band, uint32_t samples, float *out);

/// Converts audio to 16 bits, full scale at 1; louder samples are clipped.
///
/// Context: any. Never blocks.
void fm_pcm16(const float *audio, uint32_t samples, int16_t *pcm);

#endif
