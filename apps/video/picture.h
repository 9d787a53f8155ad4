// SPDX-License-Identifier: Apache-2.0
// A picture, and its decoder: baseline JPEG as libjpeg decodes it, to planes of 4:2:0.
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
    uint8_t rows[];
};

enum picture_status { PICTURE_WHOLE, PICTURE_DAMAGED, PICTURE_OTHER };

/// The bytes that a decoder of pictures so wide needs.
///
/// Context: any. Never blocks.
size_t picture_decoder_bytes(uint32_t width);

/// Reads what a JPEG says of itself.
///
/// Context: any. Never blocks.
/// Memory:  the decoder is worked in, and keeps nothing.
/// Returns: PICTURE_WHOLE where it is 4:2:0 of 8 bits and of this size; PICTURE_OTHER where it is
///          another JPEG, PICTURE_DAMAGED where it is none.
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
