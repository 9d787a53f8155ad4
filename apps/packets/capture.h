// SPDX-License-Identifier: Apache-2.0
// A capture in a file: packet after packet, in the format of libpcap (pcap-savefile(5)) or pcapng
// (draft-ietf-opsawg-pcapng); and one that is written, in the former, or in the latter where its
// packets have unlike link types.
//
// What the file says about itself is not believed: whatever bytes it has, a packet is only told
// where all of it is inside the file.
#ifndef PACKETS_CAPTURE_H
#define PACKETS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link.h"

enum {
    CAPTURE_WHY_BYTES = 160,
    CAPTURE_INTERFACES_MAX = 16,
    CAPTURE_HEADER_BYTES = 28 + LINKS_MAX * 32,  // at most
    CAPTURE_HEAD_BYTES = 28,                     // before the data of a packet, at most
    CAPTURE_TAIL_BYTES = 8                       // behind them, at most
};

// How a capture is read: `bytes` from byte `place` on, as file_read_at() does.
struct capture_file {
    int64_t (*read)(const void *file, void *data, size_t bytes, uint64_t place);
    const void *file;
    uint64_t bytes;  // that it has
};

struct capture_interface {
    uint16_t link;
    uint8_t fcs_bytes;   // behind each frame
    uint8_t resolution;  // of times: as pcapng has it
    uint32_t snapshot;   // 0: no limit
    int64_t offset_s;    // of times
};

// What is known at a place of the file. A copy of it goes on from there.
struct capture {
    bool blocks;       // it is pcapng
    bool swapped;      // its numbers are big-endian
    bool nanoseconds;  // as times are told, or microseconds
    uint64_t at;       // of the next packet, or a block before it
    uint32_t interfaces;
    struct capture_interface interface[CAPTURE_INTERFACES_MAX];
};

struct capture_record {
    uint32_t seconds, fraction;
    uint32_t bytes;     // that were captured, without an FCS
    uint32_t original;  // bytes of the packet
    uint16_t link;      // enum link
    uint64_t place;     // of its bytes
};

enum capture_status {
    CAPTURE_PACKET,
    CAPTURE_END,
    CAPTURE_CUT,  // the file ends inside of the next packet, or has nulls there
    CAPTURE_BAD   // it is damaged, or cannot be read
};

/// Reads the header of a file.
///
/// Context: any; blocks as the file does.
/// Returns: true; false with the rest of a sentence about the file in `why`.
bool capture_open(struct capture *capture, const struct capture_file *file,
                  char why[CAPTURE_WHY_BYTES]);

/// Reads the header of the next packet, which is called `number`, and goes behind it.
///
/// Context: any; blocks as the file does.
/// Returns: CAPTURE_PACKET, or why there is none; CAPTURE_BAD with the rest of a sentence about the
///          file in `why`.
enum capture_status capture_next(struct capture *capture, const struct capture_file *file,
                                 uint32_t number, struct capture_record *record,
                                 char why[CAPTURE_WHY_BYTES]);

/// Copies what is known at a place, without room for interfaces that are not described yet.
///
/// Context: any. Never blocks.
void capture_copy(struct capture *to, const struct capture *from);

// A capture that is written.
struct capture_output {
    bool nanoseconds;
    uint32_t links;
    uint16_t link[LINKS_MAX];
};

/// Makes the header of a file, little-endian: pcapng where it has more than one link type.
///
/// Context: any. Never blocks.
/// Returns: its bytes.
size_t capture_put_header(const struct capture_output *output,
                          uint8_t header[CAPTURE_HEADER_BYTES]);

/// Makes what is before and behind the data of a packet, whose link type the output has.
///
/// Context: any. Never blocks.
/// Returns: the bytes before the data; those behind in `*tail_bytes`.
size_t capture_put_record(const struct capture_output *output, const struct capture_record *record,
                          uint8_t head[CAPTURE_HEAD_BYTES], uint8_t tail[CAPTURE_TAIL_BYTES],
                          size_t *tail_bytes);

#endif
