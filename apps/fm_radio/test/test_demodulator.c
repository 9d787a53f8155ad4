// SPDX-License-Identifier: Apache-2.0
// Tests of dsp/demodulator.h.
#include "../dsp/demodulator.h"

#include <string.h>

#include "check.h"
#include "signals.h"

enum { SAMPLES = 20000 };

static float re[SAMPLES], im[SAMPLES], out[SAMPLES];
static struct fm_demodulator demodulator;

TEST(the_angle_is_right_to_a_millionth_of_a_turn_all_around)
{
    double phase[SAMPLES];

    // Step i turns by i / SAMPLES - 1/2 of a turn, at levels from 1e-3 to 1e3.
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const double level = pow(10, 3 * sin(i * 0.1));

        phase[i] = i == 0 ? 0 : phase[i - 1] + 2 * pi * ((double)i / SAMPLES - 0.5);
        re[i] = (float)(level * cos(phase[i]));
        im[i] = (float)(level * sin(phase[i]));
    }
    fm_demodulator_init(&demodulator, 1);
    fm_demodulator_process(&demodulator, re, im, SAMPLES, out);
    for (uint32_t i = 1; i < SAMPLES; i++)
        CHECK(fabs((double)out[i] - ((double)i / SAMPLES - 0.5)) < 1e-6);
}

TEST(full_deviation_gives_one_and_its_opposite_minus_one)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        for (uint32_t i = 0; i < SAMPLES; i++) {
            re[i] = (float)(50 * cos(2 * pi * 0.3125 * i));
            im[i] = (float)(50 * sign * sin(2 * pi * 0.3125 * i));
        }
        fm_demodulator_init(&demodulator, 75.0 / 240);
        fm_demodulator_process(&demodulator, re, im, SAMPLES, out);
        CHECK(out[0] == 0);
        for (uint32_t i = 1; i < SAMPLES; i++)
            CHECK(fabsf(out[i] - (float)sign) < 1e-5f);
    }
}

TEST(samples_that_are_zero_give_zero)
{
    memset(re, 0, sizeof re);
    memset(im, 0, sizeof im);
    re[100] = 3;
    fm_demodulator_init(&demodulator, 0.3);
    fm_demodulator_process(&demodulator, re, im, SAMPLES, out);
    for (uint32_t i = 0; i < SAMPLES; i++)
        CHECK(out[i] == 0);
}

TEST(the_demodulator_gives_the_same_bits_however_its_input_is_cut)
{
    static float cut[SAMPLES];
    uint32_t seed = 3;

    for (uint32_t i = 0; i < SAMPLES; i++) {
        re[i] = (float)random_next(&seed) - (1 << 23);
        im[i] = (float)random_next(&seed) - (1 << 23);
    }
    fm_demodulator_init(&demodulator, 0.3);
    fm_demodulator_process(&demodulator, re, im, SAMPLES, out);
    fm_demodulator_init(&demodulator, 0.3);
    for (uint32_t at = 0, n; at < SAMPLES; at += n) {
        n = piece_length(&seed, SAMPLES - at);
        fm_demodulator_process(&demodulator, re + at, im + at, n, cut + at);
    }
    CHECK(memcmp(out, cut, sizeof out) == 0);
}
