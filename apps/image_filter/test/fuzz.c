// SPDX-License-Identifier: Apache-2.0
// Decodes a picture of which some bytes are others, again and again, under the sanitizers, which
// end it where anything outside of the file is touched. IMAGE_FUZZ says how often.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../qoi.h"
#include "check.h"
#include "common/fuzz.h"

enum { TRIES = 2000, MOST_CHANGES = 12, FILE_BYTES = 1 << 16, PIXELS = 24 * 28 };

static size_t read_picture(uint8_t *bytes)
{
    FILE *file = fopen("data/hopper_small.qoi", "rb");

    CHECK(file);
    const size_t n = fread(bytes, 1, FILE_BYTES, file);
    fclose(file);
    CHECK(n > QOI_HEADER_BYTES + QOI_END_BYTES && n < FILE_BYTES);
    return n;
}

static uint32_t decode(const uint8_t *bytes, size_t size)
{
    size_t at = QOI_HEADER_BYTES;
    uint32_t width, height, pixels = 0;
    uint64_t counted = 0;
    struct qoi qoi;

    if (size < QOI_HEADER_BYTES || qoi_size(bytes, &width, &height) != NULL)
        return 0;
    qoi_begin(&qoi);
    for (size_t n = 1, end = at; n > 0 && counted < PIXELS; end += n) {
        n = qoi_count(bytes + end, qoi_is_end(bytes + end, size - end) ? 0 : size - end, &counted);
        CHECK(n <= size - end);
    }
    for (int taken = 0; pixels < PIXELS; pixels++) {
        taken = qoi_next(&qoi, bytes + at, size - at);
        if (taken < 0)
            break;
        at += (size_t)taken;
        CHECK(at <= size);
    }
    // Where data are missing, none are found by decoding either, but in an end mark.
    CHECK(counted >= PIXELS || pixels <= counted + QOI_END_BYTES);
    return pixels;
}

TEST(no_damage_of_a_picture_has_anything_else_touched)
{
    static uint8_t whole[FILE_BYTES];
    const size_t bytes = read_picture(whole);
    uint32_t seen[2] = { 0 };

    CHECK(decode(whole, bytes) == PIXELS);
    for (uint32_t i = fuzz_tries("IMAGE_FUZZ", TRIES); i > 0; i--) {
        const size_t n = random_below(3) == 0 ? random_below((uint32_t)bytes) : bytes;
        // Memory of its size, so that what is read behind it is seen.
        uint8_t *damaged = malloc(n ? n : 1);

        CHECK(damaged);
        memcpy(damaged, whole, n);
        for (uint32_t c = n ? 1 + random_below(MOST_CHANGES) : 0; c > 0; c--)
            damaged[random_below((uint32_t)n)] = (uint8_t)random_below(256);
        seen[decode(damaged, n) == PIXELS]++;
        free(damaged);
    }
    printf("# %u damaged pictures with all pixels, %u with fewer\n", seen[1], seen[0]);
    CHECK(seen[0] > 0 && seen[1] > 0);
}
