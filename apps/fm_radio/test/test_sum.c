// SPDX-License-Identifier: Apache-2.0
// Tests of dsp/sum.h.
#include "../dsp/sum.h"

#include <string.h>

#include "check.h"
#include "signals.h"

enum { SAMPLES = 9600, SETTLED = 960, BANDS = 5 };

static float band_data[BANDS][SAMPLES], out[SAMPLES];
static const float *band[BANDS] = { band_data[0], band_data[1], band_data[2], band_data[3],
                                    band_data[4] };
static struct fm_sum sum;

static void make_noise(uint32_t seed)
{
    for (uint32_t b = 0; b < BANDS; b++)
        for (uint32_t i = 0; i < SAMPLES; i++)
            band_data[b][i] = (float)random_next(&seed) / (1 << 23) - 1;
}

TEST(bands_are_added_up_with_their_gains)
{
    const double gain[BANDS] = { 1, -2, 0, 0.5, 3 };

    make_noise(2);
    fm_sum_init(&sum, gain, BANDS, 0);
    fm_sum_process(&sum, band, SAMPLES, out);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        double expected = 0;

        for (uint32_t b = 0; b < BANDS; b++)
            expected += gain[b] * (double)band_data[b][i];
        CHECK(fabs((double)out[i] - expected) < 2e-6);
    }
}

static double deemphasis_db(double frequency_hz, double rate_hz, double tau_s)
{
    const double one = 1;
    double power = 0;

    for (uint32_t i = 0; i < SAMPLES; i++)
        band_data[0][i] = (float)sin(2 * pi * frequency_hz / rate_hz * i);
    fm_sum_init(&sum, &one, 1, tau_s * rate_hz);
    fm_sum_process(&sum, band, SAMPLES, out);
    for (uint32_t i = SETTLED; i < SAMPLES; i++)
        power += 2 * (double)out[i] * (double)out[i];
    return decibels(power / (SAMPLES - SETTLED));
}

TEST(de_emphasis_falls_as_its_time_constant_says)
{
    const double taus_s[] = { 50e-6, 75e-6 };

    for (uint32_t t = 0; t < 2; t++) {
        const double corner_hz = 1 / (2 * pi * taus_s[t]);

        CHECK(fabs(deemphasis_db(50, 48000, taus_s[t])) < 0.05);
        CHECK(fabs(deemphasis_db(corner_hz, 48000, taus_s[t]) + 3.01) < 0.05);
        for (double f = 1000; f <= 8000; f += 1000) {
            const double analogue = -decibels(1 + pow(f / corner_hz, 2));

            CHECK(fabs(deemphasis_db(f, 48000, taus_s[t]) - analogue) < 1.3);
        }
    }
}

TEST(silence_decays_to_a_normal_number)
{
    const double one = 1;

    memset(band_data, 0, sizeof band_data);
    band_data[0][0] = 1;
    fm_sum_init(&sum, &one, 1, 75e-6 * 48000);
    for (int i = 0; i < 10; i++) {
        fm_sum_process(&sum, band, SAMPLES, out);
        band_data[0][0] = 0;
    }
    CHECK(fpclassify(sum.y) == FP_NORMAL && fabsf(sum.y) < 1e-15f);
}

TEST(the_sum_gives_the_same_bits_however_its_input_is_cut)
{
    const double gain[BANDS] = { 1, 0.7, -0.3, 2, 0.1 };
    static float cut[SAMPLES];
    uint32_t seed = 4;

    make_noise(8);
    fm_sum_init(&sum, gain, BANDS, 3.6);
    fm_sum_process(&sum, band, SAMPLES, out);
    fm_sum_init(&sum, gain, BANDS, 3.6);
    for (uint32_t at = 0, n; at < SAMPLES; at += n) {
        const float *from[BANDS];

        for (uint32_t b = 0; b < BANDS; b++)
            from[b] = band[b] + at;
        n = piece_length(&seed, SAMPLES - at);
        fm_sum_process(&sum, from, n, cut + at);
    }
    CHECK(memcmp(out, cut, sizeof out) == 0);
}

TEST(a_sum_begun_in_the_middle_soon_gives_the_same_bits)
{
    const double gain[BANDS] = { 1, 0.7, -0.3, 2, 0.1 };
    static float late[SAMPLES];
    const float *from[BANDS];

    make_noise(13);
    for (uint32_t b = 0; b < BANDS; b++)
        from[b] = band[b] + SETTLED;
    fm_sum_init(&sum, gain, BANDS, 3.6);
    fm_sum_process(&sum, band, SAMPLES, out);
    fm_sum_init(&sum, gain, BANDS, 3.6);
    fm_sum_process(&sum, from, SAMPLES - SETTLED, late);
    CHECK(out[SETTLED] != late[0]);
    CHECK(memcmp(out + 2 * SETTLED, late + SETTLED, (SAMPLES - 2 * SETTLED) * sizeof *out) == 0);
}

TEST(loud_samples_are_clipped_and_the_others_rounded)
{
    const float audio[] = {
        0, 1, -1, 1.5f, -1.5f, 0.5f, 1.4f / 32767, 1.6f / 32767, -1.6f / 32767, 1e30f, -1e30f
    };
    const int16_t expected[] = { 0, 32767, -32767, 32767, -32768, 16384, 1, 2, -2, 32767, -32768 };
    int16_t pcm[sizeof expected / sizeof *expected];

    fm_pcm16(audio, sizeof pcm / sizeof *pcm, pcm);
    CHECK(memcmp(pcm, expected, sizeof pcm) == 0);
}
