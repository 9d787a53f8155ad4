// SPDX-License-Identifier: Apache-2.0
// Tests of qoi.c: each kind of chunk, and headers that are none.
#include <string.h>

#include "../qoi.h"
#include "check.h"

static struct qoi qoi;

static int next(const char *bytes, size_t n)
{
    return qoi_next(&qoi, (const uint8_t *)bytes, n);
}

static int is(int red, int green, int blue, int alpha)
{
    return qoi.pixel[0] == red && qoi.pixel[1] == green && qoi.pixel[2] == blue &&
           qoi.pixel[3] == alpha;
}

TEST(each_kind_of_chunk_makes_its_pixel)
{
    qoi_begin(&qoi);
    CHECK(is(0, 0, 0, 255));
    CHECK(next("\xfe\x10\x20\x30", 4) == 4 && is(0x10, 0x20, 0x30, 255));
    CHECK(next("\xff\x01\x02\x03\x04", 5) == 5 && is(1, 2, 3, 4));
    CHECK(next("\x6b", 1) == 1 && is(1, 2, 4, 4));         // 0 0 1
    CHECK(next("\x40", 1) == 1 && is(255, 0, 2, 4));       // -2 each, around 0
    CHECK(next("\xbf\xf0", 2) == 2 && is(37, 31, 25, 4));  // green 31, red 7 more, blue 8 less
    CHECK(next("\x15", 1) == 1 && is(1, 2, 4, 4));         // seen before, at place 85 % 64
}

TEST(a_run_repeats_the_pixel_and_takes_no_more_bytes)
{
    qoi_begin(&qoi);
    CHECK(next("\xfe\x09\x08\x07", 4) == 4);
    CHECK(next("\xc2\xfe", 2) == 1 && is(9, 8, 7, 255));
    CHECK(next("", 0) == 0 && is(9, 8, 7, 255));
    CHECK(next("", 0) == 0 && is(9, 8, 7, 255));
    CHECK(next("", 0) == -1);
}

TEST(a_chunk_that_is_not_all_there_changes_nothing)
{
    qoi_begin(&qoi);
    const struct qoi before = qoi;

    CHECK(next("\xfe\x01\x02", 3) == -1 && next("\xff\x01\x02\x03", 4) == -1);
    CHECK(next("\x80", 1) == -1 && next("", 0) == -1);
    CHECK(memcmp(&before, &qoi, sizeof qoi) == 0);
}

static const char *size_of(const char *header)
{
    uint32_t width, height;
    const char *why = qoi_size((const uint8_t *)header, &width, &height);

    CHECK(why || (width == 2 && height == 65535));
    return why;
}

TEST(a_header_says_how_large_the_picture_is)
{
    CHECK(size_of("qoif\0\0\0\2\0\0\xff\xff\3\0") == NULL);
}

TEST(what_is_no_picture_of_rgb_is_refused)
{
    CHECK(strstr(size_of("RIFF\0\0\0\2\0\0\xff\xff\3\0"), "not a QOI file"));
    CHECK(strstr(size_of("qoif\0\0\0\2\0\0\xff\xff\4\0"), "not RGB"));
    CHECK(strstr(size_of("qoif\0\0\0\0\0\0\xff\xff\3\0"), "sides"));
    CHECK(strstr(size_of("qoif\0\0\0\2\0\1\0\0\3\0"), "sides"));
    CHECK(strstr(size_of("qoif\0\0\0\2\0\0\xff\xff\5\0"), "channels"));
    CHECK(strstr(size_of("qoif\0\0\0\2\0\0\xff\xff\3\2"), "colour space"));
    CHECK(strstr(size_of("qoif\xff\xff\xff\xff\xff\xff\xff\xff\3\0"), "sides"));
}

TEST(chunks_are_counted_without_being_decoded)
{
    static const uint8_t data[] = "\xfe\1\2\3\xff\1\2\3\4\x40\x80\0\xc4\0";
    static const size_t bytes[] = { 4, 5, 1, 2, 1, 1 };
    size_t at = 0;
    uint64_t pixels = 0;

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; at += bytes[i++]) {
        CHECK(qoi_count(data + at, bytes[i] - 1, &pixels) == 0);
        CHECK(qoi_count(data + at, sizeof data - 1 - at, &pixels) == bytes[i]);
    }
    CHECK(at == sizeof data - 1 && pixels == 5 + 5);
    CHECK(qoi_is_end((const uint8_t *)"\0\0\0\0\0\0\0\1", 8));
    CHECK(!qoi_is_end((const uint8_t *)"\0\0\0\0\0\0\1\1", 8));
    CHECK(!qoi_is_end((const uint8_t *)"\0\0\0\0\0\0\0", 7));
}
