// SPDX-License-Identifier: Apache-2.0
// The encoder and the decoder: frames to packets, and back, by the codec of their call.
//
// A coder that starts again after the death of its core begins its codec anew: a frame may have
// been half done. Whoever takes what comes twice drops it by its number.
#include "codec.h"
#include "common/tasks.h"
#include "voip.h"

struct coder {
    uint32_t call;
    _Alignas(16) uint8_t state[];  // of the codec
};

static size_t largest(bool is_encoder)
{
    size_t most = 0;

    for (int i = 0; i < CODECS; i++) {
        const size_t bytes = is_encoder ? codecs[i]->encoder_bytes() : codecs[i]->decoder_bytes();

        most = bytes > most ? bytes : most;
    }
    return most;
}

static struct coder *keep(struct wb_task *self, bool is_encoder)
{
    struct coder *coder = task_keep(self, sizeof *coder + largest(is_encoder));

    coder->call = 0;
    return coder;
}

static void encode(struct wb_task *self, struct coder *coder, const struct voip_frame *frame,
                   struct voip_packet *packet)
{
    const struct codec_format *format = &voip_of(self)->format;
    const struct codec *codec = voip_codec(frame->head.call);

    if (frame->head.call != coder->call && !codec->encoder_start(coder->state, format))
        wb_task_fail(self, "its codec does not take the format");
    coder->call = frame->head.call;
    packet->bytes = (uint32_t)codec->encode(coder->state, format, frame->samples, packet->payload);
}

int encoder(struct wb_task *self)
{
    struct voip *voip = voip_of(self);
    struct coder *coder = keep(self, true);
    const size_t bytes = sizeof(struct voip_frame) + voip->format.samples * sizeof(int16_t);
    struct wb_port *in = task_port(self, "in", 0, bytes);
    struct wb_port *out = task_port(self, "out", 0, sizeof(struct voip_packet));
    const void *slot;
    void *made;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK &&
           wb_port_claim(out, &made, WB_FOREVER) == WB_OK) {
        const struct voip_frame *frame = slot;
        struct voip_packet *packet = made;

        packet->head = frame->head;
        packet->bytes = voip->format.samples;
        if (wb_compute(self))
            encode(self, coder, frame, packet);
        voip->tally.encoder.encoded++;
        wb_port_commit(out);
        wb_port_release(in);
        wb_checkpoint();
    }
    return 0;
}

static void decode(struct wb_task *self, struct coder *coder, const struct voip_packet *packet,
                   int16_t *samples)
{
    struct voip *voip = voip_of(self);
    const struct codec *codec = voip_codec(packet->head.call);
    const uint8_t *payload = packet->bytes > 0 ? packet->payload : NULL;

    if (packet->head.call != coder->call && !codec->decoder_start(coder->state, &voip->format))
        wb_task_fail(self, "its codec does not take the format");
    coder->call = packet->head.call;
    if (codec->decode(coder->state, &voip->format, payload, packet->bytes, samples))
        voip->tally.decoder.decoded++;
    else
        voip->tally.decoder.concealed++;
}

int decoder(struct wb_task *self)
{
    struct voip *voip = voip_of(self);
    struct coder *coder = keep(self, false);
    const size_t bytes = sizeof(struct voip_frame) + voip->format.samples * sizeof(int16_t);
    struct wb_port *in = task_port(self, "in", 0, sizeof(struct voip_packet));
    struct wb_port *out = task_port(self, "out", 0, bytes);
    const void *slot;
    void *made;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK &&
           wb_port_claim(out, &made, WB_FOREVER) == WB_OK) {
        const struct voip_packet *packet = slot;
        struct voip_frame *frame = made;

        frame->head = packet->head;
        if (wb_compute(self))
            decode(self, coder, packet, frame->samples);
        wb_port_commit(out);
        wb_port_release(in);
        wb_checkpoint();
    }
    return 0;
}
