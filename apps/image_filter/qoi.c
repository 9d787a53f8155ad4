// SPDX-License-Identifier: Apache-2.0
#include "qoi.h"

#include <string.h>

// The first byte of a chunk: two bits that name it, or all eight.
enum {
    INDEX = 0x00,
    DIFFERENCE = 0x40,
    LUMA = 0x80,
    RUN = 0xc0,
    RGB = 0xfe,
    RGBA = 0xff,
    NAME = 0xc0,
    CHANNELS_AT = 12,
    COLOUR_AT = 13,
    COLOUR_MOST = 1
};

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

const char *qoi_size(const uint8_t header[QOI_HEADER_BYTES], uint32_t *width, uint32_t *height)
{
    if (memcmp(header, "qoif", 4) != 0)
        return "it is not a QOI file; ffmpeg -i FILE -pix_fmt rgb24 NAME.qoi makes one";
    if (header[CHANNELS_AT] == 4)
        return "it is not RGB; ffmpeg -i FILE -pix_fmt rgb24 NAME.qoi makes one";
    if (header[CHANNELS_AT] != 3 || header[COLOUR_AT] > COLOUR_MOST)
        return "its channels or its colour space are none that there are: get a complete copy";
    *width = big_endian(header + 4);
    *height = big_endian(header + 8);
    if (*width == 0 || *width > QOI_SIDE_MAX || *height == 0 || *height > QOI_SIDE_MAX)
        return "its sides must have 1 to 65535 pixels: get a complete copy";
    return NULL;
}

bool qoi_is_end(const uint8_t *data, size_t bytes)
{
    static const uint8_t mark[QOI_END_BYTES] = { 0, 0, 0, 0, 0, 0, 0, 1 };

    return bytes >= sizeof mark && memcmp(data, mark, sizeof mark) == 0;
}

void qoi_begin(struct qoi *qoi)
{
    *qoi = (struct qoi){ .pixel = { 0, 0, 0, 255 } };
}

static int chunk_bytes(uint8_t first)
{
    if (first >= RGB)
        return first == RGB ? 4 : 5;
    return (first & NAME) == LUMA ? 2 : 1;
}

size_t qoi_count(const uint8_t *data, size_t bytes, uint64_t *pixels)
{
    if (bytes == 0 || bytes < (size_t)chunk_bytes(data[0]))
        return 0;
    *pixels += data[0] < RGB && (data[0] & NAME) == RUN ? (data[0] & 0x3f) + 1 : 1;
    return (size_t)chunk_bytes(data[0]);
}

static void add(uint8_t *pixel, int red, int green, int blue)
{
    pixel[0] = (uint8_t)(pixel[0] + red);
    pixel[1] = (uint8_t)(pixel[1] + green);
    pixel[2] = (uint8_t)(pixel[2] + blue);
}

static void add_luma(uint8_t *pixel, const uint8_t *data)
{
    const int green = (data[0] & 0x3f) - 32;

    add(pixel, green - 8 + (data[1] >> 4), green, green - 8 + (data[1] & 15));
}

static void add_difference(uint8_t *pixel, uint8_t data)
{
    add(pixel, (data >> 4 & 3) - 2, (data >> 2 & 3) - 2, (data & 3) - 2);
}

static void take(struct qoi *qoi, const uint8_t *data, int bytes)
{
    if (bytes >= 4)
        memcpy(qoi->pixel, data + 1, (size_t)bytes - 1);
    else if ((data[0] & NAME) == LUMA)
        add_luma(qoi->pixel, data);
    else if ((data[0] & NAME) == DIFFERENCE)
        add_difference(qoi->pixel, data[0]);
    else if ((data[0] & NAME) == RUN)
        qoi->run = data[0] & 0x3f;
    else
        memcpy(qoi->pixel, qoi->seen[data[0] & 0x3f], sizeof qoi->pixel);
}

int qoi_next(struct qoi *qoi, const uint8_t *data, size_t bytes)
{
    if (qoi->run > 0) {
        qoi->run--;
        return 0;
    }
    if (bytes == 0 || bytes < (size_t)chunk_bytes(data[0]))
        return -1;
    const int taken = chunk_bytes(data[0]);
    const uint8_t *pixel = qoi->pixel;
    take(qoi, data, taken);
    memcpy(qoi->seen[(pixel[0] * 3 + pixel[1] * 5 + pixel[2] * 7 + pixel[3] * 11) % 64], pixel, 4);
    return taken;
}
