// SPDX-License-Identifier: Apache-2.0
// A ring in a file of the memory: samples have places, counted from the start. Who puts keeps
// within the capacity.
#ifndef FM_RING_H
#define FM_RING_H

#include <stdint.h>

#include "wb/word.h"

struct fm_ring {
    int fd;
    uint32_t sample_bytes;   // fixed, as the next
    uint64_t capacity;       // in samples
    struct wb_counter head;  // samples that were ever put in; who puts
    struct wb_counter tail;  // samples that are taken out for good; who takes
};

/// Writes samples at a place.
///
/// Context: who puts. Never blocks.
void fm_ring_write(const struct fm_ring *ring, const void *samples, uint64_t n, uint64_t place);

/// Reads samples that were put.
///
/// Context: who takes. Never blocks.
void fm_ring_read(const struct fm_ring *ring, void *samples, uint64_t n, uint64_t place);

#endif
