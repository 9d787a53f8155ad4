// SPDX-License-Identifier: Apache-2.0
// The codecs of the phone: frames of samples to payloads of packets, and back.
//
// What a codec keeps between frames is in its caller's memory, without pointers to anywhere else
// and without anything of a kernel's: it may be used on another core from frame to frame.
#ifndef VOIP_CODEC_H
#define VOIP_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CODECS = 4,
    CODEC_PAYLOAD_BYTES = 1400,  // of one packet at most
    CODEC_SAMPLES = 960,         // of one frame at most
};

// What all frames of a run have in common.
struct codec_format {
    uint32_t rate;       // samples in a second
    uint32_t samples;    // of a frame
    uint32_t effort;     // 0 to 10: Opus' complexity
    uint32_t bits_rate;  // Opus' bits in a second
};

struct codec {
    const char *name;    // as SDP has it
    const char *format;  // its RTP payload type; of a dynamic one, what we offer
    uint32_t clock;      // ticks of its time stamps in a second
    uint8_t channels;    // that SDP tells
    uint32_t only_rate;  // samples in a second that it takes; 0: each

    /// How much memory an encoder and a decoder need.
    size_t (*encoder_bytes)(void);
    size_t (*decoder_bytes)(void);

    /// Begins a call.
    ///
    /// Context: any task. Never blocks.
    /// Returns: false for a format that it does not have.
    bool (*encoder_start)(void *state, const struct codec_format *format);
    bool (*decoder_start)(void *state, const struct codec_format *format);

    /// Makes a payload of a frame.
    ///
    /// Context: any task. Never blocks.
    /// Returns: its bytes, at most CODEC_PAYLOAD_BYTES; 0 where there is nothing to send.
    size_t (*encode)(void *state, const struct codec_format *format, const int16_t *frame,
                     uint8_t *payload);

    /// Makes a frame of a payload; of none (NULL, 0) one that conceals a loss. A payload that is
    /// damaged, or has another length, is concealed, too.
    ///
    /// Context: any task. Never blocks.
    /// Returns: false where it was concealed.
    bool (*decode)(void *state, const struct codec_format *format, const uint8_t *payload,
                   size_t bytes, int16_t *frame);
};

// NULL: the program does not have it. Opus and G.722 are in none of a board, and G.722 only where
// SpanDSP was when it was built.
extern const struct codec *const codecs[CODECS];
extern const struct codec codec_pcma, codec_pcmu;
extern const struct codec codec_opus __attribute__((weak)), codec_g722 __attribute__((weak));

/// The codec of a name, whatever the case of its letters.
///
/// Context: any. Never blocks.
/// Returns: its place in `codecs`, or -1.
int codec_find(const char *name, size_t length);

#endif
