// SPDX-License-Identifier: Apache-2.0
// The code of the medium: extended Hamming (8,4) as in ETS 300 706 (teletext), section 8.2. Four
// bits travel as eight; one wrong bit of the eight is corrected, two are noticed.
#ifndef PACKETS_CODING_H
#define PACKETS_CODING_H

#include <stddef.h>
#include <stdint.h>

enum { CODING_RATE = 2 };  // bytes on the medium for each byte

// What eight bits mean: the four bits, and how many of the eight were wrong.
struct coding {
    uint8_t bits[256], wrong[256];
};

/// Computes the table of a decoder.
///
/// Context: any. Never blocks.
void coding_init(struct coding *coding);

/// Encodes bytes: the lower four bits of each come first.
///
/// Context: any. Never blocks.
/// Memory:  `coded` has CODING_RATE * bytes.
void coding_encode(const uint8_t *data, size_t bytes, uint8_t *coded);

/// Decodes so many bytes. What cannot be corrected becomes 0.
///
/// Context: any. Never blocks.
/// Returns: how many bits were corrected.
uint32_t coding_decode(const struct coding *coding, const uint8_t *coded, size_t bytes,
                       uint8_t *data);

#endif
