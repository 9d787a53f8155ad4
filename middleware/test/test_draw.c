// SPDX-License-Identifier: Apache-2.0
// Draws of cycles against what their distributions say. Bounds are five standard deviations of what
// is estimated: a right generator fails one in a million of such tests, and its stream is fixed.
// with: check.c build.c kernel_stub.c
#include <math.h>

#include "check.h"
#include "wb/descriptor.h"

enum { N = 1 << 18, MEAN = 1000000 };
#define SIGMAS 5.0

static double *draw(enum wb_distribution distribution, uint32_t spread_ppm)
{
    static double drawn[N];
    uint64_t random = wb_draw_seed(1, 0);

    for (int i = 0; i < N; i++)
        drawn[i] = (double)wb_draw_cycles(&random, distribution, spread_ppm, MEAN) / MEAN;
    return drawn;
}

// The mean of (x - about)^power.
static double moment(const double *x, double about, int power)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += pow(x[i] - about, power);
    return sum / N;
}

static bool near(double found, double expected, double deviation_of_one)
{
    return fabs(found - expected) < SIGMAS * deviation_of_one / sqrt(N);
}

static double part_below(const double *x, double bound)
{
    int below = 0;

    for (int i = 0; i < N; i++)
        below += x[i] < bound;
    return (double)below / N;
}

static bool is_below_with(const double *x, double bound, double probability)
{
    return near(part_below(x, bound), probability, sqrt(probability * (1 - probability)));
}

static double normal_below(double z)
{
    return erfc(-z / sqrt(2)) / 2;
}

TEST(a_constant_draw_is_the_mean_and_draws_nothing)
{
    uint64_t random = 5;

    CHECK(wb_draw_cycles(&random, WB_CONSTANT, 0, 123) == 123 && random == 5);
}

TEST(uniform_draws_fill_their_interval_evenly)
{
    const double *x = draw(WB_UNIFORM, 300000);

    CHECK(near(moment(x, 0, 1), 1, 0.3 / sqrt(3)));
    CHECK(near(moment(x, 1, 2), 0.03, 0.3 * 0.3 * sqrt(4.0 / 45)));
    CHECK(part_below(x, 0.7) == 0 && part_below(x, 1.3000001) == 1);
    for (int i = 1; i < 16; i++)
        CHECK(is_below_with(x, 0.7 + i * 0.6 / 16, i / 16.0));
}

TEST(both_ends_of_a_uniform_interval_are_drawn)
{
    uint64_t random = 1;
    int seen[5] = { 0 };

    for (int i = 0; i < 1000; i++)
        seen[wb_draw_cycles(&random, WB_UNIFORM, 1000000, 2)]++;
    for (int i = 0; i < 5; i++)
        CHECK(seen[i] > 100);
}

TEST(normal_draws_have_their_mean_deviation_and_shape)
{
    const double *x = draw(WB_NORMAL, 100000);

    CHECK(near(moment(x, 0, 1), 1, 0.1));
    CHECK(near(moment(x, 1, 2), 0.01, 0.01 * sqrt(2)));
    CHECK(near(moment(x, 1, 3), 0, 0.001 * sqrt(15)));
    CHECK(near(moment(x, 1, 4), 3e-4, 1e-4 * sqrt(96)));
    for (double z = -4; z <= 4; z += 0.25)
        CHECK(is_below_with(x, 1 + 0.1 * z, normal_below(z)));
}

TEST(a_wide_normal_distribution_is_cut_at_nothing_and_keeps_its_mean)
{
    const double *x = draw(WB_NORMAL, 333333);

    CHECK(near(moment(x, 0, 1), 1, 1.0 / 3));
    CHECK(part_below(x, 2.0000001) == 1);
    // Within three deviations, all of it; 0.9733 of the variance are left by the cut.
    CHECK(is_below_with(x, 2.0 / 3, (normal_below(-1) - normal_below(-3)) / 0.9973002));
    CHECK(near(moment(x, 1, 2), 0.9733369 / 9, 0.16));
}

TEST(exponential_draws_have_their_mean_and_a_tail_without_end)
{
    const double *x = draw(WB_EXPONENTIAL, 0);

    CHECK(near(moment(x, 0, 1), 1, 1));
    CHECK(near(moment(x, 1, 2), 1, sqrt(8)));
    for (double t = 0.125; t < 12; t += 0.125)
        CHECK(is_below_with(x, t, 1 - exp(-t)));
    // The longest of a million draws is about ln(N) = 13.9 means.
    CHECK(part_below(x, 12) < 1 && part_below(x, 30) == 1);
}

TEST(draws_follow_each_other_without_correlation)
{
    const double *x = draw(WB_NORMAL, 100000);
    double sum = 0;

    for (int i = 1; i < N; i++)
        sum += (x[i] - 1) * (x[i - 1] - 1);
    CHECK(near(sum / N, 0, 0.01));
}

TEST(streams_of_neighbours_and_of_other_seeds_differ_and_repeat)
{
    uint64_t streams[3] = { wb_draw_seed(7, 0), wb_draw_seed(7, 1), wb_draw_seed(8, 0) };
    uint64_t again = wb_draw_seed(7, 0);
    int equal = 0;

    for (int i = 0; i < 10000; i++) {
        uint64_t x[3];
        for (int s = 0; s < 3; s++)
            x[s] = wb_draw_cycles(&streams[s], WB_UNIFORM, 1000000, WB_CYCLES_MAX);
        CHECK(x[0] == wb_draw_cycles(&again, WB_UNIFORM, 1000000, WB_CYCLES_MAX));
        equal += (x[0] == x[1]) + (x[0] == x[2]);
    }
    CHECK(equal == 0);
}

// Expected is what another implementation of the same algorithms gives, with exact fractions of
// Python instead of products in halves.
TEST(draws_are_the_same_on_every_machine)
{
    static const uint64_t expected[4][3] = {
        { 1000, 1000, 1000 },
        { 922390898, 1134911058, 939920730 },
        { 1069960365, 1196020802, 796471905 },
        { 305977245, 349801824, 2690315547 },
    };
    for (uint32_t d = WB_CONSTANT; d <= WB_EXPONENTIAL; d++) {
        uint64_t random = wb_draw_seed(42, 3);
        for (int i = 0; i < 3; i++)
            CHECK(wb_draw_cycles(&random, (enum wb_distribution)d,
                                 d == WB_UNIFORM || d == WB_NORMAL ? 200000 : 0,
                                 d == WB_CONSTANT ? 1000 : 1000000000) == expected[d][i]);
    }
}

TEST(the_largest_work_does_not_overflow)
{
    uint64_t random = 3;

    for (int i = 0; i < 100000; i++) {
        CHECK(wb_draw_cycles(&random, WB_EXPONENTIAL, 0, WB_CYCLES_MAX) < 64 * WB_CYCLES_MAX);
        CHECK(wb_draw_cycles(&random, WB_NORMAL, 333333, WB_CYCLES_MAX) <= 2 * WB_CYCLES_MAX);
        CHECK(wb_draw_cycles(&random, WB_UNIFORM, 1000000, WB_CYCLES_MAX) <= 2 * WB_CYCLES_MAX);
        CHECK(wb_draw_cycles(&random, WB_UNIFORM, 1000000, 0) == 0);
    }
}
