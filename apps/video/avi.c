// SPDX-License-Identifier: Apache-2.0
// AVI: a tree of chunks (a name of four letters, a size, so many bytes, and one more if that is
// odd); a LIST is a chunk whose bytes are a name and chunks.
#include "avi.h"

#include <string.h>

enum {
    HEAD = 8,        // name and size
    LIST_HEAD = 12,  // and the list's own name
    STREAM_BYTES = 28,
    FORMAT_BYTES = 20,
};

static const char cut_off[] = "it ends inside its header: get a complete copy";
static const char no_film[] = "it has no video; " AVI_CURE;

struct range {
    const uint8_t *file;
    size_t at, end;
};

struct chunk {
    const uint8_t *name;
    struct range inside;
};

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool is(const uint8_t *name, const char *wanted)
{
    return memcmp(name, wanted, 4) == 0;
}

// The next chunk; one that is longer than what is left is cut to that.
static bool next_chunk(struct range *range, struct chunk *chunk)
{
    if (range->end - range->at < HEAD)
        return false;
    const uint8_t *head = range->file + range->at;
    const size_t begin = range->at + HEAD, left = range->end - begin, bytes = word(head + 4);

    chunk->name = head;
    chunk->inside = (struct range){ range->file, begin, begin + (bytes < left ? bytes : left) };
    range->at = bytes < left ? begin + bytes + (bytes & 1) : range->end;
    return true;
}

// Goes into a list of this name.
static bool enter(const struct chunk *chunk, const char *name, struct range *list)
{
    *list = chunk->inside;
    if (!is(chunk->name, "LIST") || list->end - list->at < 4 || !is(list->file + list->at, name))
        return false;
    list->at += 4;
    return true;
}

static bool find(struct range range, const char *name, struct chunk *chunk)
{
    while (next_chunk(&range, chunk))
        if (is(chunk->name, name))
            return true;
    return false;
}

// ---- The header ---------------------------------------------------------------------------------

static size_t bytes_of(const struct chunk *chunk)
{
    return chunk->inside.end - chunk->inside.at;
}

static bool is_motion_jpeg(const uint8_t *codec)
{
    return is(codec, "MJPG") || is(codec, "mjpg");
}

// The stream's header (strh) and its format (strf, a bitmap's header).
static const char *read_stream(struct avi *avi, const uint8_t *stream, const uint8_t *format)
{
    if (!is_motion_jpeg(format + 16))
        return "its video is not Motion-JPEG; " AVI_CURE;
    avi->scale = word(stream + 20);
    avi->rate = word(stream + 24);
    avi->width = word(format + 4);
    avi->height = word(format + 8);
    if (avi->rate == 0 || avi->scale == 0)
        return "it has 0 frames per second";
    return NULL;
}

// The first stream that is a film.
static const char *read_header(struct avi *avi, struct range header)
{
    struct chunk chunk, stream, format;
    struct range list;

    for (uint32_t n = 0; next_chunk(&header, &chunk);) {
        if (!enter(&chunk, "strl", &list))
            continue;
        if (!find(list, "strh", &stream) || bytes_of(&stream) < STREAM_BYTES)
            return cut_off;
        if (is(stream.inside.file + stream.inside.at, "vids")) {
            if (!find(list, "strf", &format) || bytes_of(&format) < FORMAT_BYTES)
                return cut_off;
            avi->stream = n;
            return read_stream(avi, stream.inside.file + stream.inside.at,
                               format.inside.file + format.inside.at);
        }
        n++;
    }
    return no_film;
}

const char *avi_open(struct avi *avi, const void *file, size_t bytes)
{
    struct range range = { file, 0, bytes }, list;
    struct chunk chunk;
    const char *why = cut_off;

    *avi = (struct avi){ .file = file };
    if (bytes < LIST_HEAD || !is(range.file, "RIFF") || !is(range.file + HEAD, "AVI "))
        return "it is not an AVI file; " AVI_CURE;
    range.at = LIST_HEAD;
    while (next_chunk(&range, &chunk)) {
        if (enter(&chunk, "hdrl", &list)) {
            why = read_header(avi, list);
        } else if (enter(&chunk, "movi", &list)) {
            avi->begin = list.at;
            avi->end = list.end;
            break;
        }
    }
    return why ? why : avi->begin == 0 ? cut_off : NULL;
}

// ---- The frames ---------------------------------------------------------------------------------

static bool is_frame(const struct avi *avi, const uint8_t *name)
{
    return name[0] == '0' + avi->stream / 10 && name[1] == '0' + avi->stream % 10 &&
           name[2] == 'd' && (name[3] == 'c' || name[3] == 'b');
}

static bool is_name(const uint8_t *name)
{
    for (int i = 0; i < 4; i++)
        if (name[i] < ' ' || name[i] > '~')
            return false;
    return true;
}

// Whether the frames end here, or another chunk begins.
static bool is_boundary(const struct avi *avi, size_t at)
{
    return at == avi->end || (avi->end - at >= HEAD && is_name(avi->file + at));
}

// Where the next frame begins whose picture can be told, at or after `at`; the end if there is
// none.
static size_t look_for_frame(const struct avi *avi, size_t at)
{
    for (; avi->end - at >= HEAD + 2; at++) {
        const uint8_t *head = avi->file + at;

        if (is_frame(avi, head) && head[HEAD] == 0xff && head[HEAD + 1] == 0xd8)
            return at;
    }
    return avi->end;
}

// The end of the chunk at `at`, with the byte that makes it even; where its size cannot be right,
// the next frame.
static size_t end_of_chunk(const struct avi *avi, size_t at)
{
    const size_t begin = at + HEAD, left = avi->end - begin, bytes = word(avi->file + at + 4);
    const size_t padded = bytes + (bytes & 1);

    if (bytes == left)
        return avi->end;
    if (padded <= left && is_boundary(avi, begin + padded))
        return begin + padded;
    return look_for_frame(avi, begin);
}

bool avi_next(const struct avi *avi, size_t *at, struct avi_frame *frame)
{
    while (*at < avi->end && avi->end - *at >= HEAD) {
        const uint8_t *head = avi->file + *at;
        const size_t begin = *at + HEAD;

        if (is(head, "LIST")) {
            *at = avi->end - *at < LIST_HEAD ? avi->end : *at + LIST_HEAD;
        } else if (!is_name(head)) {
            *at = look_for_frame(avi, *at);
        } else {
            *at = end_of_chunk(avi, *at);
            if (is_frame(avi, head)) {
                const size_t bytes = word(head + 4), room = *at - begin;

                *frame = (struct avi_frame){ head + HEAD, bytes < room ? bytes : room };
                return true;
            }
        }
    }
    return false;
}
