// SPDX-License-Identifier: Apache-2.0
// A decimating FIR filter on real samples: taps, delay line, and the block that does the work.
//
// Samples come in groups of `decimation`; one group gives one output. The delay line keeps one row
// per phase (the place of a sample in its group), so that a block of outputs reads each row
// contiguously, whatever the decimation. A block is always computed whole, also where fewer outputs
// are wanted: each output is then made by the same instructions wherever it falls, and the result
// does not depend on how the stream is cut. A complex filter is one fir with two lines.
#ifndef FM_FIR_H
#define FM_FIR_H

#include <stdint.h>

enum {
    FM_BLOCK = 64,  // outputs a block; four 512-bit accumulators hide the latency of one FMA
    FM_TAPS_MAX = 512,
    FM_DECIMATION_MAX = 16,
    FM_LINE_FLOATS = FM_BLOCK * FM_DECIMATION_MAX + FM_TAPS_MAX + FM_DECIMATION_MAX,
};

struct fm_fir {
    uint32_t decimation;
    uint32_t phase_taps;  // taps of one phase; the last phases are padded with zeros
    uint32_t row_floats;  // one row: history, then room for at least one block
    float taps[FM_TAPS_MAX + FM_DECIMATION_MAX];  // phase by phase, the oldest sample's phase first
};

struct fm_line {
    uint32_t at;  // where the next block begins in each row
    _Alignas(64) float rows[FM_LINE_FLOATS];
};

/// Designs a low-pass of linear phase: a sinc under a Hamming window, gain 1 at 0 Hz.
///
/// `cutoff` is the -6 dB edge in cycles per sample, 0 to 0.5; at 0 all taps are 0 (no band), so
/// that differences of low-passes of one length add up to the widest of them.
///
/// Context: any. Never blocks.
void fm_lowpass_design(double *taps, uint32_t count, double cutoff);

/// Takes over taps as a filter.
///
/// `count` is 1 to FM_TAPS_MAX, `decimation` 1 to FM_DECIMATION_MAX (asserted).
///
/// Context: any. Never blocks.
void fm_fir_init(struct fm_fir *fir, const double *taps, uint32_t count, uint32_t decimation);

/// Empties a line: the past is silence.
///
/// Context: any. Never blocks.
void fm_line_init(struct fm_line *line, const struct fm_fir *fir);

/// Says where the next FM_BLOCK samples of a phase are to be written.
///
/// Context: the owner of the line. Never blocks.
float *fm_line_row(struct fm_line *line, const struct fm_fir *fir, uint32_t phase);

/// Filters the block that was just written into the rows and makes it past.
///
/// Only the first `groups` (1 to FM_BLOCK) of each row count; the others are dropped.
///
/// Context: the owner of the line. Never blocks.
/// Memory:  `out` has room for `groups` outputs.
void fm_line_filter(struct fm_line *line, const struct fm_fir *fir, uint32_t groups, float *out);

#endif
