// SPDX-License-Identifier: Apache-2.0
#include "convolve.h"

#include <string.h>

static uint32_t rows(const struct convolve *convolve)
{
    return 2 * convolve->radius + 2;
}

size_t convolve_bytes(const struct convolve *convolve)
{
    return (size_t)rows(convolve) * convolve->width * 3;
}

static size_t place(const struct convolve *convolve, uint32_t row, uint32_t column)
{
    return ((size_t)(row % rows(convolve)) * convolve->width + column) * 3;
}

void convolve_put(const struct convolve *convolve, uint8_t *kept, uint32_t number,
                  const uint8_t rgb[3])
{
    const uint32_t row = number / convolve->width, column = number % convolve->width;

    memcpy(kept + place(convolve, row, column), rgb, 3);
}

// A pixel needs the one that is `radius` further down and to the right, where there is one; so at
// the right side several become ready at once, and at the lower side some rows.
uint32_t convolve_ready(const struct convolve *convolve, uint32_t put)
{
    const uint32_t row = put / convolve->width, column = put % convolve->width;
    const uint32_t radius = convolve->radius;

    if (row == convolve->height)
        return put;
    if (row < radius)
        return 0;
    return (row - radius) * convolve->width + (column > radius ? column - radius : 0);
}

static uint32_t clamp(int32_t at, uint32_t end)
{
    if (at < 0)
        return 0;
    return (uint32_t)at < end ? (uint32_t)at : end - 1;
}

static void add_row(const struct convolve *convolve, const uint8_t *row, const int32_t *weight,
                    int32_t column, int32_t sum[3])
{
    const int32_t radius = (int32_t)convolve->radius;

    for (int32_t dx = -radius; dx <= radius; dx++, weight++) {
        const uint8_t *rgb = row + (size_t)clamp(column + dx, convolve->width) * 3;

        for (int c = 0; c < 3; c++)
            sum[c] += *weight * rgb[c];
    }
}

static uint8_t scale(const struct convolve *convolve, int32_t sum)
{
    const int32_t biased = sum + convolve->bias * convolve->divisor + convolve->divisor / 2;
    const int32_t value = biased > 0 ? biased / convolve->divisor : 0;

    return (uint8_t)(value < 255 ? value : 255);
}

void convolve_get(const struct convolve *convolve, const uint8_t *kept, uint32_t number,
                  uint8_t rgb[3])
{
    const int32_t row = (int32_t)(number / convolve->width), radius = (int32_t)convolve->radius;
    const int32_t column = (int32_t)(number % convolve->width);
    const int32_t *weight = convolve->weight;
    int32_t sum[3] = { 0 };

    for (int32_t dy = -radius; dy <= radius; dy++, weight += 2 * radius + 1) {
        const uint32_t at = clamp(row + dy, convolve->height);

        add_row(convolve, kept + place(convolve, at, 0), weight, column, sum);
    }
    for (int c = 0; c < 3; c++)
        rgb[c] = scale(convolve, sum[c]);
}
