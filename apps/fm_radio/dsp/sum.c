// SPDX-License-Identifier: Apache-2.0
#include "sum.h"

#include <assert.h>
#include <math.h>
#include <string.h>

// The bilinear transform of 1 / (1 + s tau), with its -3 dB point kept at 1 / tau.
void fm_sum_init(struct fm_sum *sum, const double *gain, uint32_t bands, double tau_samples)
{
    assert(bands >= 1 && bands <= FM_BANDS_MAX);
    memset(sum, 0, sizeof *sum);
    sum->bands = bands;
    for (uint32_t i = 0; i < bands; i++)
        sum->gain[i] = (float)gain[i];
    if (tau_samples > 0) {
        const double corner = tan(0.5 / tau_samples);

        sum->feed = (float)(corner / (1 + corner));
        sum->keep = (float)((1 - corner) / (1 + corner));
    }
}

static void add(const float *restrict band, float gain, float *restrict mix)
{
    for (uint32_t i = 0; i < FM_BLOCK; i++)  // hot
        mix[i] += gain * band[i];
}

static void mix_block(const struct fm_sum *sum, const float *const *band, uint32_t from, uint32_t n,
                      float *mix)
{
    float padded[FM_BLOCK] = { 0 };

    memset(mix, 0, FM_BLOCK * sizeof *mix);
    for (uint32_t i = 0; i < sum->bands; i++) {
        const float *block = &band[i][from];

        if (n < FM_BLOCK)
            block = memcpy(padded, block, n * sizeof *padded);
        add(block, sum->gain[i], mix);
    }
}

// The part of the de-emphasis that looks at inputs only. The tiny constant keeps the output of a
// silent station out of the subnormal numbers, which are slow.
static void feed_block(float feed, const float *restrict x, float *restrict fed)
{
    for (uint32_t i = 0; i < FM_BLOCK; i++)  // hot
        fed[i] = feed * (x[i + 1] + x[i]) + 1e-20f;
}

static void deemphasise(struct fm_sum *sum, const float *x, uint32_t n, float *out)
{
    float fed[FM_BLOCK];
    float y = sum->y;

    feed_block(sum->feed, x, fed);
    for (uint32_t i = 0; i < n; i++)
        out[i] = y = sum->keep * y + fed[i];
    sum->y = y;
}

void fm_sum_process(struct fm_sum *sum, const float *const *band, uint32_t samples, float *out)
{
    float x[1 + FM_BLOCK];

    for (uint32_t done = 0; done < samples; done += FM_BLOCK) {
        const uint32_t left = samples - done;
        const uint32_t n = left < FM_BLOCK ? left : FM_BLOCK;

        x[0] = sum->x;
        mix_block(sum, band, done, n, &x[1]);
        if (sum->feed > 0)
            deemphasise(sum, x, n, out + done);
        else
            memcpy(out + done, &x[1], n * sizeof *out);
        sum->x = x[n];
    }
}

// Shifted to be positive, so that the truncation of the conversion rounds halves up.
void fm_pcm16(const float *restrict audio, uint32_t samples, int16_t *restrict pcm)
{
    for (uint32_t i = 0; i < samples; i++) {  // hot
        const float wide = audio[i] * 32767.0f;
        const float high = wide < 32767.0f ? wide : 32767.0f;
        const float clipped = high > -32768.0f ? high : -32768.0f;

        pcm[i] = (int16_t)((int32_t)(clipped + 32768.5f) - 32768);
    }
}
