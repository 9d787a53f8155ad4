// SPDX-License-Identifier: Apache-2.0
// AVI: a tree of chunks (a name of four letters, a size, so many bytes, and one more if that is
// odd); RIFF and LIST are chunks whose bytes are a name and chunks. It is walked over as if it were
// flat, so that the size of a list does not matter.
#include "avi.h"

#include <stdio.h>
#include <string.h>

#include "kinds.h"

enum {
    HEAD = 8,        // name and size
    LIST_HEAD = 12,  // and the list's own name
    RATE_BYTES = 4,
    STREAM_BYTES = 28,
    FORMAT_BYTES = 20,
    INDEX_ENTRY_BYTES = 16,
    NULLS_MOST = 4096,  // between two chunks: where a recorder begins each at a sector
    FASTEST = 1000      // frames per second
};

static const char cut_off[] = "it ends inside its header: get a complete copy";
static const char damaged[] = "its header is damaged: get a complete copy";

static uint32_t word(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static bool is(const uint8_t *name, const char *wanted)
{
    return memcmp(name, wanted, 4) == 0;
}

static bool is_list(const uint8_t *name)
{
    return is(name, "LIST") || is(name, "RIFF");
}

static bool is_name(const uint8_t *name)
{
    for (int i = 0; i < 4; i++)
        if (name[i] < ' ' || name[i] > '~')
            return false;
    return true;
}

static bool refuse(char *why, const char *text)
{
    snprintf(why, AVI_WHY_BYTES, "%s", text);
    return false;
}

// ---- The header ---------------------------------------------------------------------------------

// What is known of the file before its frames: the bytes of headers, NULL where there are none.
struct header {
    const uint8_t *rate;            // avih
    const uint8_t *stream;          // strh of the stream that is being read
    const uint8_t *film, *format;   // strh and strf of the film
    uint32_t streams, film_number;  // streams: how many have been read
    bool has_dv;                    // sound and video in one stream
    bool damaged;                   // not all of it could be read
};

static void take_format(struct header *header, const uint8_t *format)
{
    if (!header->stream || !kind_is(header->stream, "VIDS"))
        return;
    // A film that can be played, else the first one.
    if (header->film &&
        (kind_is_motion_jpeg(header->format + 16) || !kind_is_motion_jpeg(format + 16)))
        return;
    header->film = header->stream;
    header->format = format;
    header->film_number = header->streams - 1;
}

static void take_chunk(struct header *header, const uint8_t *name, size_t bytes)
{
    const uint8_t *data = name + HEAD;

    if (is(name, "avih") && bytes >= RATE_BYTES) {
        header->rate = data;
    } else if (is(name, "strh")) {
        header->stream = bytes >= STREAM_BYTES ? data : NULL;
        header->has_dv = header->has_dv || (header->stream && kind_is(data, "IAVS"));
        header->streams++;
    } else if (is(name, "strf") && bytes >= FORMAT_BYTES) {
        take_format(header, data);
    }
}

// Where the frames begin, from `at` on, though what is before them is damaged; 0: nowhere.
static size_t look_for_frames(const struct avi *avi, size_t at)
{
    for (; avi->end - at >= LIST_HEAD; at++)
        if (is(avi->file + at, "LIST") && is(avi->file + at + HEAD, "movi"))
            return at + LIST_HEAD;
    return 0;
}

// Reads up to the frames; false where the file ends before.
static bool walk_header(struct avi *avi, struct header *header)
{
    size_t at = LIST_HEAD;

    while (avi->end - at >= LIST_HEAD) {
        const uint8_t *name = avi->file + at;
        const size_t bytes = word(name + 4), left = avi->end - at - HEAD;

        if (is(name, "LIST") && is(name + HEAD, "movi")) {
            avi->begin = at + LIST_HEAD;
            return true;
        }
        if (is_list(name)) {
            at += LIST_HEAD;
        } else if (!is_name(name) || bytes >= left) {
            break;
        } else {
            take_chunk(header, name, bytes);
            at += HEAD + bytes + (bytes & 1);
        }
    }
    header->damaged = true;
    avi->begin = look_for_frames(avi, at);
    return avi->begin != 0;
}

static bool is_rate(uint32_t rate, uint32_t scale)
{
    return rate > 0 && scale > 0 && rate / FASTEST <= scale && scale / FASTEST <= rate;
}

// The stream's own, or the file's microseconds for a frame; FFmpeg's usual one where neither is
// any.
static void read_rate(struct avi *avi, const struct header *header)
{
    avi->scale = word(header->film + 20);
    avi->rate = word(header->film + 24);
    if (!is_rate(avi->rate, avi->scale)) {
        avi->rate = 1000000;
        avi->scale = header->rate ? word(header->rate) : 0;
    }
    if (!is_rate(avi->rate, avi->scale)) {
        avi->rate = 25;
        avi->scale = 1;
    }
}

// A film that begins at its top has a negative height.
static uint32_t height_of(const uint8_t *format)
{
    const uint32_t height = word(format + 8);

    return height > INT32_MAX ? 0U - height : height;
}

// What is not all there though the header is.
static const char *lacks(const struct avi *avi)
{
    const uint32_t frames = word(avi->file + avi->begin - HEAD), whole = word(avi->file + 4);
    size_t at = 0;

    if (frames <= 4 || frames == UINT32_MAX || whole <= 4 || whole == UINT32_MAX)
        return "its sizes were never filled in, as when a recorder loses its power: "
               "it is played to its last frame";
    // All RIFFs, one after the other.
    while (avi->end - at >= HEAD && is(avi->file + at, "RIFF")) {
        const size_t bytes = word(avi->file + at + 4);

        // Some recorders count the head of the RIFF too.
        if (bytes > avi->end - at)
            return "it is cut off: it is played to where it ends";
        at = bytes < avi->end - at - HEAD ? at + HEAD + bytes : avi->end;
        at += at < avi->end && (bytes & 1);
    }
    return NULL;
}

// Whether the first frame that is not empty is a JPEG, whatever the header calls it.
static bool begins_with_jpeg(const struct avi *avi)
{
    size_t at = avi->begin;
    struct avi_frame frame;

    while (avi_next(avi, &at, &frame))
        if (frame.bytes >= 2)
            return frame.data[0] == 0xff && frame.data[1] == 0xd8;
    return false;
}

static bool check_codec(const struct avi *avi, const struct header *header, char *why)
{
    const uint8_t *codec = header->format + 16;
    char name[KIND_NAME_BYTES];

    // A format without a name is that of the stream.
    if (kind_is_motion_jpeg(codec) || (word(codec) == 0 && kind_is_motion_jpeg(header->film + 4)) ||
        (!kind_of_video(codec, name) && begins_with_jpeg(avi)))
        return true;
    snprintf(why, AVI_WHY_BYTES, "its video is not Motion-JPEG but %s; " AVI_CURE, name);
    return false;
}

bool avi_open(struct avi *avi, const void *file, size_t bytes, char why[AVI_WHY_BYTES])
{
    struct header header = { 0 };

    *avi = (struct avi){ .file = file, .end = bytes };
    if (bytes == 0)
        return refuse(why, "it is empty: get a complete copy");
    if (bytes < LIST_HEAD || !is(avi->file, "RIFF") || memcmp(avi->file + HEAD, "AVI", 3) != 0) {
        snprintf(why, AVI_WHY_BYTES, "%s; " AVI_CURE, kind_of_file(file, bytes));
        return false;
    }
    if (!walk_header(avi, &header))
        return refuse(why, cut_off);
    if (!header.film && header.damaged)
        return refuse(why, damaged);
    if (!header.film)
        return refuse(why, header.has_dv ? "its video is not Motion-JPEG but DV; " AVI_CURE
                                         : "it has no video; " AVI_CURE);
    avi->stream = header.film_number;
    avi->width = word(header.format + 4);
    avi->height = height_of(header.format);
    avi->warning = lacks(avi);
    read_rate(avi, &header);
    return check_codec(avi, &header, why);
}

// ---- The frames ---------------------------------------------------------------------------------

static bool is_digit(uint8_t letter)
{
    return letter >= '0' && letter <= '9';
}

static bool is_of_stream(const uint8_t *name)
{
    return is_digit(name[0]) && is_digit(name[1]) && name[2] >= 'A' && name[3] >= 'A' &&
           name[2] <= 'z' && name[3] <= 'z';
}

// Whatever of the stream is not sound, text, a palette or an index.
static bool is_frame(const struct avi *avi, const uint8_t *name)
{
    return is_of_stream(name) && (uint32_t)(10 * (name[0] - '0') + name[1] - '0') == avi->stream &&
           memcmp(name + 2, "wb", 2) != 0 && memcmp(name + 2, "tx", 2) != 0 &&
           memcmp(name + 2, "pc", 2) != 0 && memcmp(name + 2, "ix", 2) != 0;
}

// A chunk that a film has among its frames and behind them.
static bool is_usual(const uint8_t *name)
{
    return is_of_stream(name) || is_list(name) || is(name, "JUNK") || is(name, "idx1") ||
           (name[0] == 'i' && name[1] == 'x' && is_digit(name[2]) && is_digit(name[3]));
}

// Whether the film ends here, or a usual chunk begins, after nulls at most.
static bool is_boundary(const struct avi *avi, size_t at)
{
    const size_t begin = at;

    while (at < avi->end && at - begin < NULLS_MOST && avi->file[at] == 0)
        at++;
    return at == avi->end || at - begin == NULLS_MOST ||
           (avi->end - at >= HEAD && is_usual(avi->file + at));
}

// Whether another chunk begins here that is all there.
static bool is_chunk(const struct avi *avi, size_t at)
{
    return avi->end - at >= HEAD && is_name(avi->file + at) &&
           word(avi->file + at + 4) <= avi->end - at - HEAD;
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

// The end of the chunk at `at`, with the byte that makes it even, which some recorders leave out;
// where its size cannot be right, the next frame. `*bytes` are those of its data.
static size_t end_of_chunk(const struct avi *avi, size_t at, size_t *bytes)
{
    const size_t begin = at + HEAD, left = avi->end - begin;

    *bytes = word(avi->file + at + 4);
    if (*bytes == left)
        return avi->end;
    if (*bytes < left) {
        const size_t end = begin + *bytes, padded = end + (*bytes & 1);

        if (is_boundary(avi, padded))
            return padded;
        if (is_boundary(avi, end))
            return end;
        if (is_chunk(avi, padded))
            return padded;
    }
    const size_t next = look_for_frame(avi, begin);
    *bytes = next - begin;
    return next;
}

// The end of an index (idx1), by its entries, whose names are those of chunks.
static size_t end_of_index(const struct avi *avi, size_t at)
{
    for (at += HEAD; avi->end - at >= INDEX_ENTRY_BYTES; at += INDEX_ENTRY_BYTES) {
        const uint8_t *name = avi->file + at;

        if (!is_of_stream(name) && !is(name, "rec "))
            break;
    }
    return at;
}

bool avi_next(const struct avi *avi, size_t *at, struct avi_frame *frame)
{
    while (avi->end - *at >= HEAD) {
        const uint8_t *head = avi->file + *at;

        if (*head == 0) {
            ++*at;
        } else if (is_list(head)) {
            *at = avi->end - *at < LIST_HEAD ? avi->end : *at + LIST_HEAD;
        } else if (is(head, "idx1")) {
            *at = end_of_index(avi, *at);
        } else if (!is_name(head)) {
            *at = look_for_frame(avi, *at);
        } else {
            size_t bytes;

            *at = end_of_chunk(avi, *at, &bytes);
            if (is_frame(avi, head)) {
                *frame = (struct avi_frame){ head + HEAD, bytes };
                return true;
            }
        }
    }
    return false;
}
