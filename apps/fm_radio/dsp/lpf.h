// SPDX-License-Identifier: Apache-2.0
// The radio's first stage: IQ of 8 bits or floats in, the station centred at 0 Hz, filtered and
// decimated, out.
#ifndef FM_LPF_H
#define FM_LPF_H

#include <stdint.h>

#include "cutter.h"
#include "fir.h"
#include "rotator.h"

struct fm_lpf {
    struct fm_fir fir;
    uint32_t step;             // of the translation, from one sample to the next
    uint32_t phase;            // of the translation, at the next group's first sample
    struct fm_phasors places;  // by a sample's place in its group
    struct fm_cutter cutter;
    struct fm_line re, im;
};

/// Prepares the filter.
///
/// `offset` is the station's frequency and `cutoff` the edge of the low-pass, both in cycles per
/// input sample.
///
/// Context: any. Never blocks.
void fm_lpf_init(struct fm_lpf *lpf, double offset, double cutoff, uint32_t taps,
                 uint32_t decimation);

/// Begins in the middle of a stream, at sample `first`, a multiple of the decimation.
///
/// Once the filter has seen as many samples as it has taps it goes on as if it had seen all.
///
/// Context: right after fm_lpf_init(). Never blocks.
void fm_lpf_seek(struct fm_lpf *lpf, uint64_t first);

/// Filters `samples` pairs of bytes (I, Q; zero at 127.5).
///
/// Over a stream that makes one output for each `decimation` samples; samples that do not fill a
/// group wait for the next call.
///
/// Context: the owner of the filter. Never blocks.
/// Memory:  `re` and `im` have room for `samples / decimation + 1` outputs each.
/// Returns: the number of outputs.
uint32_t fm_lpf_process(struct fm_lpf *lpf, const uint8_t *iq, uint32_t samples, float *re,
                        float *im);

/// The same of pairs of floats. Samples that do not fill a group are dropped: they are the last.
///
/// Context: the owner of the filter. Never blocks.
/// Memory:  as fm_lpf_process(). `pairs` can be read to a multiple of FM_BLOCK groups.
/// Returns: the number of outputs.
uint32_t fm_lpf_process_floats(struct fm_lpf *lpf, const float *pairs, uint32_t samples, float *re,
                               float *im);

#endif
