// SPDX-License-Identifier: Apache-2.0
#define _POSIX_C_SOURCE 200809L
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/create.h"
#include "planes.h"

enum { WHY_BYTES = 256, PATH_BYTES = 4096, LINE_BYTES = 160 };

static const char pictures[] = ".y4m", checksums[] = ".framecrc";

static bool refuse(char *why, const char *path, const char *reason)
{
    snprintf(why, WHY_BYTES, "output \"%.140s\" cannot be created: %s", path, reason);
    return false;
}

static bool ends_in(const char *path, const char *suffix)
{
    const size_t length = strlen(path), end = strlen(suffix);

    return length > end && strcmp(path + length - end, suffix) == 0;
}

bool output_open(struct output *output, const char *path, uint32_t index, char *why)
{
    const char *suffix = ends_in(path, pictures) ? pictures : checksums;
    char name[PATH_BYTES];
    const char *reason;

    output->fd = -1;
    output->kind = OUTPUT_NONE;
    if (path[0] == '\0')
        return true;
    if (!ends_in(path, suffix))
        return refuse(why, path, "end its name in .y4m or .framecrc");
    const int stem = (int)(strlen(path) - strlen(suffix));
    const int length = snprintf(name, sizeof name, "%.*s.%u%s", stem, path, index, suffix);
    if (length >= (int)sizeof name)
        return refuse(why, path, "the path is too long");
    output->fd = create_file(name, &reason);
    if (output->fd < 0)
        return refuse(why, name, reason);
    output->kind = suffix == pictures ? OUTPUT_PICTURES : OUTPUT_CHECKSUMS;
    return true;
}

void output_close(struct output *output)
{
    if (output->kind != OUTPUT_NONE)
        close(output->fd);
    output->kind = OUTPUT_NONE;
}

static bool put(const struct output *output, uint64_t *place, const void *data, size_t bytes,
                char *why)
{
    const char *at = data;

    while (bytes > 0) {
        const ssize_t n = pwrite(output->fd, at, bytes, (off_t)*place);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            snprintf(why, WHY_BYTES, "cannot write the output: %s", strerror(errno));
            return false;
        }
        at += n;
        *place += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool put_header(const struct output *output, uint64_t *place, char *why)
{
    char text[2 * LINE_BYTES];

    if (output->kind == OUTPUT_PICTURES)
        snprintf(text, sizeof text, "YUV4MPEG2 W%u H%u F%u:%u Ip A1:1 C420jpeg\n", output->width,
                 output->height, output->rate, output->scale);
    else
        snprintf(text, sizeof text,
                 "#tb 0: %u/%u\n#media_type 0: video\n#codec_id 0: rawvideo\n"
                 "#dimensions 0: %ux%u\n",
                 output->scale, output->rate, output->width, output->height);
    return put(output, place, text, strlen(text), why);
}

bool output_write(const struct output *output, uint64_t *written, uint64_t number,
                  uint32_t checksum, const uint8_t *planes, char *why)
{
    const size_t bytes = picture_bytes(output->width, output->height);
    uint64_t place = *written;
    char line[LINE_BYTES] = "FRAME\n";

    if (output->kind == OUTPUT_NONE)
        return true;
    if (output->kind == OUTPUT_CHECKSUMS)
        snprintf(line, sizeof line, "0, %10llu, %10llu, %8d, %8lu, 0x%08x\n",
                 (unsigned long long)number, (unsigned long long)number, 1, (unsigned long)bytes,
                 (unsigned int)checksum);
    if ((place == 0 && !put_header(output, &place, why)) ||
        !put(output, &place, line, strlen(line), why) ||
        (output->kind == OUTPUT_PICTURES && !put(output, &place, planes, bytes, why)))
        return false;
    *written = place;
    return true;
}
