// SPDX-License-Identifier: Apache-2.0
// The mixer: a packet of each party to a packet for each, of what all others say (n-1). The parties
// may have different codecs.
//
// What it keeps of a party is at the party's place. A mixer that starts again after the death of
// its core begins the codecs anew: a mix may have been half done.
#include <string.h>

#include "codec.h"
#include "common/tasks.h"
#include "voip.h"

struct place {
    uint32_t heard, told;  // the calls of the decoder and of the encoder
    int16_t said[CODEC_SAMPLES];
};

struct mixer {
    size_t bytes;  // of a codec's state
    struct place places[VOIP_PARTIES];
    _Alignas(16) uint8_t states[];  // of each place the decoder's, then the encoder's
};

static struct mixer *keep(struct wb_task *self)
{
    const struct voip *voip = voip_of(self);
    size_t most = 0;

    for (uint32_t i = 0; i < voip->offered; i++) {
        const struct codec *codec = voip_offered(self, i);
        const size_t encoder = codec->encoder_bytes(), decoder = codec->decoder_bytes();

        most = encoder > most ? encoder : most;
        most = decoder > most ? decoder : most;
    }
    most = (most + 15) / 16 * 16;
    struct mixer *mixer = task_keep(self, sizeof *mixer + 2 * VOIP_PARTIES * most);
    mixer->bytes = most;
    for (int i = 0; i < VOIP_PARTIES; i++)
        mixer->places[i].heard = mixer->places[i].told = 0;
    return mixer;
}

static void *decoder_at(struct mixer *mixer, int place)
{
    return mixer->states + 2 * (size_t)place * mixer->bytes;
}

static void *encoder_at(struct mixer *mixer, int place)
{
    return mixer->states + (2 * (size_t)place + 1) * mixer->bytes;
}

// What each party says, and all of them together.
static void hear(struct wb_task *self, struct mixer *mixer, const struct voip_mix *mix,
                 int32_t *sum)
{
    const struct codec_format *format = &voip_of(self)->format;

    for (int i = 0; i < VOIP_PARTIES; i++) {
        const struct voip_packet *part = &mix->parts[i];
        const struct codec *codec = voip_codec(part->head.call);
        struct place *place = &mixer->places[i];

        if (mix->calls[i] == 0)
            continue;
        if (part->head.call != place->heard && !codec->decoder_start(decoder_at(mixer, i), format))
            wb_task_fail(self, "its codec does not take the format");
        place->heard = part->head.call;
        (void)codec->decode(decoder_at(mixer, i), format, part->bytes > 0 ? part->payload : NULL,
                            part->bytes, place->said);
        for (uint32_t j = 0; j < format->samples; j++)
            sum[j] += place->said[j];
    }
}

// To each party all but what it said itself.
static void answer(struct wb_task *self, struct mixer *mixer, const int32_t *sum,
                   struct voip_mix *mix)
{
    const struct codec_format *format = &voip_of(self)->format;
    int16_t heard[CODEC_SAMPLES];

    for (int i = 0; i < VOIP_PARTIES; i++) {
        const struct codec *codec = voip_codec(mix->calls[i]);
        struct place *place = &mixer->places[i];
        struct voip_packet *part = &mix->parts[i];

        if (mix->calls[i] == 0)
            continue;
        if (mix->calls[i] != place->told && !codec->encoder_start(encoder_at(mixer, i), format))
            wb_task_fail(self, "its codec does not take the format");
        place->told = mix->calls[i];
        for (uint32_t j = 0; j < format->samples; j++) {
            const int32_t others = sum[j] - place->said[j];

            heard[j] = (int16_t)(others > INT16_MAX   ? INT16_MAX
                                 : others < INT16_MIN ? INT16_MIN
                                                      : others);
        }
        part->bytes = (uint32_t)codec->encode(encoder_at(mixer, i), format, heard, part->payload);
    }
}

int mixer(struct wb_task *self)
{
    struct voip *voip = voip_of(self);
    struct mixer *mixer = keep(self);
    struct wb_service service;
    struct wb_request request;

    voip_serve(self, "mix", &service);
    while (wb_service_take(&service, &request, WB_FOREVER) == WB_OK) {
        int32_t sum[CODEC_SAMPLES] = { 0 };
        const struct voip_mix *from = request.data;
        struct voip_mix *to = request.answer;

        memcpy(to->calls, from->calls, sizeof to->calls);
        for (int i = 0; i < VOIP_PARTIES; i++) {
            to->parts[i].head = from->parts[i].head;
            to->parts[i].bytes = 0;
        }
        if (wb_compute(self)) {
            hear(self, mixer, from, sum);
            answer(self, mixer, sum, to);
        }
        voip->tally.mixed++;
        wb_service_answer(&service, (int32_t)sizeof *to);
        wb_checkpoint();
    }
    return 0;
}
