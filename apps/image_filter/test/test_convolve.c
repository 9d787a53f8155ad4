// SPDX-License-Identifier: Apache-2.0
// Tests of convolve.c: pixel by pixel it makes what the definition makes of the whole picture.
#include <stdlib.h>
#include <string.h>

#include "../convolve.h"
#include "check.h"

enum { SIDE = 9 };

static uint8_t picture[SIDE * SIDE][3];

static uint32_t random_state = 7;

static int32_t random_between(int32_t least, int32_t most)
{
    random_state = random_state * 1664525 + 1013904223;
    return least + (int32_t)((uint64_t)random_state * (uint32_t)(most - least + 1) >> 32);
}

static struct convolve some_filter(uint32_t width, uint32_t height)
{
    struct convolve convolve = { .width = width, .height = height };

    convolve.radius = (uint32_t)random_between(1, 2);
    convolve.divisor = random_between(1, 40);
    convolve.bias = random_between(0, 20);
    for (int i = 0; i < CONVOLVE_WEIGHTS_MAX; i++)
        convolve.weight[i] = random_between(-9, 9);
    for (uint32_t i = 0; i < width * height; i++)
        for (int c = 0; c < 3; c++)
            picture[i][c] = (uint8_t)random_between(0, 255);
    return convolve;
}

static int32_t inside(int32_t at, uint32_t end)
{
    return at < 0 ? 0 : at >= (int32_t)end ? (int32_t)end - 1 : at;
}

// The definition, by division that rounds down.
static uint8_t defined(const struct convolve *f, int32_t x, int32_t y, int c)
{
    const int32_t r = (int32_t)f->radius;
    int32_t sum = f->bias * f->divisor + f->divisor / 2, n = 0;

    for (int32_t dy = -r; dy <= r; dy++)
        for (int32_t dx = -r; dx <= r; dx++)
            sum += f->weight[n++] * picture[inside(y + dy, f->height) * (int32_t)f->width +
                                            inside(x + dx, f->width)][c];
    return (uint8_t)(sum < 0 ? 0 : inside(sum / f->divisor, 256));
}

static void compare(const struct convolve *f, const uint8_t *kept, uint32_t at)
{
    uint8_t rgb[3];

    convolve_get(f, kept, at, rgb);
    for (int c = 0; c < 3; c++)
        CHECK(rgb[c] == defined(f, (int32_t)(at % f->width), (int32_t)(at / f->width), c));
}

// Every so often up to a row is given again, and what was ready then is filtered again.
static void filter_all(const struct convolve *f)
{
    uint8_t *kept = malloc(convolve_bytes(f));
    uint32_t put = 0, got = 0;

    CHECK(kept);
    while (put < f->width * f->height) {
        const uint32_t from = put, ready = got;

        for (int32_t n = random_between(1, (int32_t)f->width); n > 0; n--)
            if (put < f->width * f->height) {
                convolve_put(f, kept, put, picture[put]);
                put++;
                while (got < convolve_ready(f, put))
                    compare(f, kept, got++);
            }
        if (random_between(0, 2) == 0) {
            put = from;
            got = ready;
        }
    }
    CHECK(got == f->width * f->height);
    free(kept);
}

TEST(a_picture_that_comes_in_pieces_is_filtered_as_the_definition_says)
{
    for (uint32_t width = 1; width <= SIDE; width++)
        for (uint32_t height = 1; height <= SIDE; height++)
            for (int n = 0; n < 6; n++) {
                const struct convolve f = some_filter(width, height);

                filter_all(&f);
            }
}

TEST(no_pixel_is_filtered_before_those_around_it_are_there)
{
    const struct convolve f = { .width = 5, .height = 4, .radius = 1 };

    CHECK(convolve_ready(&f, 6) == 0 && convolve_ready(&f, 7) == 1);
    CHECK(convolve_ready(&f, 9) == 3 && convolve_ready(&f, 10) == 5);
    CHECK(convolve_ready(&f, 19) == 13 && convolve_ready(&f, 20) == 20);
}
