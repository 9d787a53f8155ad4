// SPDX-License-Identifier: Apache-2.0
// G.711 as a codec of the phone. A lost frame is the last one again, each time at half the volume.
#include <string.h>

#include "codec.h"
#include "g711.h"

struct decoder {
    int16_t last[CODEC_SAMPLES];
};

static size_t encoder_bytes(void)
{
    return 1;
}

static size_t decoder_bytes(void)
{
    return sizeof(struct decoder);
}

static bool encoder_start(void *state, const struct codec_format *format)
{
    (void)state;
    return format->rate == 8000 && format->samples <= CODEC_SAMPLES;
}

static bool decoder_start(void *state, const struct codec_format *format)
{
    memset(state, 0, sizeof(struct decoder));
    return encoder_start(state, format);
}

static size_t encode(uint8_t (*law)(int16_t), const struct codec_format *format,
                     const int16_t *frame, uint8_t *payload)
{
    for (uint32_t i = 0; i < format->samples; i++)
        payload[i] = law(frame[i]);
    return format->samples;
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
    const bool is_whole = payload && bytes == format->samples;

    if (!is_whole)
        conceal(decoder, format->samples);
    for (uint32_t i = 0; is_whole && i < format->samples; i++)
        decoder->last[i] = law(payload[i]);
    memcpy(frame, decoder->last, format->samples * sizeof *frame);
    return is_whole;
}

static size_t encode_alaw(void *state, const struct codec_format *format, const int16_t *frame,
                          uint8_t *payload)
{
    (void)state;
    return encode(g711_alaw_encode, format, frame, payload);
}

static size_t encode_ulaw(void *state, const struct codec_format *format, const int16_t *frame,
                          uint8_t *payload)
{
    (void)state;
    return encode(g711_ulaw_encode, format, frame, payload);
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
    .only_rate = 8000,
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
    .only_rate = 8000,
    .encoder_bytes = encoder_bytes,
    .decoder_bytes = decoder_bytes,
    .encoder_start = encoder_start,
    .decoder_start = decoder_start,
    .encode = encode_ulaw,
    .decode = decode_ulaw,
};
