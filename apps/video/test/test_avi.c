// SPDX-License-Identifier: Apache-2.0
// Tests of avi.c: what it makes of a film, and of a damaged one.
#include <stdlib.h>
#include <string.h>

#include "../avi.h"
#include "check.h"
#include "film.h"

static struct avi avi;

static uint32_t count(void)
{
    size_t at = avi.begin;
    struct avi_frame frame;
    uint32_t n = 0;

    while (avi_next(&avi, &at, &frame)) {
        CHECK(at <= avi.end && frame.data >= avi.file);
        CHECK(frame.data + frame.bytes <= avi.file + avi.end);
        n++;
    }
    return n;
}

// What avi_open() says of a film in which one byte is another.
static const char *with_byte(const char *name, size_t offset, uint8_t value)
{
    struct film film = film_read();

    film.file[film_find(&film, name, 0) + offset] = value;
    const char *why = avi_open(&avi, film.file, film.bytes);
    free(film.file);
    return why;
}

static bool says(const char *why, const char *what)
{
    return why && strstr(why, what);
}

TEST(a_film_has_its_size_its_rate_and_all_its_frames)
{
    struct film film = film_read();

    CHECK(avi_open(&avi, film.file, film.bytes) == NULL);
    CHECK(avi.width == FILM_WIDTH && avi.height == FILM_HEIGHT);
    CHECK(avi.rate == 25 * avi.scale);
    CHECK(count() == FILM_FRAMES);
    free(film.file);
}

TEST(what_is_no_film_is_refused_with_a_reason)
{
    CHECK(says(avi_open(&avi, "", 0), "not an AVI file"));
    CHECK(says(avi_open(&avi, "RIFF\4\0\0\0WAVE", 12), "not an AVI file"));
    CHECK(says(with_byte("vids", 0, 'a'), "no video"));
    CHECK(says(with_byte("strf", 8 + 16, 'H'), "not Motion-JPEG"));
    CHECK(says(with_byte("strh", 8 + 20, 0), "0 frames per second"));
}

TEST(a_film_that_ends_in_its_header_is_refused)
{
    struct film film = film_read();

    const size_t frames = film_find(&film, "movi", 0) + 4;
    for (size_t bytes = 12; bytes < frames; bytes++) {
        // A copy of its own, so that a sanitizer sees what is read behind it.
        uint8_t *cut = malloc(bytes);
        CHECK(cut);
        memcpy(cut, film.file, bytes);
        CHECK(avi_open(&avi, cut, bytes) != NULL);
        free(cut);
    }
    free(film.file);
}

TEST(a_film_that_was_cut_off_has_the_frames_that_are_left)
{
    struct film film = film_read();

    const size_t tenth = film.bytes * 2 / 5;
    CHECK(avi_open(&avi, film.file, tenth) == NULL);
    CHECK(count() > 8 && count() < 14);
    free(film.file);
}

TEST(a_chunk_with_a_wrong_size_costs_no_other_frame)
{
    static const uint8_t wrong[] = { 0, 1, 77, 0xff };

    for (size_t i = 0; i < sizeof wrong; i++) {
        for (size_t byte = 4; byte < 8; byte++) {
            struct film film = film_read();
            const size_t first = film_find(&film, "00dc", film_find(&film, "movi", 0));

            film.file[film_find(&film, "00dc", first + 4) + byte] = wrong[i];
            CHECK(avi_open(&avi, film.file, film.bytes) == NULL);
            CHECK(count() == FILM_FRAMES);
            free(film.file);
        }
    }
}

TEST(a_chunk_that_lost_its_name_is_left_out)
{
    struct film film = film_read();
    const size_t first = film_find(&film, "00dc", film_find(&film, "movi", 0));

    memset(film.file + film_find(&film, "00dc", first + 4), 0, 8);
    CHECK(avi_open(&avi, film.file, film.bytes) == NULL);
    CHECK(count() == FILM_FRAMES - 1);
    free(film.file);
}
