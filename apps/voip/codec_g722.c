// SPDX-License-Identifier: Apache-2.0
// G.722 at 64 kbit/s as a codec of the phone, by SpanDSP, whose states have no pointers: sound up
// to 7 kHz. A lost frame is the last one again, each time at half the volume.
//
// Its samples are 16000 in a second, and the ticks of its time stamps 8000, by an error of RFC 1890
// that is kept since (RFC 3551, section 4.5.2).
#include "codec.h"

// SpanDSP's need those before them.
#include <spandsp/telephony.h>

#include <spandsp/g722.h>

#include <spandsp/private/g722.h>
#include <string.h>

enum { BITS_RATE = 64000 };

struct decoder {
    g722_decode_state_t state;
    int16_t last[CODEC_SAMPLES];
};

static size_t encoder_bytes(void)
{
    return sizeof(g722_encode_state_t);
}

static size_t decoder_bytes(void)
{
    return sizeof(struct decoder);
}

static bool encoder_start(void *state, const struct codec_format *format)
{
    return format->rate == 16000 && format->samples <= CODEC_SAMPLES &&
           g722_encode_init(state, BITS_RATE, 0);
}

static bool decoder_start(void *state, const struct codec_format *format)
{
    struct decoder *decoder = state;

    memset(decoder, 0, sizeof *decoder);
    return format->rate == 16000 && format->samples <= CODEC_SAMPLES &&
           g722_decode_init(&decoder->state, BITS_RATE, 0);
}

static size_t encode(void *state, const struct codec_format *format, const int16_t *frame,
                     uint8_t *payload)
{
    return (size_t)g722_encode(state, payload, frame, (int)format->samples);
}

static bool decode(void *state, const struct codec_format *format, const uint8_t *payload,
                   size_t bytes, int16_t *frame)
{
    struct decoder *decoder = state;
    const bool is_whole = payload && 2 * bytes == format->samples;

    if (is_whole)
        (void)g722_decode(&decoder->state, decoder->last, payload, (int)bytes);
    for (uint32_t i = 0; !is_whole && i < format->samples; i++)
        decoder->last[i] /= 2;
    memcpy(frame, decoder->last, format->samples * sizeof *frame);
    return is_whole;
}

const struct codec codec_g722 = {
    .name = "G722",
    .format = "9",
    .clock = 8000,
    .channels = 1,
    .only_rate = 16000,
    .encoder_bytes = encoder_bytes,
    .decoder_bytes = decoder_bytes,
    .encoder_start = encoder_start,
    .decoder_start = decoder_start,
    .encode = encode,
    .decode = decode,
};
