// SPDX-License-Identifier: Apache-2.0
// The packet processor (nacul2007, section 4 and figure 2b): what its tasks share.
//
//                 ┌─> decoder.0 ──> crc.0 ─┐                          ┌─> forward
//   packetizer ───┤                        ├─> enqueue ──> classifier ├─> store
//                 └─> decoder.1 ──> crc.1 ─┘                          └─> discard
//
// Every packet has its number, in all plays of the capture, and goes through in the order of the
// numbers: a task that starts again after the death of its kernel sends some once more, and whoever
// has had them knows.
#ifndef PACKETS_H
#define PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture.h"
#include "coding.h"
#include "common/file.h"
#include "medium.h"
#include "rules.h"
#include "wb/wb.h"

enum { FCS_BYTES = 4, FRAME_BYTES_MIN = 14, FRAME_BYTES_MAX = 9018, PACKET_LANES_MAX = 8 };

enum cause { BY_RULE, DAMAGED, NO_ROOM, CAUSES };

struct packet {
    uint32_t number;
    uint32_t seconds, fraction;  // when it was captured
    uint32_t bytes;              // of data
    uint32_t original;           // bytes of the frame, of which so many may have been captured
    uint16_t link;               // enum link
    uint16_t corrected;          // bits
    uint8_t damaged;             // 1: its FCS is wrong
    uint8_t data[];
};

// What became of packets; its output task writes it.
struct tally {
    uint64_t packets, bytes, corrected;
    uint64_t cause[CAUSES];  // of those that were not kept
    uint32_t crc;            // of the bytes of all that were kept
};

// The application's state: set up by the launcher, and read only from then on but for the tallies
// and what is stored.
struct packets {
    struct file input, output[ACTIONS];
    struct capture capture;      // at its beginning
    struct capture_output form;  // of the outputs
    uint32_t header_bytes;       // of each of them
    uint32_t captured, truncated, plays, frame_bytes;
    struct medium medium;
    struct coding coding;
    struct rules rules;
    uint8_t *stored;  // by the task `store`: as they are in a capture
    uint32_t store_bytes, stored_bytes;
    struct tally tally[ACTIONS];
};

/// The application's state.
///
/// Context: any. Never blocks.
struct packets *packets_of(const struct wb_task *self);

/// The input, as capture.h reads it.
///
/// Context: any. Never blocks.
struct capture_file packets_input(const struct packets *packets);

/// How many bytes a message needs for a frame, with its FCS, as it is or coded.
///
/// Context: any. Never blocks.
size_t packet_bytes(const struct packets *packets);
size_t packet_coded_bytes(const struct packets *packets);

/// Finds the ports of a name, by which packets come or go in turns.
///
/// Context: the task. Does not return where there are none, too many, or too small ones.
/// Returns: how many there are.
uint32_t packet_lanes(struct wb_task *self, const char *name, size_t bytes,
                      struct wb_port *lane[PACKET_LANES_MAX]);

/// Holds the next packet of a port that is not older than `next`.
///
/// Context: the task. Blocks until there is one.
/// Returns: the packet, to be released; NULL when there will be no more.
const struct packet *packet_hold(struct wb_port *in, uint32_t next);

/// Claims room for what is made of a packet, with all but its data in it.
///
/// Context: the task. Blocks until there is room.
/// Returns: the room, to be committed; NULL when nobody wants it any more.
struct packet *packet_claim(struct wb_port *out, const struct packet *packet);

#endif
