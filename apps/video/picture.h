// SPDX-License-Identifier: Apache-2.0
// A picture, and its decoder: baseline JPEG of 4:2:0 or 4:2:2 as libjpeg decodes it, to planes of
// 4:2:0.
//
// A frame may have two pictures of half the height, one for each field: an interlaced film. They
// are woven: the first has the lines 1, 3, 5 and so on, unless its APP0 ("AVI1") says that it has
// the others.
//
// Motion-JPEG makes each picture for itself, so nothing of the decoder lives on from one to the
// next: a task is free to move, or to start again, between any two.
#ifndef VIDEO_PICTURE_H
#define VIDEO_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jpeg/arena.h"
#include "planes.h"

enum { PICTURE_ROWS = 16 };

// What a decoder works in. `rows` holds one row of blocks: luma, then both chromas.
struct picture_decoder {
    struct jpeg_arena arena;
    uint32_t width, height;  // of the JPEG that it had last
    uint8_t rows[];
};

enum picture_status {
    PICTURE_WHOLE,
    PICTURE_DAMAGED,  // no JPEG
    PICTURE_OTHER,    // no baseline JPEG of 8 bits and 4:2:0 or 4:2:2
    PICTURE_RESIZED,  // one that is not of the film's size
    PICTURE_STATUSES
};

/// The bytes that a decoder of pictures so wide needs.
///
/// Context: any. Never blocks.
size_t picture_decoder_bytes(uint32_t width);

/// Reads what a JPEG says of itself.
///
/// Context: any. Never blocks.
/// Memory:  the decoder is worked in, and keeps nothing.
/// Returns: PICTURE_WHOLE where it can be decoded and is of this size, or else why not.
enum picture_status picture_look(struct picture_decoder *decoder, const void *jpeg, size_t bytes,
                                 uint32_t width, uint32_t height);

/// Decodes a JPEG into picture_bytes() at `planes`.
///
/// Context: any. Never blocks.
/// Memory:  the decoder is worked in, and keeps nothing.
/// Returns: as picture_look(); PICTURE_DAMAGED also where libjpeg had to guess: `planes` are not
///          to be shown then.
enum picture_status picture_decode(struct picture_decoder *decoder, const void *jpeg, size_t bytes,
                                   uint32_t width, uint32_t height, uint8_t *planes);

#endif
