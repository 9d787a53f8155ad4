// SPDX-License-Identifier: Apache-2.0
#include "resample.h"

// Of the lower rate's half, where the sinc ends: its slope is over where that is.
#define PASSED 0.94F
#define PI 3.14159265F

// The sine of pi * x, to five digits. A board's image has no library for it.
static float sine(float x)
{
    float turned = x - 2 * (float)(int32_t)(x / 2 + (x < 0 ? -0.5F : 0.5F));

    if (turned > 0.5F || turned < -0.5F)
        turned = (turned > 0 ? 1 : -1) - turned;
    const float t = PI * turned, square = t * t;
    return t * (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72))));
}

// What a sample weighs that is `x` samples of the lower rate away.
static float weight(float x)
{
    const float sinc = x < 1e-4F && x > -1e-4F ? PASSED : sine(PASSED * x) / (PI * x);
    const float hann = 0.5F + 0.5F * sine(x / RESAMPLE_CROSSINGS + 0.5F);

    return x >= RESAMPLE_CROSSINGS || x <= -RESAMPLE_CROSSINGS ? 0 : sinc * hann;
}

static int16_t limited(float sample)
{
    return (int16_t)(sample > INT16_MAX ? INT16_MAX : sample < INT16_MIN ? INT16_MIN : sample);
}

void resample(const int16_t *in, uint32_t from, uint32_t to, uint64_t first, int16_t *out,
              uint32_t n)
{
    const int32_t margin = (int32_t)resample_margin(from, to);
    const float scale = from > to ? (float)to / (float)from : 1;
    const uint64_t start = first * from / to;

    for (uint32_t i = 0; i < n; i++) {
        const uint64_t place = (first + i) * from;
        const int16_t *at = in + (place / to - start) + margin;
        const float behind = (float)(place % to) / (float)to;
        float sum = 0, all = 0;

        for (int32_t k = 1 - margin; k <= margin; k++) {
            const float one = weight(((float)k - behind) * scale);

            sum += one * at[k];
            all += one;
        }
        out[i] = limited(sum / all);
    }
}
