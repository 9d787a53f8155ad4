// SPDX-License-Identifier: Apache-2.0
#include "bpf.h"

#include <string.h>

void fm_bpf_init(struct fm_bpf *bpf, uint32_t band, uint32_t bands, double cutoff, uint32_t taps,
                 uint32_t decimation)
{
    double below[FM_TAPS_MAX], upto[FM_TAPS_MAX];

    fm_lowpass_design(below, taps, cutoff * band / bands);
    fm_lowpass_design(upto, taps, cutoff * (band + 1) / bands);
    for (uint32_t i = 0; i < taps; i++)
        upto[i] -= below[i];
    fm_fir_init(&bpf->fir, upto, taps, decimation);
    fm_cutter_init(&bpf->cutter, decimation * (uint32_t)sizeof(float));
    fm_line_init(&bpf->line, &bpf->fir);
}

void fm_bpf_seek(struct fm_bpf *bpf, uint64_t first)
{
    const uint32_t missing = (uint32_t)(first % bpf->fir.decimation);

    fm_cutter_skip(&bpf->cutter, missing * (uint32_t)sizeof(float));
}

static void load_block(struct fm_bpf *bpf, const unsigned char *block)
{
    const uint32_t decimation = bpf->fir.decimation;

    if (decimation == 1) {
        memcpy(fm_line_row(&bpf->line, &bpf->fir, 0), block, FM_BLOCK * sizeof(float));
        return;
    }
    for (uint32_t phase = 0; phase < decimation; phase++) {
        float *row = fm_line_row(&bpf->line, &bpf->fir, phase);

        for (uint32_t i = 0; i < FM_BLOCK; i++)
            memcpy(&row[i], block + (i * decimation + phase) * sizeof *row, sizeof *row);
    }
}

uint32_t fm_bpf_process(struct fm_bpf *bpf, const float *in, uint32_t samples, float *out)
{
    struct fm_span piece = { (const unsigned char *)in, samples * (uint32_t)sizeof *in };
    const unsigned char *block;
    uint32_t groups, made = 0;

    while ((block = fm_cutter_next(&bpf->cutter, &piece, &groups))) {
        load_block(bpf, block);
        fm_line_filter(&bpf->line, &bpf->fir, groups, out + made);
        made += groups;
    }
    return made;
}
