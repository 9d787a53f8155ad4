// SPDX-License-Identifier: Apache-2.0
// One band of the equaliser, which also brings the signal down to the audio rate.
//
// The bands divide 0 Hz to `cutoff` evenly. Each is the difference of two low-passes of one length,
// so all of them together are the widest low-pass: with equal gains the equaliser is flat.
#ifndef FM_BPF_H
#define FM_BPF_H

#include <stdint.h>

#include "cutter.h"
#include "fir.h"

struct fm_bpf {
    struct fm_fir fir;
    struct fm_cutter cutter;
    struct fm_line line;
};

/// Prepares band `band` of `bands`; `cutoff` is in cycles per input sample.
///
/// Context: any. Never blocks.
void fm_bpf_init(struct fm_bpf *bpf, uint32_t band, uint32_t bands, double cutoff, uint32_t taps,
                 uint32_t decimation);

/// Begins in the middle of a stream, at sample `first`.
///
/// Once the filter has seen as many samples as it has taps, and the rest of a group, it goes on as
/// if it had seen all.
///
/// Context: right after fm_bpf_init(). Never blocks.
void fm_bpf_seek(struct fm_bpf *bpf, uint64_t first);

/// Filters `samples` samples.
///
/// Over a stream that makes one output for each `decimation` samples; samples that do not fill a
/// group wait for the next call.
///
/// Context: the owner of the filter. Never blocks.
/// Memory:  `out` has room for `samples / decimation + 1` outputs.
/// Returns: the number of outputs.
uint32_t fm_bpf_process(struct fm_bpf *bpf, const float *in, uint32_t samples, float *out);

#endif
