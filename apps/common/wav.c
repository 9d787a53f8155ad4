// SPDX-License-Identifier: Apache-2.0
#include "wav.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    CHUNK_BYTES = 8,
    HEAD_BYTES = 12,
    FORMAT_BYTES = 16,
    EXTENSIBLE_BYTES = 40,
    DS64_BYTES = 16,
    TUNED_BYTES = 36,
    CHUNKS_MAX = 4096,  // a file of nothing but chunks comes to an end
    PIECE_BYTES = 2048,
};

enum { PCM = 1, IEEE_FLOAT = 3, EXTENSIBLE = 0xfffe };

// The chunks that matter, once found.
struct walk {
    const struct wav_file *file;
    struct wav *wav;
    uint64_t long_bytes;  // of the samples, by `ds64`
    bool has_format, has_data;
};

static void put(uint8_t *at, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get(const uint8_t *at, uint32_t bytes)
{
    return (uint32_t)sample_bits(at, bytes, false);
}

static bool read_whole(const struct wav_file *file, void *data, size_t bytes, uint64_t place)
{
    return place <= file->bytes && file->read(file->file, data, bytes, place) == (int64_t)bytes;
}

// ---- The format ---------------------------------------------------------------------------------

static const char *coder_name(uint32_t kind)
{
    static const struct {
        uint32_t kind;
        const char *name;
    } coders[] = { { 2, "ADPCM" },      { 6, "A-law" },  { 7, "mu-law" },
                   { 0x11, "ADPCM" },   { 0x31, "GSM" }, { 0x50, "MPEG" },
                   { 0x55, "MP3" },     { 0xff, "AAC" }, { 0x161, "Windows Media" },
                   { 0x674f, "Vorbis" } };

    for (size_t i = 0; i < sizeof coders / sizeof *coders; i++)
        if (coders[i].kind == kind)
            return coders[i].name;
    return "an unknown coding";
}

// The sub-format of an extensible format is the kind, in front of a constant.
static uint32_t kind_of(const uint8_t *format, uint64_t bytes)
{
    static const uint8_t rest[14] = { 0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113 };
    const uint32_t kind = get(format, 2);

    if (kind != EXTENSIBLE)
        return kind;
    if (bytes < EXTENSIBLE_BYTES)
        return PCM;
    return memcmp(format + 26, rest, sizeof rest) == 0 ? get(format + 24, 2) : EXTENSIBLE;
}

static bool is_known(const struct wav *wav, uint32_t kind)
{
    if (kind == IEEE_FLOAT)
        return wav->sample_bytes == 4 || wav->sample_bytes == 8;
    return kind == PCM && wav->sample_bytes >= 1 && wav->sample_bytes <= 4;
}

static bool take_format(struct wav *wav, const uint8_t *format, uint64_t bytes, char *why)
{
    const uint32_t kind = kind_of(format, bytes), bits = get(format + 14, 2);
    const uint32_t block = get(format + 12, 2);

    wav->channels = get(format + 2, 2);
    wav->rate = get(format + 4, 4);
    wav->sample_bytes = (bits + 7) / 8;
    // Samples may be in larger containers, at the upper end.
    if (wav->channels > 0 && block % wav->channels == 0 &&
        block / wav->channels > wav->sample_bytes && block / wav->channels <= 4)
        wav->sample_bytes = block / wav->channels;
    wav->coding = kind == IEEE_FLOAT       ? SAMPLE_FLOAT
                  : wav->sample_bytes == 1 ? SAMPLE_UNSIGNED
                                           : SAMPLE_SIGNED;
    if (kind != PCM && kind != IEEE_FLOAT)
        snprintf(why, WAV_WHY_BYTES, "it is in %s (format %u): convert it to PCM of 16 bits",
                 coder_name(kind), (unsigned)kind);
    else if (!is_known(wav, kind))
        snprintf(why, WAV_WHY_BYTES, "its samples have %u bits: convert it to PCM of 16 bits",
                 (unsigned)bits);
    else if (wav->channels < 1 || wav->channels > WAV_CHANNELS_MAX)
        snprintf(why, WAV_WHY_BYTES, "it has %u channels: convert it to 1 or 2",
                 (unsigned)wav->channels);
    else if (wav->rate == 0)
        snprintf(why, WAV_WHY_BYTES, "it has 0 samples in a second: record it again");
    return why[0] == '\0';
}

// ---- The chunks ---------------------------------------------------------------------------------

// Radio programs write when they recorded, then the frequency. Others put text there.
static void take_tuned(struct walk *walk, uint64_t at, uint64_t bytes)
{
    uint8_t tuned[TUNED_BYTES];

    if (bytes < sizeof tuned || !read_whole(walk->file, tuned, sizeof tuned, at))
        return;
    const uint32_t year = get(tuned, 2), month = get(tuned + 2, 2);
    if ((year == 0 && month == 0) || (year >= 1980 && year < 2200 && month >= 1 && month <= 12))
        walk->wav->centre_hz = get(tuned + 32, 4);
}

// What is written where a recorder cannot know the size: ffmpeg, sox, and who never came back.
static bool is_no_size(uint64_t bytes)
{
    return bytes == 0x7ffff000 || bytes == 0x7fffffff || bytes == 0x80000000 ||
           (bytes >= UINT32_MAX - WAV_HEADER_BYTES && bytes <= UINT32_MAX);
}

// An empty chunk of samples at `at` that is followed by another one is really empty.
static bool is_followed(const struct walk *walk, uint64_t at)
{
    uint8_t chunk[CHUNK_BYTES];

    if (!read_whole(walk->file, chunk, sizeof chunk, at))
        return false;
    return at + CHUNK_BYTES + get(chunk + 4, 4) == walk->file->bytes;
}

// Returns how many bytes to pass over.
static uint64_t take_data(struct walk *walk, uint64_t at, uint64_t bytes)
{
    const uint64_t rest = walk->file->bytes - at;

    if (walk->has_data)
        return bytes;
    if (bytes == UINT32_MAX && walk->long_bytes > 0)
        bytes = walk->long_bytes;
    walk->has_data = true;
    walk->wav->at = at;
    if (is_no_size(bytes) || (bytes == 0 && !is_followed(walk, at)) ||
        (rest > UINT32_MAX && bytes == (uint32_t)rest))
        bytes = rest;
    walk->wav->is_cut = bytes > rest;
    walk->wav->samples = bytes < rest ? bytes : rest;  // in bytes, until the format is known
    return walk->wav->samples;
}

// Some writers leave out the byte that makes a chunk even.
static uint64_t padding(const struct walk *walk, uint64_t end)
{
    char name[4];

    return !(read_whole(walk->file, name, sizeof name, end) &&
             (memcmp(name, "data", 4) == 0 || memcmp(name, "fmt ", 4) == 0));
}

static bool take_chunk(struct walk *walk, const uint8_t *chunk, uint64_t *at, char *why)
{
    uint8_t body[EXTENSIBLE_BYTES] = { 0 };
    uint64_t bytes = get(chunk + 4, 4);

    *at += CHUNK_BYTES;
    if (memcmp(chunk, "fmt ", 4) == 0 && !walk->has_format) {
        const uint64_t n = bytes < sizeof body ? bytes : sizeof body;

        if (n < FORMAT_BYTES || !read_whole(walk->file, body, (size_t)n, *at)) {
            snprintf(why, WAV_WHY_BYTES, "its format is cut off: record it again");
            return false;
        }
        walk->has_format = take_format(walk->wav, body, n, why);
        if (!walk->has_format)
            return false;
    } else if (memcmp(chunk, "ds64", 4) == 0 && bytes >= DS64_BYTES) {
        if (read_whole(walk->file, body, DS64_BYTES, *at))
            walk->long_bytes = sample_bits(body + 8, 8, false);
    } else if (memcmp(chunk, "auxi", 4) == 0) {
        take_tuned(walk, *at, bytes);
    } else if (memcmp(chunk, "data", 4) == 0) {
        bytes = take_data(walk, *at, bytes);
    }
    *at += bytes;
    if (bytes % 2 != 0)
        *at += padding(walk, *at);
    return true;
}

bool wav_find(struct wav *wav, const struct wav_file *file, char why[WAV_WHY_BYTES])
{
    struct walk walk = { .file = file, .wav = wav };
    uint8_t head[HEAD_BYTES], chunk[CHUNK_BYTES];
    uint64_t at = HEAD_BYTES;

    why[0] = '\0';
    *wav = (struct wav){ 0 };
    const bool is_there = read_whole(file, head, sizeof head, 0);
    if (is_there && memcmp(head, "RIFX", 4) == 0) {
        snprintf(why, WAV_WHY_BYTES, "its numbers are big-endian (RIFX): convert it to RIFF");
        return false;
    }
    if (!is_there || memcmp(head + 8, "WAVE", 4) != 0 ||
        (memcmp(head, "RIFF", 4) != 0 && memcmp(head, "RF64", 4) != 0 &&
         memcmp(head, "BW64", 4) != 0)) {
        snprintf(why, WAV_WHY_BYTES, "it is not a WAV file: convert it to one");
        return false;
    }
    for (int i = 0; i < CHUNKS_MAX && read_whole(file, chunk, sizeof chunk, at); i++)
        if (!take_chunk(&walk, chunk, &at, why))
            return false;
    if (!walk.has_format)
        snprintf(why, WAV_WHY_BYTES, "it has no format (chunk \"fmt \"): record it again");
    else
        wav->samples /= (uint64_t)wav->channels * wav->sample_bytes;
    if (walk.has_format && wav->samples == 0)
        snprintf(why, WAV_WHY_BYTES, "it has no samples: record it again");
    return why[0] == '\0';
}

// ---- Samples ------------------------------------------------------------------------------------

static int16_t mean_of(const struct wav *wav, const uint8_t *at)
{
    double sum = 0;

    for (uint32_t i = 0; i < wav->channels; i++, at += wav->sample_bytes)
        sum += sample_value(at, wav->sample_bytes, wav->coding, false);
    const double value = rint(sum / wav->channels * 32768);
    return (int16_t)(value > INT16_MAX ? INT16_MAX : value >= INT16_MIN ? value : INT16_MIN);
}

int64_t wav_read(const struct wav *wav, const struct wav_file *file, uint64_t from,
                 int16_t *samples, size_t n)
{
    const size_t bytes = (size_t)wav->channels * wav->sample_bytes;
    const uint64_t left = from < wav->samples ? wav->samples - from : 0;
    uint8_t piece[PIECE_BYTES];
    size_t done = 0;

    n = left < n ? (size_t)left : n;
    while (done < n) {
        const size_t most = sizeof piece / bytes, wanted = n - done < most ? n - done : most;
        const int64_t got =
            file->read(file->file, piece, wanted * bytes, wav->at + (from + done) * bytes);

        if (got < 0)
            return got;
        const size_t whole = (size_t)got / bytes;
        for (size_t i = 0; i < whole; i++)
            samples[done + i] = mean_of(wav, piece + i * bytes);
        done += whole;
        if (whole < wanted)
            break;
    }
    return (int64_t)done;
}

void wav_header(uint8_t header[WAV_HEADER_BYTES], uint32_t rate, uint64_t samples)
{
    const uint64_t most = (UINT32_MAX - WAV_HEADER_BYTES) & ~1u, wanted = samples * 2;
    const uint32_t bytes = (uint32_t)(wanted < most ? wanted : most);

    memcpy(header, "RIFF....WAVEfmt ....................data", 40);
    put(header + 4, bytes + WAV_HEADER_BYTES - 8, 4);
    put(header + 16, FORMAT_BYTES, 4);
    put(header + 20, PCM, 2);
    put(header + 22, 1, 2);
    put(header + 24, rate, 4);
    put(header + 28, rate * 2, 4);
    put(header + 32, 2, 2);
    put(header + 34, 16, 2);
    put(header + 40, bytes, 4);
}
