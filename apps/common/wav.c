// SPDX-License-Identifier: Apache-2.0
#include "wav.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK_BYTES = 8, FORMAT_BYTES = 16, PLAIN = 1, EXTENSIBLE = 0xfffe };

static uint32_t get(const uint8_t *at, uint32_t bytes)
{
    uint32_t value = 0;

    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

static void put(uint8_t *at, uint32_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static bool take_format(struct wav *wav, const uint8_t *format, char *why)
{
    const uint32_t kind = get(format, 2), channels = get(format + 2, 2), bits = get(format + 14, 2);

    wav->rate = get(format + 4, 4);
    if ((kind == PLAIN || kind == EXTENSIBLE) && channels == 1 && bits == 16)
        return true;
    snprintf(why, WAV_WHY_BYTES,
             "it has %u channels of %u bits in format %u: one of 16 bits, PCM, is wanted",
             (unsigned)channels, (unsigned)bits, (unsigned)kind);
    return false;
}

static bool refuse_format(char *why)
{
    if (why[0] == '\0')
        snprintf(why, WAV_WHY_BYTES, "its format is cut off");
    return false;
}

// Walks over the chunks until that of the samples.
static bool walk(struct wav *wav, int64_t (*read)(void *, void *, size_t, uint64_t), void *file,
                 char *why)
{
    uint8_t chunk[CHUNK_BYTES + FORMAT_BYTES];
    uint64_t at = 12;

    wav->rate = 0;
    for (;;) {
        const int64_t n = read(file, chunk, sizeof chunk, at);
        const uint64_t bytes = n >= CHUNK_BYTES ? get(chunk + 4, 4) : 0;

        if (n < CHUNK_BYTES)
            break;
        if (memcmp(chunk, "data", 4) == 0) {
            wav->at = at + CHUNK_BYTES;
            wav->samples = bytes / 2;
            break;
        }
        if (memcmp(chunk, "fmt ", 4) == 0 && (n < (int64_t)sizeof chunk || bytes < FORMAT_BYTES ||
                                              !take_format(wav, chunk + CHUNK_BYTES, why)))
            return refuse_format(why);
        at += CHUNK_BYTES + bytes + bytes % 2;
    }
    if (wav->rate > 0 && wav->samples > 0)
        return true;
    snprintf(why, WAV_WHY_BYTES, "it has no samples");
    return false;
}

bool wav_find(struct wav *wav,
              int64_t (*read)(void *file, void *data, size_t bytes, uint64_t place), void *file,
              char why[WAV_WHY_BYTES])
{
    uint8_t head[12];

    why[0] = '\0';
    *wav = (struct wav){ 0 };
    if (read(file, head, sizeof head, 0) == sizeof head && memcmp(head, "RIFF", 4) == 0 &&
        memcmp(head + 8, "WAVE", 4) == 0)
        return walk(wav, read, file, why);
    snprintf(why, WAV_WHY_BYTES, "it is not a WAV file");
    return false;
}

void wav_header(uint8_t header[WAV_HEADER_BYTES], uint32_t rate, uint64_t samples)
{
    const uint64_t most = (UINT32_MAX - WAV_HEADER_BYTES) & ~1u, wanted = samples * 2;
    const uint32_t bytes = (uint32_t)(wanted < most ? wanted : most);

    memcpy(header, "RIFF....WAVEfmt ....................data", 40);
    put(header + 4, bytes + WAV_HEADER_BYTES - 8, 4);
    put(header + 16, FORMAT_BYTES, 4);
    put(header + 20, PLAIN, 2);
    put(header + 22, 1, 2);
    put(header + 24, rate, 4);
    put(header + 28, rate * 2, 4);
    put(header + 32, 2, 2);
    put(header + 34, 16, 2);
    put(header + 40, bytes, 4);
}
