// SPDX-License-Identifier: Apache-2.0
// The VoIP phone (lee2009, section V): what its tasks share.
//
//             captured                      clean ──── canceller
//      ┌────────────────────> agent calls  encode ──── encoder
//    sound                     ↑  │        decode ──── decoder
//      └───────────────────────┼──┘ frames
//                              ↓
//                           network
//
// The sound has the microphone and the loudspeaker: recordings. The agent speaks SIP and RTP, and
// calls the other three, the work for a signal processor. What these keep is in their heaps, so
// they may move in the midst of a call, and start again there should their core die.
//
// Each frame says of which call it is and its number there, so nothing of a call comes into the
// next.
#ifndef VOIP_H
#define VOIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec.h"
#include "common/file.h"
#include "common/wav.h"
#include "server.h"
#include "wb/wb.h"

enum { VOIP_NAME_BYTES = 128, VOIP_PARTIES = 8, INPUT_RATE_LEAST = 4000, INPUT_RATE_MOST = 96000 };
enum voip_srtp { VOIP_SRTP_NONE, VOIP_SRTP_OFFERED, VOIP_SRTP_REQUIRED };

// At the head of each message.
struct voip_head {
    uint32_t call;    // its number << 8 | its codec; 0: a message that was there at the start
    uint32_t number;  // of the frame in it
};

struct voip_frame {
    struct voip_head head;
    int16_t samples[];  // of `captured`: the microphone's, then what was played meanwhile
};

struct voip_packet {
    struct voip_head head;
    uint32_t bytes;  // 0: it was lost
    uint8_t payload[CODEC_PAYLOAD_BYTES];
};

// Of a conference, in each period: a packet of each party, and for each. What it sends may have
// another codec than what it is sent.
struct voip_mix {
    uint32_t calls[VOIP_PARTIES];  // as in a head, of what is sent to it; 0: there is no party
    struct voip_packet parts[VOIP_PARTIES];
};

enum { VOIP_PACKET_HEAD = offsetof(struct voip_packet, payload) };

// What a run did. Each part has one task that writes it.
struct voip_tally {
    struct voip_agent_tally {
        uint32_t calls, failed;  // calls: those that were taken up
        uint32_t sent, received, lost, late, damaged;
        uint32_t unwanted;    // packets of others
        uint32_t dropped;     // frames and packets that no service took or gave back
        uint32_t longest_us;  // between two packets that were sent in one call
        uint32_t answers;     // of services
        uint64_t answers_us;  // that these took in all, until the agent had them
        uint32_t slowest_us;  // that one of them took
        uint32_t decoded;     // answers of the decoder
        uint64_t decoded_us;  // as answers_us, of these
    } agent;
    struct voip_sound_tally {
        uint32_t played, silent;  // silent: periods of calls without a frame
        uint32_t gap;             // the most of them in a row, after the first frame of a call
        uint32_t skipped;         // frames that came too late to be played
        uint32_t missed;          // frames of the microphone for which there was no room
    } sound;
    struct voip_decoder_tally {
        uint32_t decoded, concealed;
    } decoder;
    struct voip_encoder_tally {
        uint32_t encoded;
    } encoder;
    uint32_t mixed;  // frames of a conference
};

// The application's state: set up by the launcher, and read only from then on but for `call`,
// `quiet` and `tally`.
struct voip {
    struct codec_format format;
    uint32_t ptime_ms, poll_us, answers_us, jitter_frames;
    uint32_t wanted_calls, hang_up_ms, ring_ms, silence_ms;
    uint32_t echo_samples, echo_permille, tail_samples;
    bool cancels, suppresses;
    bool blocks;  // the agent waits for each answer
    const char *peer, *listen, *user, *card;
    struct voip_server server;
    enum voip_srtp srtp;
    uint8_t order[CODECS];  // the codecs that are offered
    uint32_t offered;
    struct wav wav;
    struct file input, output;
    struct file capture;   // the agent writes it, and its `bytes`: those of whole packets
    struct wb_word call;   // the call that is under way, as in a head; 0: none. The agent writes it
    struct wb_word quiet;  // 1: what is not heard is no gap, by agreement. The agent writes it
    struct voip_tally tally;
};

/// Begins to serve under a name; ends the run where that cannot be.
///
/// Context: the task.
void voip_serve(struct wb_task *self, const char *name, struct wb_service *service);

/// The codec that is offered in place `i`. Ends the run where it is not in the program of this
/// core: a call may come to it.
///
/// Context: the task.
const struct codec *voip_offered(struct wb_task *self, uint32_t i);

/// The application's state.
///
/// Context: any. Never blocks.
struct voip *voip_of(const struct wb_task *self);

/// The recording that is spoken, to be read by wav_read().
///
/// Context: any. Never blocks.
struct wav_file voip_input(const struct voip *voip);

/// The bytes of a frame with its head.
///
/// Context: any. Never blocks.
static inline uint32_t voip_frame_bytes(const struct voip *voip)
{
    return (uint32_t)(sizeof(struct voip_frame) + voip->format.samples * sizeof(int16_t));
}

/// The same of a frame of the microphone with what was played meanwhile.
///
/// Context: any. Never blocks.
static inline uint32_t voip_captured_bytes(const struct voip *voip)
{
    return (uint32_t)(sizeof(struct voip_frame) + 2 * voip->format.samples * sizeof(int16_t));
}

static inline const struct codec *voip_codec(uint32_t call)
{
    return codecs[(call & 0xff) % CODECS];
}

#endif
