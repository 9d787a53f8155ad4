// SPDX-License-Identifier: Apache-2.0
#include "lpf.h"

#include <string.h>

enum { PAIR_BYTES = 2 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a pair has I in its low byte");

void fm_lpf_init(struct fm_lpf *lpf, double offset, double cutoff, uint32_t taps,
                 uint32_t decimation)
{
    double design[FM_TAPS_MAX];

    fm_lowpass_design(design, taps, cutoff);
    fm_fir_init(&lpf->fir, design, taps, decimation);
    lpf->step = fm_phase_step(offset);
    lpf->phase = 0;
    fm_phasors_fill(&lpf->places, 0, lpf->step);
    fm_cutter_init(&lpf->cutter, decimation * PAIR_BYTES);
    fm_line_init(&lpf->re, &lpf->fir);
    fm_line_init(&lpf->im, &lpf->fir);
}

void fm_lpf_seek(struct fm_lpf *lpf, uint64_t first)
{
    lpf->phase = (uint32_t)(first * lpf->step);
}

// Constant strides let the compiler pick the pairs with shuffles instead of one by one.
static inline void pick(const uint8_t *iq, uint32_t stride, uint16_t *pair)
{
    for (uint32_t i = 0; i < FM_BLOCK; i++)
        memcpy(&pair[i], iq + (size_t)PAIR_BYTES * stride * i, sizeof *pair);
}

static void pick_phase(const uint8_t *iq, uint32_t decimation, uint16_t *pair)
{
    switch (decimation) {
    case 1:
        pick(iq, 1, pair);
        break;
    case 2:
        pick(iq, 2, pair);
        break;
    case 4:
        pick(iq, 4, pair);
        break;
    case 8:
        pick(iq, 8, pair);
        break;
    default:
        pick(iq, decimation, pair);
    }
}

// (I + jQ) times `turn` (constant over the block: the phase's place in its group) times `phasors`.
static void translate(const uint16_t *restrict pair, const struct fm_phasors *restrict phasors,
                      float turn_re, float turn_im, float *restrict re, float *restrict im)
{
    for (uint32_t i = 0; i < FM_BLOCK; i++) {  // hot
        const float x_re = (float)(pair[i] & 0xff) - 127.5f;
        const float x_im = (float)(pair[i] >> 8) - 127.5f;
        const float p_re = turn_re * phasors->re[i] - turn_im * phasors->im[i];
        const float p_im = turn_re * phasors->im[i] + turn_im * phasors->re[i];

        re[i] = x_re * p_re - x_im * p_im;
        im[i] = x_re * p_im + x_im * p_re;
    }
}

// The same of floats.
static void translate_floats(const float *restrict pairs, uint32_t stride,
                             const struct fm_phasors *restrict phasors, float turn_re,
                             float turn_im, float *restrict re, float *restrict im)
{
    for (uint32_t i = 0; i < FM_BLOCK; i++) {
        const float x_re = pairs[(size_t)2 * stride * i], x_im = pairs[(size_t)2 * stride * i + 1];
        const float p_re = turn_re * phasors->re[i] - turn_im * phasors->im[i];
        const float p_im = turn_re * phasors->im[i] + turn_im * phasors->re[i];

        re[i] = x_re * p_re - x_im * p_im;
        im[i] = x_re * p_im + x_im * p_re;
    }
}

static void load_block(struct fm_lpf *lpf, const uint8_t *iq)
{
    const uint32_t decimation = lpf->fir.decimation;
    struct fm_phasors groups;
    uint16_t pair[FM_BLOCK];

    fm_phasors_fill(&groups, lpf->phase, decimation * lpf->step);
    for (uint32_t phase = 0; phase < decimation; phase++) {
        pick_phase(iq + (size_t)PAIR_BYTES * phase, decimation, pair);
        translate(pair, &groups, lpf->places.re[phase], lpf->places.im[phase],
                  fm_line_row(&lpf->re, &lpf->fir, phase), fm_line_row(&lpf->im, &lpf->fir, phase));
    }
}

uint32_t fm_lpf_process(struct fm_lpf *lpf, const uint8_t *iq, uint32_t samples, float *re,
                        float *im)
{
    struct fm_span piece = { iq, samples * PAIR_BYTES };
    const uint8_t *block;
    uint32_t groups, made = 0;

    while ((block = fm_cutter_next(&lpf->cutter, &piece, &groups))) {
        load_block(lpf, block);
        fm_line_filter(&lpf->re, &lpf->fir, groups, re + made);
        fm_line_filter(&lpf->im, &lpf->fir, groups, im + made);
        lpf->phase += groups * lpf->fir.decimation * lpf->step;
        made += groups;
    }
    return made;
}

uint32_t fm_lpf_process_floats(struct fm_lpf *lpf, const float *pairs, uint32_t samples, float *re,
                               float *im)
{
    const uint32_t decimation = lpf->fir.decimation, made = samples / decimation;
    struct fm_phasors groups;
    uint32_t n;

    for (uint32_t done = 0; done < made; done += n) {
        const float *block = pairs + (size_t)2 * decimation * done;

        n = made - done < FM_BLOCK ? made - done : FM_BLOCK;
        fm_phasors_fill(&groups, lpf->phase, decimation * lpf->step);
        for (uint32_t phase = 0; phase < decimation; phase++)
            translate_floats(block + (size_t)2 * phase, decimation, &groups, lpf->places.re[phase],
                             lpf->places.im[phase], fm_line_row(&lpf->re, &lpf->fir, phase),
                             fm_line_row(&lpf->im, &lpf->fir, phase));
        fm_line_filter(&lpf->re, &lpf->fir, n, re + done);
        fm_line_filter(&lpf->im, &lpf->fir, n, im + done);
        lpf->phase += n * decimation * lpf->step;
    }
    return made;
}
