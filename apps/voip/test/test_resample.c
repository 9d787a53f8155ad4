// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>

#include "../resample.h"
#include "check.h"

enum { LOUD = 10000, MADE = 480, MOST = 8192 };

// The largest difference from a tone at rate `to`, of one at rate `from`, from sample `first` on;
// `loud`: how loud it should be there.
static double difference(double hz, uint32_t from, uint32_t to, uint64_t first, double loud)
{
    static int16_t in[MOST], out[MADE];
    const double start = (double)(first * from / to) - resample_margin(from, to);
    double most = 0;

    for (int i = 0; i < MOST; i++)
        in[i] = (int16_t)lrint(LOUD * sin(2 * M_PI * hz * (start + i) / from));
    resample(in, from, to, first, out, MADE);
    for (uint32_t i = 0; i < MADE; i++)
        most = fmax(most, fabs(out[i] - loud * sin(2 * M_PI * hz * (double)(first + i) / to)));
    printf("# %.0f Hz from %u to %u: off by %.1f of %d\n", hz, from, to, most, LOUD);
    return most;
}

static const uint32_t rates[] = { 8000, 11025, 16000, 22050, 44100, 48000, 96000 };
enum { RATES = sizeof rates / sizeof rates[0] };

TEST(a_tone_that_both_rates_carry_stays_what_it_is)
{
    for (int i = 0; i < RATES; i++)
        for (int j = 0; j < RATES; j++)
            CHECK(difference(1000, rates[i], rates[j], 1234567, LOUD) < LOUD * 0.005);
    CHECK(difference(3300, 8000, 48000, 7, LOUD) < LOUD * 0.02);
    CHECK(difference(3300, 48000, 8000, 7, LOUD) < LOUD * 0.02);
}

TEST(what_the_lower_rate_cannot_carry_is_not_heard_at_another_pitch)
{
    CHECK(difference(5500, 16000, 8000, 0, 0) < LOUD * 0.01);
    CHECK(difference(4500, 48000, 8000, 3, 0) < LOUD * 0.01);
    CHECK(difference(20000, 44100, 16000, 0, 0) < LOUD * 0.01);
}

TEST(a_sound_that_is_too_loud_is_limited)
{
    int16_t in[4 * RESAMPLE_CROSSINGS + 16], out[16];

    // Behind an edge the sinc overshoots. The samples made are of a loud half.
    for (int i = 0; i < 4 * RESAMPLE_CROSSINGS + 16; i++)
        in[i] = i % 16 < 8 ? INT16_MAX : INT16_MIN;
    resample(in, 16000, 48000, 0, out, 16);
    for (int i = 0; i < 16; i++)
        CHECK(out[i] > 0);
    CHECK(out[2] == INT16_MAX);
}
