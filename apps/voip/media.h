// SPDX-License-Identifier: Apache-2.0
// The sound of one call on the network: what the two phones agree on by SDP, and RTP.
#ifndef VOIP_MEDIA_H
#define VOIP_MEDIA_H

#include "pcap.h"
#include "playout.h"
#include "rtc.h"
#include "sdes.h"
#include "voip.h"

struct media {
    struct voip *voip;
    struct sa local;
    struct sdp_session *session;
    struct sdp_media *audio;
    struct rtp_sock *rtp;
    struct sdes *sdes;       // NULL: nothing is encrypted
    struct mbuf *theirs;     // the other phone's last description
    struct mbuf *ours;       // our last one, but for its first lines, which have its version
    uint32_t id, version;    // of ours
    uint32_t passed_over;    // lines of sound in the other's that will not do
    enum sdp_dir direction;  // that was agreed on: what we do
    uint32_t call;           // its head, with the codec of what we send; 0: there is no codec yet
    uint8_t sent_type;       // RTP payload type of what we send
    uint32_t first_stamp;    // of what we send
    bool has_offer;          // the other phone has said what it can
    bool is_talking;         // something was sent
    bool is_quiet;           // no sound is due: of a held call, or in a telephone event
    bool is_exact;           // packets come from where the other phone said
    uint32_t source;         // SSRC of what we receive
    uint32_t event_stamp;    // RTP time stamp of the telephone event that came last
    int heard_codec;         // of what came last
    uint64_t heard_ns;       // when a packet came last, or the call began
    struct playout playout;
    struct pcap_tap packets, reports;
};

/// Opens sockets at an address, and offers the codecs of the run.
///
/// Context: the agent. Never blocks.
/// Returns: 0, or an errno; `*media` is given back by mem_deref().
int media_open(struct media **media, struct voip *voip, const struct sa *local);

/// Takes the other's description in: its codec, address and directions hold from now on. What was
/// agreed on before stays where it will not do.
///
/// Context: the agent. Never blocks.
/// Returns: 0; ENOMEM; EBADMSG for what is no description; ENOTSUP where there is no common codec;
///          EAFNOSUPPORT for an address of another kind than ours; EDESTADDRREQ for none by
///          numbers.
int media_take(struct media *media, struct mbuf *description, bool is_offer);

/// Whether a description would be taken.
///
/// Context: the agent. Never blocks.
/// Returns: as media_take().
int media_try(const struct media *media, struct mbuf *description, bool is_offer);

/// Our description: an offer of all that we can, or the answer to what was taken in. Its version
/// increases when it differs from the last one.
///
/// Context: the agent. Never blocks.
/// Returns: 0, or an errno; `*description` is given back by mem_deref().
int media_describe(struct media *media, struct mbuf **description, bool is_offer);

/// Begins to send and to receive, as call `number`.
///
/// Context: the agent. Never blocks.
void media_start(struct media *media, uint32_t number);

/// Sends a frame.
///
/// Context: the agent. Never blocks.
/// Returns: false when nothing is to be sent.
bool media_send(struct media *media, const struct voip_packet *packet);

/// What is to be played in this period, as line_kind.take.
///
/// Context: the agent, once per period. Never blocks.
bool media_next(struct media *media, struct voip_packet *packet);

/// Takes in what a packet carries.
///
/// Context: the agent. Never blocks.
void media_receive(const struct sa *from, const struct rtp_header *header, struct mbuf *payload,
                   void *media);

#endif
