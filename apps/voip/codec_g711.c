// SPDX-License-Identifier: Apache-2.0
// G.711 as a codec of the phone. A lost frame is the last one again, each time at half the volume.
//
// A run that has more samples in a second, for the sake of other codecs, has them converted: each
// way, they come 16 samples of G.711 later.
#include <string.h>

#include "codec.h"
#include "g711.h"
#include "resample.h"

enum { RATE = 8000, MOST_RATE = 48000, MOST_MARGIN = RESAMPLE_CROSSINGS * MOST_RATE / RATE };

struct encoder {
    int16_t wide[2 * MOST_MARGIN + CODEC_SAMPLES];  // two margins of what was, and a frame
};

struct decoder {
    int16_t narrow[2 * RESAMPLE_CROSSINGS + CODEC_SAMPLES];  // the same
    int16_t last[CODEC_SAMPLES];
};

static size_t encoder_bytes(void)
{
    return sizeof(struct encoder);
}

static size_t decoder_bytes(void)
{
    return sizeof(struct decoder);
}

static bool is_possible(const struct codec_format *format)
{
    return format->rate % RATE == 0 && format->rate <= MOST_RATE &&
           format->samples <= CODEC_SAMPLES;
}

static bool encoder_start(void *state, const struct codec_format *format)
{
    memset(state, 0, sizeof(struct encoder));
    return is_possible(format);
}

static bool decoder_start(void *state, const struct codec_format *format)
{
    memset(state, 0, sizeof(struct decoder));
    return is_possible(format);
}

// Puts a frame behind two margins of what was before it, and makes `made` of both.
static void convert(int16_t *sound, const int16_t *frame, uint32_t from, uint32_t samples,
                    int16_t *made, uint32_t to)
{
    const uint32_t kept = 2 * resample_margin(from, to);

    memmove(sound, sound + samples, kept * sizeof *sound);
    memcpy(sound + kept, frame, samples * sizeof *sound);
    resample(sound, from, to, 0, made, samples * to / from);
}

static size_t encode(struct encoder *encoder, uint8_t (*law)(int16_t),
                     const struct codec_format *format, const int16_t *frame, uint8_t *payload)
{
    const uint32_t samples = format->samples * RATE / format->rate;
    int16_t narrow[CODEC_SAMPLES];

    if (format->rate != RATE) {
        convert(encoder->wide, frame, format->rate, format->samples, narrow, RATE);
        frame = narrow;
    }
    for (uint32_t i = 0; i < samples; i++)
        payload[i] = law(frame[i]);
    return samples;
}

static void conceal(struct decoder *decoder, uint32_t samples)
{
    for (uint32_t i = 0; i < samples; i++)
        decoder->last[i] /= 2;
}

static bool decode(struct decoder *decoder, int16_t (*law)(uint8_t),
                   const struct codec_format *format, const uint8_t *payload, size_t bytes,
                   int16_t *frame)
{
    const uint32_t samples = format->samples * RATE / format->rate;
    const bool is_whole = payload && bytes == samples;

    if (!is_whole)
        conceal(decoder, samples);
    for (uint32_t i = 0; is_whole && i < samples; i++)
        decoder->last[i] = law(payload[i]);
    if (format->rate == RATE)
        memcpy(frame, decoder->last, samples * sizeof *frame);
    else
        convert(decoder->narrow, decoder->last, RATE, samples, frame, format->rate);
    return is_whole;
}

static size_t encode_alaw(void *state, const struct codec_format *format, const int16_t *frame,
                          uint8_t *payload)
{
    return encode(state, g711_alaw_encode, format, frame, payload);
}

static size_t encode_ulaw(void *state, const struct codec_format *format, const int16_t *frame,
                          uint8_t *payload)
{
    return encode(state, g711_ulaw_encode, format, frame, payload);
}

static bool decode_alaw(void *state, const struct codec_format *format, const uint8_t *payload,
                        size_t bytes, int16_t *frame)
{
    return decode(state, g711_alaw_decode, format, payload, bytes, frame);
}

static bool decode_ulaw(void *state, const struct codec_format *format, const uint8_t *payload,
                        size_t bytes, int16_t *frame)
{
    return decode(state, g711_ulaw_decode, format, payload, bytes, frame);
}

const struct codec codec_pcma = {
    .name = "PCMA",
    .format = "8",
    .clock = 8000,
    .channels = 1,
    .encoder_bytes = encoder_bytes,
    .decoder_bytes = decoder_bytes,
    .encoder_start = encoder_start,
    .decoder_start = decoder_start,
    .encode = encode_alaw,
    .decode = decode_alaw,
};

const struct codec codec_pcmu = {
    .name = "PCMU",
    .format = "0",
    .clock = 8000,
    .channels = 1,
    .encoder_bytes = encoder_bytes,
    .decoder_bytes = decoder_bytes,
    .encoder_start = encoder_start,
    .decoder_start = decoder_start,
    .encode = encode_ulaw,
    .decode = decode_ulaw,
};
