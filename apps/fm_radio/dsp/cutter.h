// SPDX-License-Identifier: Apache-2.0
// Cuts a stream that arrives in pieces of any length into blocks of FM_BLOCK groups.
//
// A piece is handed through without a copy while it is at least one block long; shorter ends are
// staged here, padded to a readable block. An incomplete group waits for the next piece.
#ifndef FM_CUTTER_H
#define FM_CUTTER_H

#include <stdint.h>

#include "fir.h"

enum { FM_SAMPLE_BYTES_MAX = 4 };

struct fm_cutter {
    uint32_t group_bytes;
    uint32_t buffered;  // bytes that wait
    uint32_t consumed;  // where they are in stage
    _Alignas(64) unsigned char stage[FM_BLOCK * FM_DECIMATION_MAX * FM_SAMPLE_BYTES_MAX];
};

struct fm_span {
    const unsigned char *at;
    uint32_t bytes;
};

/// Prepares a cutter for groups of `group_bytes`, a sample's size times the decimation.
///
/// Context: any. Never blocks.
void fm_cutter_init(struct fm_cutter *cutter, uint32_t group_bytes);

/// Begins in the middle of a group: as if `bytes` (less than a group) of zeros had come before.
///
/// Context: right after fm_cutter_init(). Never blocks.
void fm_cutter_skip(struct fm_cutter *cutter, uint32_t bytes);

/// Takes the next block from the front of `piece`.
///
/// Call it again until it returns NULL; then `piece` is empty.
///
/// Context: the owner of the cutter. Never blocks.
/// Memory:  the block can be read to its full length until the next call, whatever `groups` says.
/// Returns: the block and in `groups` how many of its groups count, or NULL.
const unsigned char *fm_cutter_next(struct fm_cutter *cutter, struct fm_span *piece,
                                    uint32_t *groups);

#endif
