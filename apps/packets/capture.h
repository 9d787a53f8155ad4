// SPDX-License-Identifier: Apache-2.0
// A capture in the format of libpcap (pcap-savefile(5)): its header, and the headers of its
// packets.
//
// What the file says about itself is not believed: whatever bytes it has, a packet is only told
// where all of it is inside the file.
#ifndef PACKETS_CAPTURE_H
#define PACKETS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CAPTURE_HEADER_BYTES = 24, CAPTURE_RECORD_BYTES = 16, CAPTURE_WHY_BYTES = 160 };

struct capture {
    bool swapped;      // its numbers are big-endian
    bool nanoseconds;  // as its times have them, or microseconds
};

struct capture_record {
    uint32_t seconds, fraction;
    uint32_t bytes;
};

/// Reads the header of a file of which `bytes` are there.
///
/// Context: any. Never blocks.
/// Returns: true; false with the rest of a sentence about the file in `why`.
bool capture_open(struct capture *capture, const uint8_t *header, size_t bytes,
                  char why[CAPTURE_WHY_BYTES]);

/// Reads the header of packet `number`, behind which `left` bytes are in the file, `bytes` of the
/// header among them.
///
/// Context: any. Never blocks.
/// Returns: true; false with the rest of a sentence about the file in `why`.
bool capture_next(const struct capture *capture, const uint8_t *header, uint64_t left,
                  uint32_t number, struct capture_record *record, char why[CAPTURE_WHY_BYTES]);

/// Makes headers of a file of the same kind, little-endian.
///
/// Context: any. Never blocks.
void capture_put_header(const struct capture *capture, uint8_t header[CAPTURE_HEADER_BYTES]);
void capture_put_record(const struct capture_record *record, uint8_t header[CAPTURE_RECORD_BYTES]);

#endif
