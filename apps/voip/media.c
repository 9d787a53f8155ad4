// SPDX-License-Identifier: Apache-2.0
#include "media.h"

#include <errno.h>
#include <string.h>

#include "line.h"

enum { PORT_FIRST = 16384, PORT_LAST = 32767, HEAD = RTP_HEADER_SIZE };

static void give_back(void *arg)
{
    struct media *media = arg;

    mem_deref(media->session);
    mem_deref(media->rtp);
    mem_deref(media->sdes);
}

static int offer(const struct voip *voip, struct sdp_media *audio)
{
    int error = 0;

    for (uint32_t i = 0; i < voip->offered && error == 0; i++) {
        const struct codec *codec = codecs[voip->order[i]];

        error = sdp_format_add(NULL, audio, false, codec->format, codec->name, codec->clock,
                               codec->channels, NULL, NULL, NULL, false, NULL);
    }
    return error ? error : sdp_media_set_lattr(audio, true, "ptime", "%u", voip->ptime_ms);
}

// What we can, at our address of RTP.
static int describe(const struct media *media, struct sdp_session **session,
                    struct sdp_media **audio)
{
    const struct sa *local = rtp_local(media->rtp);
    int error = sdp_session_alloc(session, &media->local);

    if (error == 0)
        error = sdp_media_add(audio, *session, sdp_media_audio, sa_port(local),
                              sdes_profile(media->sdes));
    if (error == 0)
        error = offer(media->voip, *audio);
    if (error == 0)
        error = sdes_describe(media->sdes, *audio);
    if (error)
        *session = mem_deref(*session);
    return error;
}

int media_open(struct media **opened, struct voip *voip, const struct sa *local)
{
    struct media *media = mem_zalloc(sizeof *media, give_back);

    if (!media)
        return ENOMEM;
    media->voip = voip;
    media->local = *local;
    int error = rtp_listen(&media->rtp, IPPROTO_UDP, local, PORT_FIRST, PORT_LAST, true,
                           media_receive, NULL, media);
    if (error == 0)
        error = sdes_open(&media->sdes, voip, media->rtp);
    if (error == 0)
        error = describe(media, &media->session, &media->audio);
    if (error)
        mem_deref(media);
    else
        *opened = media;
    return error;
}

// What both can, of a description that was taken in; NULL: nothing.
static const struct sdp_format *common(const struct sdp_media *audio, int *codec)
{
    const struct sdp_format *format = sdp_media_rformat(audio, NULL);

    *codec = format && format->name ? codec_find(format->name, strlen(format->name)) : -1;
    return *codec >= 0 && sa_port(sdp_media_raddr(audio)) > 0 ? format : NULL;
}

// Libre takes an answer in only after it has written the offer.
static int take_in(struct sdp_session *session, struct mbuf *description, bool is_offer)
{
    struct mbuf *ours = NULL;
    int error = is_offer ? 0 : sdp_encode(&ours, session, true);

    mem_deref(ours);
    if (error == 0)
        error = sdp_decode(session, description, is_offer);
    return error && error != ENOMEM ? EBADMSG : error;
}

// Whether a description would do: taking it in changes what was agreed on before.
static int try(const struct media *media, struct mbuf *description, bool is_offer)
{
    const uint32_t agreed = media->call >> 8 ? media->call & 0xff : CODECS;
    struct sdp_session *session = NULL;
    struct sdp_media *audio;
    int codec, error = describe(media, &session, &audio);

    if (error)
        return error;
    error = take_in(session, description, is_offer);
    if (error == 0 && (!common(audio, &codec) || (agreed < CODECS && (uint32_t)codec != agreed)))
        error = ENOTSUP;
    if (error == 0)
        error = sdes_check(media->sdes, audio, is_offer);
    mem_deref(session);
    return error;
}

int media_take(struct media *media, struct mbuf *description, bool is_offer)
{
    const size_t start = description->pos;
    int codec, error = try(media, description, is_offer);

    if (error)
        return error;
    description->pos = start;
    error = sdp_decode(media->session, description, is_offer);
    const struct sdp_format *format = common(media->audio, &codec);
    if (error || !format)
        return error ? error : ENOTSUP;
    error = sdes_take(media->sdes, media->audio, is_offer);
    if (error)
        return error;
    media->call = line_call(media->call >> 8, codec);
    media->sent_type = (uint8_t)format->pt;
    media->is_exact = false;
    return 0;
}

void media_start(struct media *media, uint32_t number)
{
    const struct voip *voip = media->voip;
    struct sa reports;

    media->call = line_call(number, (int)(media->call & 0xff));
    media->first_stamp = rand_u32();
    media->heard_ns = wb_now_ns();
    playout_start(&media->playout, voip->jitter_frames);
    sdp_media_raddr_rtcp(media->audio, &reports);
    rtcp_set_srate(media->rtp, voip_codec(media->call)->clock, voip_codec(media->call)->clock);
    rtcp_start(media->rtp, voip->user, &reports);
}

// ---- Packets ------------------------------------------------------------------------------------

void media_send(struct media *media, const struct voip_packet *packet)
{
    const uint32_t ticks = voip_codec(media->call)->clock / 1000 * media->voip->ptime_ms;
    struct mbuf *buffer = mbuf_alloc(HEAD + packet->bytes);

    if (!buffer)
        return;
    buffer->pos = buffer->end = HEAD;
    if (mbuf_write_mem(buffer, packet->payload, packet->bytes) == 0) {
        buffer->pos = HEAD;
        // A packet that cannot be sent is one that was lost.
        (void)rtp_send(media->rtp, sdp_media_raddr(media->audio), false, !media->is_talking,
                       media->sent_type, media->first_stamp + packet->head.number * ticks, buffer);
        media->is_talking = true;
    }
    mem_deref(buffer);
}

// The bytes of a payload without its padding, whose last byte counts them; -1: it is damaged.
static int payload_bytes(const struct rtp_header *header, const struct mbuf *payload)
{
    const size_t bytes = mbuf_get_left(payload);
    const size_t padding = header->pad && bytes > 0 ? mbuf_buf(payload)[bytes - 1] : 0;

    if (bytes <= padding || (header->pad && padding == 0) || bytes - padding > CODEC_PAYLOAD_BYTES)
        return -1;
    return (int)(bytes - padding);
}

// From the other phone's address; from another port of it only as long as none came from the one
// that it named.
static bool is_from_there(struct media *media, const struct sa *from)
{
    const struct sa *there = sdp_media_raddr(media->audio);

    media->is_exact |= sa_cmp(from, there, SA_ALL);
    return sa_cmp(from, there, media->is_exact ? SA_ALL : SA_ADDR);
}

static bool is_by_the_codec(const struct media *media, const struct rtp_header *header)
{
    const struct sdp_format *format = sdp_media_lformat(media->audio, header->pt);

    return format && format->name &&
           codec_find(format->name, strlen(format->name)) == (int)(media->call & 0xff);
}

void media_receive(const struct sa *from, const struct rtp_header *header, struct mbuf *payload,
                   void *arg)
{
    struct media *media = arg;
    struct voip_agent_tally *tally = &media->voip->tally.agent;
    const int bytes = payload_bytes(header, payload);

    if (media->call >> 8 == 0)
        return;
    if (!is_from_there(media, from) || !is_by_the_codec(media, header)) {
        tally->unwanted++;
    } else if (bytes < 0) {
        tally->damaged++;
    } else {
        tally->received++;
        media->heard_ns = wb_now_ns();
        if (media->source != header->ssrc)
            media->playout.is_running = false;
        media->source = header->ssrc;
        playout_put(&media->playout, header->seq, header->m, mbuf_buf(payload), (size_t)bytes);
    }
}

bool media_next(struct media *media, struct voip_packet *packet)
{
    struct voip_agent_tally *tally = &media->voip->tally.agent;
    const struct playout_packet *due = NULL;
    const enum playout_next next = playout_take(&media->playout, &due);

    packet->head.call = media->call;
    packet->bytes = next == PLAYOUT_PACKET ? due->bytes : 0;
    if (next == PLAYOUT_PACKET)
        memcpy(packet->payload, due->payload, due->bytes);
    tally->lost += next == PLAYOUT_LOST;
    tally->late += media->playout.late;
    media->playout.late = 0;
    return next != PLAYOUT_NOTHING;
}
