// SPDX-License-Identifier: Apache-2.0
// The encoder and the decoder: frames to packets, and back, by the codec of their call.
//
// A coder that starts again after the death of its core begins its codec anew: a frame may have
// been half done.
#include "codec.h"
#include "common/tasks.h"
#include "voip.h"

struct coder {
    uint32_t call;
    _Alignas(16) uint8_t state[];  // of the codec
};

static struct coder *keep(struct wb_task *self, bool is_encoder)
{
    size_t most = 0;

    for (uint32_t i = 0; i < voip_of(self)->offered; i++) {
        const struct codec *codec = voip_offered(self, i);
        const size_t bytes = is_encoder ? codec->encoder_bytes() : codec->decoder_bytes();

        most = bytes > most ? bytes : most;
    }
    struct coder *coder = task_keep(self, sizeof *coder + most);
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
    struct wb_service service;
    struct wb_request request;

    voip_serve(self, "encode", &service);
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        const struct voip_frame *frame = request.data;
        struct voip_packet *packet = request.answer;

        packet->head = frame->head;
        packet->bytes = voip->format.samples;
        if (wb_compute(self))
            encode(self, coder, frame, packet);
        voip->tally.encoder.encoded++;
        wb_service_answer(&service, (int32_t)(VOIP_PACKET_HEAD + packet->bytes));
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
    const struct voip *voip = voip_of(self);
    struct coder *coder = keep(self, false);
    struct wb_service service;
    struct wb_request request;

    voip_serve(self, "decode", &service);
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        const struct voip_packet *packet = request.data;
        struct voip_frame *frame = request.answer;

        frame->head = packet->head;
        if (wb_compute(self))
            decode(self, coder, packet, frame->samples);
        wb_service_answer(&service, (int32_t)voip_frame_bytes(voip));
        wb_checkpoint();
    }
    return 0;
}
