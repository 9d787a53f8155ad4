// SPDX-License-Identifier: Apache-2.0
// Tests of picture.c: the decoder against checksums that libjpeg-turbo has made, and what it does
// with what is no picture.
#include <stdlib.h>
#include <string.h>

#include "../avi.h"
#include "../picture.h"
#include "check.h"
#include "film.h"

enum { BYTES = FILM_WIDTH * FILM_HEIGHT * 3 / 2 };

static uint8_t planes[BYTES], jpeg[64 << 10];
static size_t jpeg_bytes;

static struct picture_decoder *decoder(void)
{
    static struct picture_decoder *made;

    if (!made)
        made = malloc(picture_decoder_bytes(FILM_WIDTH));
    CHECK(made);
    return made;
}

static enum picture_status decode(const void *data, size_t bytes)
{
    return picture_decode(decoder(), data, bytes, FILM_WIDTH, FILM_HEIGHT, planes);
}

// A copy of the film's first picture, for a test to change.
static void take_first(void)
{
    struct film film = film_read();
    struct avi_frame frame;
    char why[AVI_WHY_BYTES];
    struct avi avi;

    CHECK(avi_open(&avi, film.file, film.bytes, why));
    size_t at = avi.begin;
    CHECK(avi_next(&avi, &at, &frame) && frame.bytes <= sizeof jpeg);
    memcpy(jpeg, frame.data, frame.bytes);
    jpeg_bytes = frame.bytes;
    free(film.file);
}

// Where a marker's segment is.
static uint8_t *segment(uint8_t marker)
{
    for (size_t i = 0; i + 1 < jpeg_bytes; i++)
        if (jpeg[i] == 0xff && jpeg[i + 1] == marker)
            return jpeg + i;
    CHECK(!"the picture has no such marker");
}

TEST(every_picture_is_that_of_another_decoder_to_the_bit)
{
    const uint32_t *checksums = film_checksums();
    struct film film = film_read();
    struct avi_frame frame;
    char why[AVI_WHY_BYTES];
    struct avi avi;

    CHECK(picture_bytes(FILM_WIDTH, FILM_HEIGHT) == BYTES);
    CHECK(avi_open(&avi, film.file, film.bytes, why));
    size_t at = avi.begin;
    for (int i = 0; i < FILM_FRAMES; i++) {
        CHECK(avi_next(&avi, &at, &frame));
        CHECK(decode(frame.data, frame.bytes) == PICTURE_WHOLE);
        CHECK(picture_checksum(planes, BYTES) == checksums[i]);
    }
    free(film.file);
}

TEST(the_decoder_needs_less_than_half_of_its_memory)
{
    take_first();
    CHECK(decode(jpeg, jpeg_bytes) == PICTURE_WHOLE);
    CHECK(decoder()->arena.used < JPEG_ARENA_BYTES / 2);
}

TEST(a_picture_without_huffman_tables_has_the_usual_ones)
{
    take_first();
    // The film is coded with those, so that without them it is the same.
    uint8_t *tables = segment(0xc4);
    const size_t bytes = 2 + ((size_t)tables[2] << 8 | tables[3]);
    const size_t after = (size_t)(tables - jpeg) + bytes;

    memmove(tables, tables + bytes, jpeg_bytes - after);
    CHECK(decode(jpeg, jpeg_bytes - bytes) == PICTURE_WHOLE);
    CHECK(picture_checksum(planes, BYTES) == film_checksums()[0]);
}

TEST(a_picture_that_was_cut_off_is_damaged_wherever)
{
    take_first();
    for (size_t bytes = 0; bytes < jpeg_bytes - 2; bytes += 13)
        CHECK(decode(jpeg, bytes) == PICTURE_DAMAGED);
}

TEST(a_picture_that_lacks_its_last_marker_lacks_no_pixel)
{
    take_first();
    for (size_t less = 1; less <= 2; less++) {
        CHECK(decode(jpeg, jpeg_bytes - less) == PICTURE_WHOLE);
        CHECK(picture_checksum(planes, BYTES) == film_checksums()[0]);
    }
    CHECK(decode(jpeg, jpeg_bytes - 3) == PICTURE_DAMAGED);
}

// Two pictures of the film's size are the fields of a frame twice as high.
TEST(two_fields_of_a_chunk_are_woven_into_a_frame)
{
    static const uint8_t avi1[] = "\xff\xe0\0\x10"
                                  "AVI1\2\0\0\0\0\0\0\0\0";
    static uint8_t both[sizeof jpeg * 2], frame[2 * BYTES], single[BYTES];
    const size_t row = FILM_WIDTH, app0 = 18;

    take_first();
    CHECK(decode(jpeg, jpeg_bytes) == PICTURE_WHOLE);
    memcpy(single, planes, BYTES);
    for (size_t bottom = 0; bottom < 2; bottom++) {
        const size_t more = bottom ? app0 : 0;

        memcpy(both, jpeg, 2);
        memcpy(both + 2, avi1, more);
        memcpy(both + 2 + more, jpeg + 2, jpeg_bytes - 2);
        memcpy(both + more + jpeg_bytes, jpeg, jpeg_bytes);
        memset(frame, 0, sizeof frame);
        CHECK(picture_decode(decoder(), both, more + 2 * jpeg_bytes, FILM_WIDTH, 2 * FILM_HEIGHT,
                             frame) == PICTURE_WHOLE);
        for (size_t y = 0; y < 2 * FILM_HEIGHT; y++)
            CHECK(memcmp(frame + y * row, single + y / 2 * row, row) == 0);
        // Of a frame whose second field is damaged, it is the lines of the first that are there.
        memset(frame, 0, sizeof frame);
        CHECK(picture_decode(decoder(), both, more + jpeg_bytes + 300, FILM_WIDTH, 2 * FILM_HEIGHT,
                             frame) == PICTURE_DAMAGED);
        CHECK(memcmp(frame + bottom * row, single, row) == 0);
        CHECK(memcmp(frame + (1 - bottom) * row, single, row) != 0);
    }
    CHECK(picture_look(decoder(), jpeg, jpeg_bytes, FILM_WIDTH, 2 * FILM_HEIGHT) ==
          PICTURE_RESIZED);
}

TEST(a_picture_of_another_kind_is_told_from_a_damaged_one)
{
    take_first();
    uint8_t *frame = segment(0xc0);
    CHECK(picture_look(decoder(), jpeg, jpeg_bytes, FILM_WIDTH, FILM_HEIGHT) == PICTURE_WHOLE);
    CHECK(picture_look(decoder(), jpeg, jpeg_bytes, FILM_WIDTH, 8) == PICTURE_RESIZED);
    CHECK(decoder()->width == FILM_WIDTH && decoder()->height == FILM_HEIGHT);
    frame[11] = 0x11;  // 4:4:4
    CHECK(picture_look(decoder(), jpeg, jpeg_bytes, FILM_WIDTH, FILM_HEIGHT) == PICTURE_OTHER);
    frame[11] = 0x22;
    frame[1] = 0xc2;  // progressive
    CHECK(decode(jpeg, jpeg_bytes) == PICTURE_OTHER);
    CHECK(picture_look(decoder(), "no", 2, FILM_WIDTH, FILM_HEIGHT) == PICTURE_DAMAGED);
}

TEST(the_checksum_of_ffmpeg_begins_with_nothing)
{
    static const uint8_t bytes[] = { 1, 2, 3 };

    CHECK(picture_checksum(bytes, 0) == 0);
    CHECK(picture_checksum(bytes, 3) == (10u << 16 | 6));
    memset(planes, 255, BYTES);
    CHECK(picture_checksum(planes, BYTES) == picture_checksum(planes, BYTES));
}
