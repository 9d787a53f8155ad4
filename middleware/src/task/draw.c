// SPDX-License-Identifier: Apache-2.0
// Draws of cycles, by integers alone: the same bits on every machine, without a floating-point unit
// and without a table.
//
// A uniform draw is 64 bits, read as a fraction. Exponential and normal draws come from comparing
// such fractions, and are exact but for the 2^-64 that a fraction is rounded by; the result is
// rounded to a whole cycle, once. The counts below are how many fractions one draw takes on
// average.
//
// - exponential, 4.3: J. von Neumann, Various techniques used in connection with random digits,
//   1951; Devroye, Non-uniform random variate generation, 1986, section IV.2.
// - normal, 17.2: C. F. F. Karney, Sampling exactly from the normal distribution, ACM Transactions
//   on Mathematical Software 42 (1), 2016, algorithm N.
// - fractions: SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators,
//   2014): a counter and a mix, so that a stream is one word.

#include "life.h"

#define GOLDEN 0x9e3779b97f4a7c15  // 2^64 / the golden ratio
#define HALF ((uint64_t)1 << 63)

struct wide {
    uint64_t high, low;
};

static uint64_t mix(uint64_t word)
{
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

// Mixed twice: streams of neighbouring tasks must not be the same stream a few draws apart.
uint64_t wb_draw_seed(uint64_t seed, uint32_t task)
{
    return mix(mix(seed + GOLDEN) + (uint64_t)task * GOLDEN);
}

static uint64_t fraction(uint64_t *random)
{
    *random += GOLDEN;
    return mix(*random);
}

// The product of a fraction and a whole number: the whole part of it, and the fraction.
static struct wide multiply(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;

    return (struct wide){ .high = a1 * b1 + (middle >> 32) + (other >> 32), .low = a * b };
}

static uint64_t part_of(uint64_t total, uint64_t of_one)
{
    const struct wide product = multiply(total, of_one);
    return product.high + (product.low >> 63);
}

static uint64_t uniform(uint64_t *random, uint64_t mean, uint64_t half_width)
{
    return mean - half_width + multiply(fraction(random), 2 * half_width + 1).high;
}

// How many further fractions descend from `from`: n or more with probability from^n / n!.
static uint32_t descent(uint64_t *random, uint64_t from)
{
    uint32_t n = 0;

    for (uint64_t next; (next = fraction(random)) < from; from = next)
        n++;
    return n;
}

// A descent from x is of even length with probability exp(-x): that is the part beyond whole means.
static uint64_t exponential(uint64_t *random, uint64_t mean)
{
    uint64_t cycles = 0;

    for (;;) {
        const uint64_t x = fraction(random);
        if (descent(random, x) % 2 == 0)
            return cycles + part_of(x, mean);
        cycles += mean;
    }
}

// ---- Normal: Karney's algorithm N, steps N1 to N4 -----------------------------------------------

// True with probability exp(-n/2).
static bool half_steps(uint64_t *random, uint32_t n)
{
    for (; n > 0; n--)
        if (descent(random, HALF) % 2 != 0)
            return false;
    return true;
}

// True with probability exp(-x (2k + x) / (2k + 2)): a descent from x of even length, of which each
// step is taken with probability (2k + x) / (2k + 2).
static bool falls(uint64_t *random, uint32_t k, uint64_t x)
{
    uint32_t n = 0;

    for (uint64_t from = x, next; (next = fraction(random)) < from; from = next, n++) {
        const struct wide at = multiply(fraction(random), 2 * (uint64_t)k + 2);
        if (at.high > 2 * k || (at.high == 2 * k && at.low >= x))
            break;
    }
    return n % 2 == 0;
}

static bool all_fall(uint64_t *random, uint32_t k, uint64_t x)
{
    for (uint32_t i = 0; i <= k; i++)
        if (!falls(random, k, x))
            return false;
    return true;
}

// The distance from the mean, in deviations: k + x.
struct distance {
    uint32_t k;
    uint64_t x;
};

static struct distance normal_distance(uint64_t *random)
{
    for (;;) {
        uint32_t k = 0;
        while (half_steps(random, 1))
            k++;
        if (k > 1 && !half_steps(random, k * (k - 1)))
            continue;
        const uint64_t x = fraction(random);
        if (all_fall(random, k, x))
            return (struct distance){ k, x };
    }
}

// Drawn again beyond 0 and, so that the mean stays what it is, beyond twice the mean: with the
// largest spread that is one draw in 370.
static uint64_t normal(uint64_t *random, uint64_t mean, uint64_t deviation)
{
    for (;;) {
        const struct distance distance = normal_distance(random);
        const uint64_t off = distance.k * deviation + part_of(distance.x, deviation);
        const bool below = fraction(random) < HALF;
        if (off <= mean)
            return below ? mean - off : mean + off;
    }
}

uint64_t wb_draw_cycles(uint64_t *random, enum wb_distribution distribution, uint32_t spread_ppm,
                        uint64_t mean)
{
    switch (distribution) {
    case WB_CONSTANT:
        break;
    case WB_UNIFORM:
        return uniform(random, mean, wb_part(mean, spread_ppm));
    case WB_NORMAL:
        return normal(random, mean, wb_part(mean, spread_ppm));
    case WB_EXPONENTIAL:
        return exponential(random, mean);
    }
    return mean;
}
