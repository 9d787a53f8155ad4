// SPDX-License-Identifier: Apache-2.0
#include "fir.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

void fm_lowpass_design(double *taps, uint32_t count, double cutoff)
{
    const double middle = (count - 1) / 2.0;
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        const double t = i - middle;
        const double sinc = t == 0 ? 2 * cutoff : sin(2 * pi * cutoff * t) / (pi * t);
        const double window = count > 1 ? 0.54 + 0.46 * cos(pi * t / middle) : 1;

        taps[i] = sinc * window;
        sum += taps[i];
    }
    for (uint32_t i = 0; cutoff > 0 && i < count; i++)
        taps[i] /= sum;
}

// Tap k meets the sample k before the newest, which is the last of its group.
void fm_fir_init(struct fm_fir *fir, const double *taps, uint32_t count, uint32_t decimation)
{
    assert(count >= 1 && count <= FM_TAPS_MAX);
    assert(decimation >= 1 && decimation <= FM_DECIMATION_MAX);

    memset(fir, 0, sizeof *fir);
    fir->decimation = decimation;
    fir->phase_taps = (count + decimation - 1) / decimation;
    const uint32_t blocks = FM_DECIMATION_MAX / decimation;
    fir->row_floats = fir->phase_taps - 1 + blocks * FM_BLOCK;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t phase = decimation - 1 - k % decimation;

        fir->taps[phase * fir->phase_taps + k / decimation] = (float)taps[k];
    }
}

void fm_line_init(struct fm_line *line, const struct fm_fir *fir)
{
    memset(line, 0, sizeof *line);
    line->at = fir->phase_taps - 1;
}

float *fm_line_row(struct fm_line *line, const struct fm_fir *fir, uint32_t phase)
{
    return &line->rows[phase * fir->row_floats + line->at];
}

// The lanes are outputs, so each sums its taps in one fixed order and the compiler needs no leave
// to reorder additions.
static void filter_block(const struct fm_fir *fir, const struct fm_line *line, float *restrict out)
{
    float sum[FM_BLOCK] = { 0 };
    const float *tap = fir->taps;

    for (uint32_t phase = 0; phase < fir->decimation; phase++) {
        const float *x = &line->rows[phase * fir->row_floats + line->at];

        for (uint32_t k = 0; k < fir->phase_taps; k++, x--, tap++)
            for (uint32_t i = 0; i < FM_BLOCK; i++)  // hot
                sum[i] += *tap * x[i];
    }
    memcpy(out, sum, sizeof sum);
}

static void advance(struct fm_line *line, const struct fm_fir *fir, uint32_t groups)
{
    const uint32_t past = fir->phase_taps - 1;

    line->at += groups;
    if (line->at + FM_BLOCK <= fir->row_floats)
        return;
    for (uint32_t phase = 0; phase < fir->decimation; phase++) {
        float *row = &line->rows[phase * fir->row_floats];

        memmove(row, row + line->at - past, past * sizeof *row);
    }
    line->at = past;
}

void fm_line_filter(struct fm_line *line, const struct fm_fir *fir, uint32_t groups, float *out)
{
    float padded[FM_BLOCK];

    if (groups == FM_BLOCK) {
        filter_block(fir, line, out);
    } else {
        filter_block(fir, line, padded);
        memcpy(out, padded, groups * sizeof *out);
    }
    advance(line, fir, groups);
}
