// SPDX-License-Identifier: Apache-2.0
// The image filter (nacul2007, section 4 and figure 2a): what its tasks share.
//
//            orders             pieces
//   control ───────> decoder ───────────> filter ──> picture
//      ^                                     │
//      └─────────────────────────────────────┘ receipts
//
// A picture goes through in pieces of some pixels. The control orders a piece when there is room
// for it in the stream. Every message has the number of its piece, in all plays: a task that starts
// again after the death of its kernel sends some once more, and whoever has had them knows.
#ifndef IMAGE_H
#define IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/file.h"
#include "convolve.h"
#include "wb/wb.h"

enum { IMAGE_WINDOW = 4, IMAGE_PIECE_MAX = 4096 };  // IMAGE_WINDOW: slots of the channels

// A piece that is wanted.
struct image_order {
    uint32_t piece;
};

// Pieces that are done; 0 at first.
struct image_receipt {
    uint32_t pieces;
};

struct image_piece {
    uint32_t piece, pixels;
    uint8_t rgb[];
};

// The application's state: set up by the launcher, and read only from then on but for `done`.
struct image {
    struct file input, output;
    uint32_t width, height, header_bytes;  // header_bytes: of the output
    uint32_t piece_pixels, pieces, plays;  // pieces: of one play
    struct convolve convolve;
    bool is_expected;
    uint32_t expected;  // the CRC-32 of the filtered pixels
    struct image_done {
        uint64_t pixels;
        uint32_t pictures, differ, crc;  // crc: of the last picture
    } done;                              // the filter writes it
};

/// The application's state.
///
/// Context: any. Never blocks.
struct image *image_of(const struct wb_task *self);

/// Where a piece begins in its picture, in pixels, and how many it has.
///
/// Context: any. Never blocks.
uint32_t image_first(const struct image *image, uint32_t piece);
uint32_t image_pixels(const struct image *image, uint32_t piece);

#endif
