// SPDX-License-Identifier: Apache-2.0
#include "demodulator.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "fir.h"

static const float pi = 3.14159265f;

// One block behind the sample that precedes it.
struct window {
    float re[1 + FM_BLOCK];
    float im[1 + FM_BLOCK];
};

void fm_demodulator_init(struct fm_demodulator *demodulator, double deviation)
{
    memset(demodulator, 0, sizeof *demodulator);
    demodulator->gain = (float)(1 / (2 * 3.14159265358979323846 * deviation));
}

// Minimax polynomial for the first octant (2.5e-7), then by symmetry. FLT_MIN makes atan2(0, 0) a 0
// instead of a NaN, and is lost in every other sum.
static inline float angle(float y, float x)
{
    const float ay = fabsf(y), ax = fabsf(x);
    const float high = ay > ax ? ay : ax;
    const float low = ay > ax ? ax : ay;
    const float t = low / (high + FLT_MIN);
    const float u = t * t;
    const float far = 0.0796236408f + u * (-0.0336041924f + u * 0.00681178373f);
    const float near = -0.33317368f + u * (0.198078151f + u * (-0.132333404f + u * far));
    const float octant = t * (0.999996112f + u * near);
    const float quadrant = ay > ax ? pi / 2 - octant : octant;
    const float half = x < 0 ? pi - quadrant : quadrant;

    return copysignf(half, y);
}

static void demodulate(const struct window *restrict window, float gain, float *restrict out)
{
    const float *re = window->re, *im = window->im;

    for (uint32_t i = 0; i < FM_BLOCK; i++) {  // hot
        const float along = re[i + 1] * re[i] + im[i + 1] * im[i];
        const float across = im[i + 1] * re[i] - re[i + 1] * im[i];

        out[i] = gain * angle(across, along);
    }
}

void fm_demodulator_process(struct fm_demodulator *demodulator, const float *re, const float *im,
                            uint32_t samples, float *out)
{
    struct window window = { { demodulator->re }, { demodulator->im } };
    float padded[FM_BLOCK];

    for (uint32_t done = 0; done < samples; done += FM_BLOCK) {
        const uint32_t left = samples - done;
        const uint32_t n = left < FM_BLOCK ? left : FM_BLOCK;

        memcpy(&window.re[1], re + done, n * sizeof *re);
        memcpy(&window.im[1], im + done, n * sizeof *im);
        demodulate(&window, demodulator->gain, padded);
        memcpy(out + done, padded, n * sizeof *out);
        window.re[0] = window.re[n];
        window.im[0] = window.im[n];
    }
    demodulator->re = window.re[0];
    demodulator->im = window.im[0];
}
