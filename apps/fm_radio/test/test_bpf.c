// SPDX-License-Identifier: Apache-2.0
// Tests of dsp/bpf.h.
#include "../dsp/bpf.h"

#include <string.h>

#include "check.h"
#include "signals.h"

enum { SAMPLES = 12000, SETTLED = 500, BANDS_MAX = 7 };

static float in[SAMPLES], out[SAMPLES + 1];
static struct fm_bpf bpf;

static void make_noise(uint32_t seed)
{
    for (uint32_t i = 0; i < SAMPLES; i++)
        in[i] = (float)random_next(&seed) / (1 << 23) - 1;
}

TEST(the_bands_of_any_number_add_up_to_one_flat_low_pass)
{
    static float flat[SAMPLES + 1];

    make_noise(5);
    fm_bpf_init(&bpf, 0, 1, 0.066, 128, 5);
    const uint32_t made = fm_bpf_process(&bpf, in, SAMPLES, flat);
    for (uint32_t bands = 2; bands <= BANDS_MAX; bands++) {
        double sum[SAMPLES + 1] = { 0 };

        for (uint32_t band = 0; band < bands; band++) {
            fm_bpf_init(&bpf, band, bands, 0.066, 128, 5);
            CHECK(fm_bpf_process(&bpf, in, SAMPLES, out) == made);
            for (uint32_t i = 0; i < made; i++)
                sum[i] += (double)out[i];
        }
        for (uint32_t i = 0; i < made; i++)
            CHECK(fabs(sum[i] - (double)flat[i]) < 1e-6);
    }
}

static double tone_gain_db(double cycles, uint32_t band, uint32_t bands)
{
    double power = 0;

    for (uint32_t i = 0; i < SAMPLES; i++)
        in[i] = (float)sin(2 * pi * cycles * i);
    fm_bpf_init(&bpf, band, bands, 0.24, 256, 2);
    const uint32_t made = fm_bpf_process(&bpf, in, SAMPLES, out);
    for (uint32_t i = SETTLED; i < made; i++)
        power += 2 * (double)out[i] * (double)out[i];
    return decibels(power / (made - SETTLED));
}

TEST(a_band_passes_its_middle_halves_its_edges_and_stops_the_others)
{
    for (uint32_t band = 0; band < 4; band++) {
        for (uint32_t other = 0; other < 4; other++) {
            const double gain = tone_gain_db(0.06 * other + 0.0301, band, 4);

            CHECK(other == band ? fabs(gain) < 0.05 : gain < -50);
        }
        CHECK(fabs(tone_gain_db(0.06 * (band + 1), band, 4) + 6.02) < 0.1);
    }
}

TEST(a_band_gives_the_same_bits_however_its_input_is_cut)
{
    static float cut[SAMPLES + 1];
    uint32_t seed = 9;

    make_noise(6);
    for (uint32_t decimation = 1; decimation <= FM_DECIMATION_MAX; decimation++) {
        uint32_t made = 0;

        fm_bpf_init(&bpf, 1, 3, 0.02, 127, decimation);
        CHECK(fm_bpf_process(&bpf, in, SAMPLES, out) == SAMPLES / decimation);
        fm_bpf_init(&bpf, 1, 3, 0.02, 127, decimation);
        for (uint32_t at = 0, n; at < SAMPLES; at += n) {
            n = piece_length(&seed, SAMPLES - at);
            made += fm_bpf_process(&bpf, in + at, n, cut + made);
        }
        CHECK(made == SAMPLES / decimation);
        CHECK(memcmp(out, cut, made * sizeof *out) == 0);
    }
}

TEST(a_band_begun_in_the_middle_goes_on_as_if_it_had_seen_all)
{
    static float late[SAMPLES + 1];

    make_noise(12);
    for (uint32_t decimation = 1; decimation <= 8; decimation++) {
        const uint32_t skipped = 1111, before = skipped / decimation;

        fm_bpf_init(&bpf, 0, 3, 0.06, 128, decimation);
        const uint32_t made = fm_bpf_process(&bpf, in, SAMPLES, out);
        fm_bpf_init(&bpf, 0, 3, 0.06, 128, decimation);
        fm_bpf_seek(&bpf, skipped);
        CHECK(fm_bpf_process(&bpf, in + skipped, SAMPLES - skipped, late) == made - before);
        CHECK(out[before] != late[0]);
        for (uint32_t i = 128 / decimation + 1; i < made - before; i++)
            CHECK(out[before + i] == late[i]);
    }
}
