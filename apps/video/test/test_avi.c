// SPDX-License-Identifier: Apache-2.0
// Tests of avi.c: what it makes of a film, and of a damaged one.
#include <stdlib.h>
#include <string.h>

#include "../avi.h"
#include "check.h"
#include "film.h"

static struct avi avi;
static char why[AVI_WHY_BYTES];

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

static bool refused(const void *file, size_t bytes, const char *reason)
{
    return !avi_open(&avi, file, bytes, why) && strstr(why, reason);
}

// Opens a film in which `n` bytes are others; its frames are not looked at.
static bool opens_with(const char *name, size_t offset, const char *bytes, size_t n)
{
    struct film film = film_read();

    memcpy(film.file + film_find(&film, name, 0) + offset, bytes, n);
    const bool opened = avi_open(&avi, film.file, film.bytes, why);
    free(film.file);
    return opened;
}

static bool refused_with(const char *name, size_t offset, const char *bytes, const char *reason)
{
    return !opens_with(name, offset, bytes, 4) && strstr(why, reason);
}

TEST(a_film_has_its_size_its_rate_and_all_its_frames)
{
    struct film film = film_read();

    CHECK(avi_open(&avi, film.file, film.bytes, why));
    CHECK(avi.width == FILM_WIDTH && avi.height == FILM_HEIGHT);
    CHECK(avi.rate == 25 * avi.scale);
    CHECK(count() == FILM_FRAMES && !avi.warning);
    free(film.file);
}

TEST(what_is_no_film_is_refused_with_a_reason)
{
    CHECK(refused("", 0, "it is empty"));
    CHECK(refused("GIF", 3, "not an AVI file"));
    CHECK(refused("RIFF\4\0\0\0WAVE", 12, "it is a WAV file"));
    CHECK(refused("\0\0\0\x1c"
                  "ftypisom....",
                  16, "it is an MP4 or MOV file"));
    CHECK(refused("\x1a\x45\xdf\xa3............", 16, "it is a Matroska or WebM file"));
    CHECK(refused_with("vids", 0, "auds", "no video"));
    CHECK(refused_with("vids", 0, "iavs", "not Motion-JPEG but DV"));
}

TEST(video_of_another_kind_is_called_by_its_name)
{
    static const char *const kinds[][2] = {
        { "h264", "H.264 (h264)" },     { "hev1", "H.265" },
        { "XVID", "MPEG-4 part 2" },    { "dvsd", "DV (dvsd)" },
        { "\0\0\0\0", "uncompressed" }, { "YUY2", "uncompressed YUV" },
        { "MJLS", "lossless JPEG" },
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct film film = film_read();
        memcpy(film.file + film_find(&film, "strh", 0) + 12, kinds[i][0], 4);
        memcpy(film.file + film_find(&film, "strf", 0) + 24, kinds[i][0], 4);
        CHECK(refused(film.file, film.bytes, kinds[i][1]));
        free(film.file);
    }
}

TEST(motion_jpeg_has_many_names_and_a_film_without_any_is_known_by_its_pictures)
{
    static const char *const names[] = { "mjpg", "JPEG", "AVRn", "dmb1", "AVDJ", "CJPG" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(opens_with("strf", 8 + 16, names[i], 4));
    CHECK(opens_with("strf", 8 + 16, "\0\0\0\0", 4));  // its stream is called MJPG
    CHECK(opens_with("strf", 8 + 16, "QQQQ", 4));
}

TEST(a_rate_that_is_none_is_that_of_the_file_or_the_usual_one)
{
    CHECK(opens_with("strh", 8 + 20, "\0\0\0\0", 4));
    CHECK(avi.rate == 1000000 && avi.scale == 40000);
    struct film film = film_read();
    memset(film.file + film_find(&film, "avih", 0) + 8, 0, 4);
    memset(film.file + film_find(&film, "strh", 0) + 8 + 24, 0, 4);
    CHECK(avi_open(&avi, film.file, film.bytes, why));
    CHECK(avi.rate == 25 && avi.scale == 1);
    free(film.file);
    CHECK(opens_with("strh", 8 + 24, "\xff\xff\xff\xff", 4) && avi.scale == 40000);
}

TEST(a_film_from_its_top_has_a_negative_height)
{
    CHECK(opens_with("strf", 8 + 8, "\x88\xff\xff\xff", 4) && avi.height == 120);
    CHECK(opens_with("strf", 8 + 8, "\0\0\0\x80", 4) && avi.height == 0x80000000);
}

TEST(sizes_of_lists_do_not_matter_but_for_a_warning)
{
    static const char *const sizes[] = { "\0\0\0\0", "\4\0\0\0", "\xff\xff\xff\xff" };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct film film = film_read();
        memcpy(film.file + (i ? film_find(&film, "movi", 0) - 8 : 0) + 4, sizes[i], 4);
        CHECK(avi_open(&avi, film.file, film.bytes, why) && count() == FILM_FRAMES);
        CHECK(avi.warning && strstr(avi.warning, "never filled in"));
        free(film.file);
    }
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
        CHECK(!avi_open(&avi, cut, bytes, why));
        free(cut);
    }
    free(film.file);
}

TEST(a_header_that_is_damaged_behind_the_film_does_not_matter)
{
    struct film film = film_read();
    const size_t format = film_find(&film, "strf", 0);

    // What follows the format up to the frames, and then the format.
    memset(film.file + format + 8 + 40, 0xee, film_find(&film, "LIST", format) - format - 48);
    CHECK(avi_open(&avi, film.file, film.bytes, why) && count() == FILM_FRAMES);
    memset(film.file + format, 0xee, 8);
    CHECK(refused(film.file, film.bytes, "its header is damaged"));
    free(film.file);
}

TEST(a_film_that_was_cut_off_has_the_frames_that_are_left)
{
    struct film film = film_read();

    const size_t tenth = film.bytes * 2 / 5;
    CHECK(avi_open(&avi, film.file, tenth, why));
    CHECK(count() > 8 && count() < 14);
    CHECK(strstr(avi.warning, "it is cut off"));
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
            CHECK(avi_open(&avi, film.file, film.bytes, why));
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
    CHECK(avi_open(&avi, film.file, film.bytes, why));
    CHECK(count() == FILM_FRAMES - 1);
    free(film.file);
}
