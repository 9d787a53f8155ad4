// SPDX-License-Identifier: Apache-2.0
// The medium, which is modelled: it inverts some bits of what passes. The same packet with the same
// seed is damaged alike, however often it passes.
#ifndef PACKETS_MEDIUM_H
#define PACKETS_MEDIUM_H

#include <stddef.h>
#include <stdint.h>

struct medium {
    uint32_t seed;
    uint32_t errors;  // of a million bits, on average
};

/// Inverts bits of a packet at random places: from none up to twice the average.
///
/// Context: any. Never blocks.
void medium_pass(const struct medium *medium, uint32_t number, uint8_t *data, size_t bytes);

#endif
