// SPDX-License-Identifier: Apache-2.0
#include "format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 16 };

static bool take_letter(struct fm_format *format, char letter)
{
    switch (letter) {
    case 'u':
        format->coding = SAMPLE_UNSIGNED;
        return true;
    case 's':
    case 'i':
        format->coding = SAMPLE_SIGNED;
        return true;
    case 'f':
        format->coding = SAMPLE_FLOAT;
        return true;
    default:
        return false;
    }
}

bool fm_format_named(struct fm_format *format, const char *name)
{
    char lower[NAME_BYTES] = "", *end;

    for (size_t i = 0; name[i] != '\0'; i++) {
        if (i + 1 == sizeof lower)
            return false;
        lower[i] = (char)tolower((unsigned char)name[i]);
    }
    *format = (struct fm_format){ .coding = SAMPLE_SIGNED };
    const char *at = lower + 1;
    if (lower[0] == 'c')
        at += take_letter(format, *at);
    else if (*at++ != 'c' || !take_letter(format, lower[0]))
        return false;
    if (!isdigit((unsigned char)*at))
        return false;
    const unsigned long bits = strtoul(at, &end, 10);
    format->bytes = (uint32_t)(bits / 8);
    format->is_big_endian = strcmp(end, "_be") == 0;
    if (bits != 8 && bits != 16 && bits != 24 && bits != 32 && bits != 64)
        return false;
    if ((bits == 64 && format->coding != SAMPLE_FLOAT) ||
        (bits < 32 && format->coding == SAMPLE_FLOAT))
        return false;
    return *end == '\0' || strcmp(end, "_le") == 0 || format->is_big_endian;
}

bool fm_format_of_file(struct fm_format *format, const char *path)
{
    static const char gqrx[] = "_fc.raw";
    const size_t length = strlen(path);
    const char *end = strrchr(path, '.');

    if (end && (strcmp(end, ".cfile") == 0 || strcmp(end, ".complex") == 0 ||
                (length > strlen(gqrx) && strcmp(path + length - strlen(gqrx), gqrx) == 0)))
        return fm_format_named(format, "cf32");
    return end && fm_format_named(format, end + 1);
}

bool fm_format_is_cu8(const struct fm_format *format)
{
    return format->bytes == 1 && format->coding == SAMPLE_UNSIGNED;
}

void fm_format_convert(const struct fm_format *format, const uint8_t *raw, uint32_t samples,
                       float *pairs)
{
    for (uint32_t i = 0; i < 2 * samples; i++)
        pairs[i] = 127.5f * (float)sample_value(raw + (size_t)i * format->bytes, format->bytes,
                                                format->coding, format->is_big_endian);
}
