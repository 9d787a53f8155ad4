// SPDX-License-Identifier: Apache-2.0
#include "media.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "body.h"
#include "line.h"

enum {
    PORT_FIRST = 16384,
    PORT_LAST = 32767,
    HEAD = RTP_HEADER_SIZE,
    EVENT_TYPE = 101,  // that we offer
    EVENT_BYTES = 4,   // of each event in a packet (RFC 4733, 2.3)
    COMFORT_NOISE_TYPE = 13,
    DYNAMIC_TYPE = 96,  // the first one
    LINES_MAX = 4,      // of sound in an offer that are looked at
};

static const char event_name[] = "telephone-event";

static void give_back(void *arg)
{
    struct media *media = arg;

    mem_deref(media->session);
    mem_deref(media->rtp);
    mem_deref(media->sdes);
    mem_deref(media->theirs);
    mem_deref(media->ours);
}

// Events have the clock of the sound that they interrupt (RFC 4733, 2.1).
static int offer_events(struct sdp_media *audio, int type, uint32_t clock)
{
    char id[8];

    re_snprintf(id, sizeof id, "%d", type);
    return sdp_format_add(NULL, audio, false, id, event_name, clock, 1, NULL, NULL, NULL, false,
                          "0-15");
}

static int offer(const struct voip *voip, struct sdp_media *audio)
{
    uint32_t clock = 0;
    int error = 0, type = EVENT_TYPE;

    for (uint32_t i = 0; i < voip->offered && error == 0; i++) {
        const struct codec *codec = codecs[voip->order[i]];

        error = sdp_format_add(NULL, audio, false, codec->format, codec->name, codec->clock,
                               codec->channels, NULL, NULL, NULL, false, NULL);
    }
    for (uint32_t i = 0; i < voip->offered && error == 0; i++)
        if (codecs[voip->order[i]]->clock != clock && type < EVENT_TYPE + 2) {
            clock = codecs[voip->order[i]]->clock;
            error = offer_events(audio, type++, clock);
        }
    return error ? error : sdp_media_set_lattr(audio, true, "ptime", "%u", voip->ptime_ms);
}

// What we can, at our address of RTP. Lines of sound before the one that will do have none.
static int describe(const struct media *media, struct sdp_session **session,
                    struct sdp_media **audio)
{
    const struct sa *local = rtp_local(media->rtp);
    int error = sdp_session_alloc(session, &media->local);

    for (uint32_t i = 0; i < media->passed_over && error == 0; i++) {
        error = sdp_media_add(audio, *session, sdp_media_audio, 0, sdp_proto_rtpavp);
        if (error == 0)
            error = sdes_widen(media->sdes, *audio);
    }
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
    media->id = rand_u32();
    int error = rtp_listen(&media->rtp, IPPROTO_UDP, local, PORT_FIRST, PORT_LAST, true,
                           media_receive, NULL, media);
    if (error == 0)
        error = pcap_listen(&media->packets, voip, rtp_sock(media->rtp));
    if (error == 0)
        error = pcap_listen(&media->reports, voip, rtcp_sock(media->rtp));
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

// Static payload types need no name (RFC 3551, 6).
static int codec_of(const struct sdp_format *format)
{
    if (format->name)
        return codec_find(format->name, strlen(format->name));
    for (int i = 0; i < CODECS; i++)
        if (codecs[i] && format->pt < DYNAMIC_TYPE && strcmp(codecs[i]->format, format->id) == 0)
            return i;
    return -1;
}

// The first codec of a description that was taken in that both have; NULL: there is none. Of an
// offer that has one by several types, libre answers with one of these.
static const struct sdp_format *common(const struct sdp_media *audio, bool is_offer, int *codec)
{
    const struct le *le = list_head(sdp_media_format_lst(audio, false));

    for (; le && sdp_media_rport(audio) > 0; le = le->next) {
        const struct sdp_format *format = le->data;

        *codec = format->sup ? codec_of(format) : -1;
        if (*codec >= 0 && (!is_offer || sdp_media_lformat(audio, format->pt)))
            return format;
    }
    return NULL;
}

// Libre takes an answer in only after it has written the offer.
static int take_in(struct sdp_session *session, struct mbuf *description, bool is_offer)
{
    struct mbuf *ours = NULL;
    int error = is_offer ? 0 : sdp_encode(&ours, session, true);

    mem_deref(ours);
    if (error == 0)
        error = sdp_decode(session, description, is_offer);
    return error && error != ENOMEM && error != ENOTSUP ? EBADMSG : error;
}

static int tidy(const struct mbuf *description, struct mbuf **tidied)
{
    struct mbuf *made = mbuf_alloc(BODY_ROOM(mbuf_get_left(description)));

    if (!made)
        return ENOMEM;
    made->end = body_tidy((const char *)mbuf_buf(description), mbuf_get_left(description),
                          (char *)made->buf);
    *tidied = made;
    return 0;
}

// Whether a description would do: taking it in changes what was agreed on before. In a call the
// sound may be given up (port 0).
static int try(const struct media *media, struct mbuf *description, bool is_offer)
{
    struct sdp_session *session = NULL;
    struct sdp_media *audio;
    int codec, error = describe(media, &session, &audio);

    if (error == 0 && media->theirs) {
        media->theirs->pos = 0;
        error = take_in(session, media->theirs, true);
    }
    if (error == 0)
        error = take_in(session, description, is_offer);
    description->pos = 0;
    const bool is_held =
        body_is_held((const char *)mbuf_buf(description), mbuf_get_left(description));
    const bool is_given_up = media->call >> 8 && error == 0 && sdp_media_rport(audio) == 0 &&
                             list_head(sdp_media_format_lst(audio, false));
    if (error == 0 && !common(audio, is_offer, &codec) && !is_given_up)
        error = ENOTSUP;
    const struct sa *there = sdp_media_raddr(audio);
    if (error == 0 && !is_given_up && !is_held)
        error = sa_is_any(there)                       ? EDESTADDRREQ
                : sa_af(there) != sa_af(&media->local) ? EAFNOSUPPORT
                                                       : 0;
    if (error == 0 && !is_given_up)
        error = sdes_check(media->sdes, audio, is_offer);
    mem_deref(session);
    return error;
}

// As try(), for the first offer: an offer may have several lines of sound.
static int try_lines(struct media *media, struct mbuf *description)
{
    const int first = try(media, description, true);
    int error = first;

    while ((error == ENOTSUP || error == EPROTOTYPE) && media->passed_over + 1 < LINES_MAX) {
        media->passed_over++;
        error = try(media, description, true);
    }
    if (error)
        media->passed_over = 0;
    if (error || media->passed_over == 0)
        return error ? first : 0;
    media->session = mem_deref(media->session);
    return describe(media, &media->session, &media->audio);
}

int media_try(const struct media *media, struct mbuf *description, bool is_offer)
{
    struct mbuf *tidied = NULL;
    int error = tidy(description, &tidied);

    if (error == 0)
        error = try(media, tidied, is_offer);
    mem_deref(tidied);
    return error;
}

// Whom we hear, and who hears us, in the call that is under way. An address of zeros is how a call
// was held before there were directions (RFC 3264, 8.4).
static void follow(struct media *media)
{
    const struct sa *there = sdp_media_raddr(media->audio);
    const enum sdp_dir before = media->direction;
    const unsigned can = sdp_media_rport(media->audio) == 0 ? SDP_INACTIVE
                         : sa_is_any(there)                 ? SDP_RECVONLY
                                                            : SDP_SENDRECV;

    media->direction = (enum sdp_dir)(sdp_media_rdir(media->audio) & can);
    if (media->call >> 8 == 0)
        return;
    if (media->direction == before)
        return;
    playout_leave(&media->playout);
    media->heard_ns = wb_now_ns();
    if (!(media->direction & SDP_SENDONLY) && before & SDP_SENDONLY)
        line_say("the other phone holds the call", "");
    else if (media->direction & SDP_SENDONLY && !(before & SDP_SENDONLY))
        line_say("the call continues", "");
}

static void start_reports(struct media *media)
{
    const uint32_t clock = voip_codec(media->call)->clock;
    const struct sa *there = sdp_media_raddr(media->audio);
    struct sa reports;

    sdp_media_raddr_rtcp(media->audio, &reports);
    rtcp_set_srate(media->rtp, clock, clock);
    rtcp_start(media->rtp, media->voip->user,
               sa_is_any(there) || sa_port(there) == 0 ? NULL : &reports);
}

int media_take(struct media *media, struct mbuf *description, bool is_offer)
{
    struct mbuf *tidied = NULL;
    int codec, error = tidy(description, &tidied);

    if (error == 0)
        error =
            is_offer && !media->theirs ? try_lines(media, tidied) : try(media, tidied, is_offer);
    if (error == 0)
        error = sdp_decode(media->session, tidied, is_offer);
    if (error == 0)
        error = sdes_take(media->sdes, media->audio, is_offer);
    if (error) {
        mem_deref(tidied);
        return error;
    }
    mem_deref(media->theirs);
    media->theirs = tidied;
    const struct sdp_format *format = common(media->audio, is_offer, &codec);
    if (format) {
        media->call = line_call(media->call >> 8, codec);
        media->sent_type = (uint8_t)format->pt;
    }
    media->is_exact = false;
    follow(media);
    if (media->call >> 8)
        start_reports(media);
    return 0;
}

// What is in a description behind its version.
static struct pl without_version(const struct mbuf *description)
{
    static const char before[] = "\r\ns=";
    struct pl all = { (const char *)mbuf_buf(description), mbuf_get_left(description) };

    for (; all.l >= sizeof before - 1; all.p++, all.l--)
        if (memcmp(all.p, before, sizeof before - 1) == 0)
            break;
    return all;
}

int media_describe(struct media *media, struct mbuf **description, bool is_offer)
{
    struct mbuf *encoded = NULL, *made = NULL;

    // An offer has all that we can, not only what was agreed on (RFC 3261, 14.2).
    for (struct le *le = list_head(sdp_media_format_lst(media->audio, true)); le && is_offer;
         le = le->next)
        ((struct sdp_format *)le->data)->sup = true;
    sdp_media_set_ldir(media->audio, is_offer ? SDP_SENDRECV : media->direction);
    int error = sdp_encode(&encoded, media->session, is_offer);
    if (error)
        return error;
    const struct pl rest = without_version(encoded);
    struct pl last = { NULL, 0 };
    if (media->ours)
        last = without_version(media->ours);
    if (media->ours && pl_cmp(&rest, &last) != 0)
        media->version++;
    made = mbuf_alloc(mbuf_get_left(encoded) + 64);
    error = made ? mbuf_printf(made, "v=0\r\no=- %u %u IN IP%d %j%r", media->id, media->version,
                               sa_af(&media->local) == AF_INET ? 4 : 6, &media->local, &rest)
                 : ENOMEM;
    mem_deref(encoded);
    if (error) {
        mem_deref(made);
        return error;
    }
    made->pos = 0;
    mem_deref(media->ours);
    media->ours = mem_ref(made);
    *description = made;
    return 0;
}

void media_start(struct media *media, uint32_t number)
{
    media->call = line_call(number, (int)(media->call & 0xff));
    media->heard_codec = (int)(media->call & 0xff);
    media->first_stamp = rand_u32();
    media->heard_ns = wb_now_ns();
    playout_start(&media->playout, media->voip->jitter_frames);
    start_reports(media);
    if (!(media->direction & SDP_SENDONLY))
        line_say("the other phone holds the call", "");
}

// ---- Packets ------------------------------------------------------------------------------------

bool media_send(struct media *media, const struct voip_packet *packet)
{
    const uint32_t ticks = voip_codec(media->call)->clock / 1000 * media->voip->ptime_ms;
    struct mbuf *buffer;

    if (!(media->direction & SDP_SENDONLY)) {
        media->is_talking = false;
        return false;
    }
    buffer = mbuf_alloc(HEAD + packet->bytes);
    if (!buffer)
        return false;
    buffer->pos = buffer->end = HEAD;
    if (mbuf_write_mem(buffer, packet->payload, packet->bytes) == 0) {
        buffer->pos = HEAD;
        // A packet that cannot be sent is one that was lost.
        (void)rtp_send(media->rtp, sdp_media_raddr(media->audio), false, !media->is_talking,
                       media->sent_type, media->first_stamp + packet->head.number * ticks, buffer);
        media->is_talking = true;
    }
    mem_deref(buffer);
    return true;
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

// The codec of a payload type: any that both have may come (RFC 3264, 6.1).
static int codec_of_type(const struct media *media, const struct rtp_header *header)
{
    const struct sdp_format *format = sdp_media_lformat(media->audio, header->pt);

    return format ? codec_of(format) : -1;
}

// A packet of a stream that carries no sound: comfort noise, or a telephone event, of which some
// phones send those that nobody has agreed on.
static bool is_soundless(const struct media *media, const struct rtp_header *header, int bytes)
{
    const struct sdp_format *format = sdp_media_lformat(media->audio, header->pt);

    if (header->pt == COMFORT_NOISE_TYPE)
        return true;
    if (format && format->name)
        return strcasecmp(format->name, event_name) == 0;
    return header->pt >= DYNAMIC_TYPE && bytes > 0 && bytes % EVENT_BYTES == 0 &&
           bytes <= 4 * EVENT_BYTES;
}

// An event has the time stamp of its beginning in all of its packets.
static void tell_event(struct media *media, const struct rtp_header *header, const uint8_t *event)
{
    static const char keys[] = "0123456789*#ABCD";
    const char key[2] = { event[0] < sizeof keys - 1 ? keys[event[0]] : '\0', '\0' };

    if (header->ts == media->event_stamp || key[0] == '\0')
        return;
    media->event_stamp = header->ts;
    line_say("the other phone presses", key);
}

static void take_packet(struct media *media, const struct rtp_header *header,
                        const uint8_t *payload, int bytes)
{
    struct voip_agent_tally *tally = &media->voip->tally.agent;
    const int codec = codec_of_type(media, header);
    const bool soundless = codec < 0 && is_soundless(media, header, bytes);

    if (codec < 0 && !soundless) {
        tally->unwanted++;
        return;
    }
    tally->received++;
    media->heard_ns = wb_now_ns();
    if (media->source != header->ssrc)
        playout_leave(&media->playout);
    media->source = header->ssrc;
    if (soundless && header->pt >= DYNAMIC_TYPE && bytes >= EVENT_BYTES)
        tell_event(media, header, payload);
    playout_put(&media->playout, header->seq, header->m && !soundless, codec, payload,
                soundless ? 0 : (size_t)bytes);
}

void media_receive(const struct sa *from, const struct rtp_header *header, struct mbuf *payload,
                   void *arg)
{
    struct media *media = arg;
    struct voip_agent_tally *tally = &media->voip->tally.agent;
    const int bytes = payload_bytes(header, payload);

    // What still comes in a call that is held is nobody's mistake.
    if (media->call >> 8 == 0 || (!(media->direction & SDP_RECVONLY) && is_from_there(media, from)))
        return;
    if (!is_from_there(media, from))
        tally->unwanted++;
    else if (bytes < 0)
        tally->damaged++;
    else
        take_packet(media, header, mbuf_buf(payload), bytes);
}

bool media_next(struct media *media, struct voip_packet *packet)
{
    struct voip_agent_tally *tally = &media->voip->tally.agent;
    const struct playout_packet *due = NULL;
    const enum playout_next next = playout_take(&media->playout, &due);

    if (next == PLAYOUT_PACKET)
        media->heard_codec = due->codec;
    packet->head.call = line_call(media->call >> 8, media->heard_codec);
    packet->bytes = next == PLAYOUT_PACKET ? due->bytes : 0;
    if (next == PLAYOUT_PACKET)
        memcpy(packet->payload, due->payload, due->bytes);
    if (next == PLAYOUT_PACKET)
        media->is_quiet = false;
    else if (media->direction != SDP_SENDRECV || media->playout.quiet > 1)
        media->is_quiet = true;
    // Relaxed: it comes with nothing else.
    wb_word_store(&media->voip->quiet, media->is_quiet, WB_RELAXED);
    tally->lost += media->playout.lost;
    tally->late += media->playout.late;
    media->playout.lost = media->playout.late = 0;
    return next != PLAYOUT_NOTHING;
}
