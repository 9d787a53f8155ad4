// SPDX-License-Identifier: Apache-2.0
// Tests of dsp/lpf.h.
#include "../dsp/lpf.h"

#include <string.h>

#include "check.h"
#include "signals.h"

enum { SAMPLES = 24000, SETTLED = 1000 };

static uint8_t iq[2 * SAMPLES];
static float re[SAMPLES + 1], im[SAMPLES + 1];
static struct fm_lpf lpf;

static void make_tone(double cycles, double amplitude)
{
    for (uint32_t n = 0; n < SAMPLES; n++) {
        iq[2 * n] = (uint8_t)lround(127.5 + amplitude * cos(2 * pi * cycles * n));
        iq[2 * n + 1] = (uint8_t)lround(127.5 + amplitude * sin(2 * pi * cycles * n));
    }
}

// Power that comes out of a tone of amplitude 100, against what went in.
static double tone_gain_db(double cycles, double offset, uint32_t decimation)
{
    double power = 0;

    make_tone(cycles, 100);
    fm_lpf_init(&lpf, offset, 0.1, 64, decimation);
    const uint32_t made = fm_lpf_process(&lpf, iq, SAMPLES, re, im);
    for (uint32_t i = SETTLED; i < made; i++)
        power += (double)re[i] * (double)re[i] + (double)im[i] * (double)im[i];
    return decibels(power / (made - SETTLED) / 1e4);
}

TEST(a_tone_near_the_station_passes_and_one_beside_it_is_stopped)
{
    for (uint32_t decimation = 1; decimation <= 4; decimation++) {
        CHECK(fabs(tone_gain_db(0.21, 0.2, decimation)) < 0.1);
        CHECK(fabs(tone_gain_db(0.14, 0.2, decimation)) < 0.1);
        CHECK(tone_gain_db(0.35, 0.2, decimation) < -45);
        CHECK(tone_gain_db(0.05, 0.2, decimation) < -45);
        CHECK(fabs(tone_gain_db(-0.27, -0.2, decimation)) < 0.1);
        CHECK(tone_gain_db(0.2, -0.2, decimation) < -45);
    }
}

TEST(the_station_comes_to_rest_at_0_hz)
{
    make_tone(0.2, 100);
    fm_lpf_init(&lpf, 0.2, 0.1, 64, 3);
    CHECK(fm_lpf_process(&lpf, iq, SAMPLES, re, im) == SAMPLES / 3);
    for (uint32_t i = SETTLED; i < SAMPLES / 3; i++) {
        const double angle =
            atan2((double)im[i], (double)re[i]) - atan2((double)im[SETTLED], (double)re[SETTLED]);

        CHECK(fabs(angle) < 0.01);
    }
}

TEST(bytes_127_and_128_are_half_a_step_to_either_side_of_zero)
{
    memset(iq, 127, sizeof iq);
    fm_lpf_init(&lpf, 0, 0.1, 64, 1);
    fm_lpf_process(&lpf, iq, SAMPLES, re, im);
    CHECK(fabsf(re[SETTLED] + 0.5f) < 1e-5f && fabsf(im[SETTLED] + 0.5f) < 1e-5f);
    memset(iq, 128, sizeof iq);
    fm_lpf_process(&lpf, iq, SAMPLES, re, im);
    CHECK(fabsf(re[SETTLED] - 0.5f) < 1e-5f && fabsf(im[SETTLED] - 0.5f) < 1e-5f);
}

TEST(the_low_pass_gives_the_same_bits_however_its_input_is_cut)
{
    static float cut_re[SAMPLES + 1], cut_im[SAMPLES + 1];
    uint32_t seed = 7;

    for (uint32_t i = 0; i < sizeof iq; i++)
        iq[i] = (uint8_t)random_next(&seed);
    for (uint32_t decimation = 1; decimation <= FM_DECIMATION_MAX; decimation++) {
        uint32_t made = 0;

        fm_lpf_init(&lpf, 0.123, 0.1, 61, decimation);
        CHECK(fm_lpf_process(&lpf, iq, SAMPLES, re, im) == SAMPLES / decimation);
        fm_lpf_init(&lpf, 0.123, 0.1, 61, decimation);
        for (uint32_t at = 0, n; at < SAMPLES; at += n) {
            n = piece_length(&seed, SAMPLES - at);
            made += fm_lpf_process(&lpf, iq + 2 * (size_t)at, n, cut_re + made, cut_im + made);
        }
        CHECK(made == SAMPLES / decimation);
        CHECK(memcmp(re, cut_re, made * sizeof *re) == 0);
        CHECK(memcmp(im, cut_im, made * sizeof *im) == 0);
    }
}

TEST(a_low_pass_begun_in_the_middle_goes_on_as_if_it_had_seen_all)
{
    static float late_re[SAMPLES + 1], late_im[SAMPLES + 1];
    uint32_t seed = 17;

    for (uint32_t i = 0; i < sizeof iq; i++)
        iq[i] = (uint8_t)random_next(&seed);
    for (uint32_t decimation = 1; decimation <= 5; decimation++) {
        const uint32_t skipped = 1111, settled = (64 + decimation - 1) / decimation;

        fm_lpf_init(&lpf, 0.123, 0.1, 64, decimation);
        const uint32_t made = fm_lpf_process(&lpf, iq, SAMPLES, re, im);
        fm_lpf_init(&lpf, 0.123, 0.1, 64, decimation);
        fm_lpf_seek(&lpf, (uint64_t)skipped * decimation);
        const uint32_t at = skipped * decimation;
        CHECK(fm_lpf_process(&lpf, iq + 2 * (size_t)at, SAMPLES - at, late_re, late_im) ==
              made - skipped);
        CHECK(memcmp(re, late_re, sizeof *re) != 0);
        for (uint32_t i = settled; i < made - skipped; i++)
            CHECK(re[skipped + i] == late_re[i] && im[skipped + i] == late_im[i]);
    }
}
