// SPDX-License-Identifier: Apache-2.0
// Packets of sound: each is as long as the two bytes before it say, and after each a period is
// played, by the codec that the first byte of all names.
#include "phone.h"
#include "target.h"

static struct media *media;
static void *decoders[CODECS];

static void begin(void)
{
    struct mbuf *description = mbuf_alloc(512);
    struct voip *voip = phone_state();
    struct sa local;

    MUST(sa_set_str(&local, "127.0.0.1", 0) == 0);
    MUST(media_open(&media, voip, &local) == 0);
    MUST(mbuf_write_str(description, phone_description) == 0);
    mbuf_set_pos(description, 0);
    MUST(media_take(media, description, true) == 0);
    mem_deref(description);
    for (uint32_t i = 0; i < voip->offered; i++)
        MUST((decoders[i] = malloc(codecs[i]->decoder_bytes())) != NULL);
}

static void play(const struct codec_format *format, int codec)
{
    static int16_t frame[CODEC_SAMPLES];
    static struct voip_packet packet;

    if (!media_next(media, &packet))
        return;
    MUST(packet.bytes <= CODEC_PAYLOAD_BYTES);
    // In memory of its size, so that what is read behind it is seen.
    uint8_t *payload = packet.bytes > 0 ? malloc(packet.bytes) : NULL;
    if (payload != NULL)
        memcpy(payload, packet.payload, packet.bytes);
    (void)codecs[codec]->decode(decoders[codec], format, payload, packet.bytes, frame);
    free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct codec_format *format = &phone_state()->format;
    struct rtp_header header;

    if (media == NULL)
        begin();
    if (bytes == 0)
        return 0;
    const int codec = *data % (int)phone_state()->offered;
    media_start(media, 1);
    MUST(codecs[codec]->decoder_start(decoders[codec], format));
    data++;
    bytes--;
    while (bytes >= 2) {
        const size_t wanted = data[0] | (size_t)data[1] << 8, left = bytes - 2;
        const size_t n = wanted < left ? wanted : left;
        struct mbuf *packet = mbuf_alloc(n > 0 ? n : 1);
        const struct sa *there = sdp_media_raddr(media->audio);

        MUST(packet != NULL && mbuf_write_mem(packet, data + 2, n) == 0);
        mbuf_set_pos(packet, 0);
        if (rtp_hdr_decode(&header, packet) == 0)
            media_receive(there, &header, packet, media);
        mem_deref(packet);
        play(format, codec);
        data += 2 + n;
        bytes -= 2 + n;
    }
    return 0;
}
