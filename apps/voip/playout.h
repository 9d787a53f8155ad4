// SPDX-License-Identifier: Apache-2.0
// Packets in the order of their numbers, each at its time: they wait for so many periods, so that
// one that was overtaken can come yet.
//
// One is taken in each period. So it is known which are lost, and the stream keeps its pace. It
// begins anew where the sender did: after a silence, or when packets come that belong nowhere.
//
// Packets without sound (telephone events, comfort noise) have numbers of the same stream: they
// take no time, and nothing is lost while no sound follows them. Numbers that have not come are
// lost only when later ones come, for a sender may pause.
#ifndef VOIP_PLAYOUT_H
#define VOIP_PLAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec.h"

enum { PLAYOUT_SLOTS = 64 };  // a power of two

struct playout_packet {
    bool is_there;
    uint16_t number;
    uint16_t bytes;  // 0: it carries no sound
    uint8_t codec;   // by its place in `codecs`
    uint8_t payload[CODEC_PAYLOAD_BYTES];
};

struct playout {
    uint32_t depth;    // periods that a packet waits
    uint32_t waiting;  // periods until the first one is due
    bool is_running;
    bool is_known;       // a packet has come, so `expected` is known
    uint16_t next;       // that is due
    uint16_t expected;   // after the last one that has come
    uint32_t missing;    // periods in a row without a packet
    uint32_t quiet;      // 1 more than the periods without sound since a packet without sound
    uint32_t strangers;  // packets in a row that belong nowhere
    uint32_t lost, late, twice;
    struct playout_packet packets[PLAYOUT_SLOTS];
};

enum playout_next { PLAYOUT_NOTHING, PLAYOUT_LOST, PLAYOUT_PACKET };

/// Begins a stream.
///
/// Context: the owner. Never blocks.
void playout_start(struct playout *playout, uint32_t depth);

/// Takes a packet in, if it is still of use.
///
/// `begins` is true of one that comes after a silence. One of no bytes carries no sound.
/// Context: the owner. Never blocks.
/// Memory:  the payload is copied.
void playout_put(struct playout *playout, uint16_t number, bool begins, int codec,
                 const void *payload, size_t bytes);

/// Forgets the stream: another may begin with any number, and nothing is lost between them.
///
/// Context: the owner. Never blocks.
void playout_leave(struct playout *playout);

/// What is due in this period.
///
/// Context: the owner, once per period. Never blocks.
/// Memory:  `*packet` is valid until the next call of any of these.
/// Returns: PLAYOUT_PACKET; PLAYOUT_LOST where one is due that has not come; PLAYOUT_NOTHING while
///          there is no stream, or no sound in it.
enum playout_next playout_take(struct playout *playout, const struct playout_packet **packet);

#endif
