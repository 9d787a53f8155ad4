// SPDX-License-Identifier: Apache-2.0
// FM quadrature demodulator: the angle from each complex sample to the next, scaled to deviation.
#ifndef FM_DEMODULATOR_H
#define FM_DEMODULATOR_H

#include <stdint.h>

struct fm_demodulator {
    float gain;
    float re, im;  // the sample before the next
};

/// Prepares the demodulator; `deviation` (cycles per sample) will give an output of 1.
///
/// Context: any. Never blocks.
void fm_demodulator_init(struct fm_demodulator *demodulator, double deviation);

/// Demodulates `samples` complex samples into as many real ones.
///
/// The first of a stream is 0, as is every step from or to a sample that is exactly 0.
///
/// Context: the owner of the demodulator. Never blocks.
/// Memory:  `out` has room for `samples` and overlaps neither input.
void fm_demodulator_process(struct fm_demodulator *demodulator, const float *re, const float *im,
                            uint32_t samples, float *out);

#endif
