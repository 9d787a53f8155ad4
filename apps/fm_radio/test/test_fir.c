// SPDX-License-Identifier: Apache-2.0
// Tests of dsp/fir.h and dsp/rotator.h.
#include "../dsp/fir.h"

#include <complex.h>

#include "../dsp/rotator.h"
#include "check.h"
#include "signals.h"

static double gain_db(const double *taps, uint32_t count, double frequency)
{
    double complex sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += taps[i] * cexp(-2 * pi * I * frequency * i);
    return decibels(creal(sum * conj(sum)));
}

TEST(a_low_pass_is_flat_below_its_edge_halves_at_it_and_stops_50_db_above)
{
    const uint32_t counts[] = { 64, 65, 128, 301 };

    for (uint32_t c = 0; c < 4; c++) {
        const uint32_t count = counts[c];
        const double width = 2.0 / count;  // half of the Hamming window's main lobe
        double taps[FM_TAPS_MAX];

        fm_lowpass_design(taps, count, 0.2);
        for (double f = 0; f < 0.5; f += 0.0005) {
            const double gain = gain_db(taps, count, f);

            CHECK(f > 0.2 - width || fabs(gain) < 0.03);
            CHECK(f < 0.2 + width || gain < -50);
        }
        CHECK(fabs(gain_db(taps, count, 0.2) + 6.02) < 0.1);
    }
}

TEST(a_low_pass_has_linear_phase)
{
    double taps[101];

    fm_lowpass_design(taps, 101, 0.13);
    for (uint32_t i = 0; i < 101; i++)
        CHECK(fabs(taps[i] - taps[100 - i]) < 1e-15);
}

enum { BLOCKS = 9, TAPS = 75 };

// Sample `at` of the convolution, summed in double precision.
static double convolve(const double *taps, const float *in, int64_t at)
{
    double sum = 0;

    for (int64_t k = 0; k < TAPS && k <= at; k++)
        sum += taps[k] * (double)in[at - k];
    return sum;
}

TEST(a_line_filters_as_the_convolution_says_for_every_decimation)
{
    static float in[BLOCKS * FM_BLOCK * FM_DECIMATION_MAX];
    static struct fm_line line;
    struct fm_fir fir;
    double taps[TAPS];
    uint32_t seed = 1;

    fm_lowpass_design(taps, TAPS, 0.07);
    for (uint32_t i = 0; i < sizeof in / sizeof *in; i++)
        in[i] = (float)random_next(&seed) / (1 << 23) - 1;
    for (uint32_t decimation = 1; decimation <= FM_DECIMATION_MAX; decimation++) {
        fm_fir_init(&fir, taps, TAPS, decimation);
        fm_line_init(&line, &fir);
        for (uint32_t block = 0; block < BLOCKS; block++) {
            const uint32_t first = block * FM_BLOCK;
            float out[FM_BLOCK];

            for (uint32_t phase = 0; phase < decimation; phase++)
                for (uint32_t i = 0; i < FM_BLOCK; i++)
                    fm_line_row(&line, &fir, phase)[i] = in[(first + i) * decimation + phase];
            fm_line_filter(&line, &fir, FM_BLOCK, out);
            for (uint32_t i = 0; i < FM_BLOCK; i++) {
                const int64_t newest = (int64_t)(first + i + 1) * decimation - 1;

                CHECK(fabs((double)out[i] - convolve(taps, in, newest)) < 1e-6);
            }
        }
    }
}

TEST(phasors_are_right_to_a_millionth_and_stay_so)
{
    const double cycles[] = { 0, 1 / 60.0, -1 / 32.0, 0.37, -0.4999, 1e-9 };
    struct fm_phasors phasors;

    for (uint32_t c = 0; c < sizeof cycles / sizeof *cycles; c++) {
        const uint32_t step = fm_phase_step(cycles[c]);

        for (uint64_t n = 0; n < 20000000000; n += 1000000007) {
            fm_phasors_fill(&phasors, (uint32_t)(n * step), step);
            for (uint32_t i = 0; i < FM_BLOCK; i++) {
                const double turns = (double)(uint32_t)((n + i) * step) / 4294967296.0;

                CHECK(fabs((double)phasors.re[i] - cos(2 * pi * turns)) < 1e-6);
                CHECK(fabs((double)phasors.im[i] + sin(2 * pi * turns)) < 1e-6);
            }
        }
        CHECK(fabs(remainder((double)step / 4294967296.0 - cycles[c], 1)) < 2e-10);
    }
}
