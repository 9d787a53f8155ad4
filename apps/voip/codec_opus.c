// SPDX-License-Identifier: Apache-2.0
// Opus (RFC 6716, in RTP by RFC 7587) as a codec of the phone: one channel, whatever SDP tells.
#include <opus.h>
#include <string.h>

#include "codec.h"

static size_t encoder_bytes(void)
{
    return (size_t)opus_encoder_get_size(1);
}

static size_t decoder_bytes(void)
{
    return (size_t)opus_decoder_get_size(1);
}

static bool encoder_start(void *state, const struct codec_format *format)
{
    OpusEncoder *encoder = state;

    return opus_encoder_init(encoder, (opus_int32)format->rate, 1, OPUS_APPLICATION_VOIP) ==
               OPUS_OK &&
           opus_encoder_ctl(encoder, OPUS_SET_COMPLEXITY((opus_int32)format->effort)) == OPUS_OK &&
           opus_encoder_ctl(encoder, OPUS_SET_BITRATE((opus_int32)format->bits_rate)) == OPUS_OK;
}

static bool decoder_start(void *state, const struct codec_format *format)
{
    return opus_decoder_init(state, (opus_int32)format->rate, 1) == OPUS_OK;
}

static size_t encode(void *state, const struct codec_format *format, const int16_t *frame,
                     uint8_t *payload)
{
    const int bytes = opus_encode(state, frame, (int)format->samples, payload, CODEC_PAYLOAD_BYTES);

    return bytes > 0 ? (size_t)bytes : 0;
}

static bool decode(void *state, const struct codec_format *format, const uint8_t *payload,
                   size_t bytes, int16_t *frame)
{
    const int samples = (int)format->samples;

    if (payload && bytes > 0 &&
        opus_decode(state, payload, (opus_int32)bytes, frame, samples, 0) == samples)
        return true;
    if (opus_decode(state, NULL, 0, frame, samples, 0) != samples)
        memset(frame, 0, format->samples * sizeof *frame);
    return false;
}

const struct codec codec_opus = {
    .name = "opus",
    .format = "111",
    .clock = 48000,
    .channels = 2,
    .encoder_bytes = encoder_bytes,
    .decoder_bytes = decoder_bytes,
    .encoder_start = encoder_start,
    .decoder_start = decoder_start,
    .encode = encode,
    .decode = decode,
};
