// SPDX-License-Identifier: Apache-2.0
// Pictures: planes of 4:2:0, one after the other.
#ifndef VIDEO_PLANES_H
#define VIDEO_PLANES_H

#include <stddef.h>
#include <stdint.h>

enum { PICTURE_SIDE_MAX = 4096 };

/// The bytes of a picture: its luma, then its two chromas of half the width and half the height.
///
/// Context: any. Never blocks.
size_t picture_bytes(uint32_t width, uint32_t height);

/// Adler-32, as FFmpeg's `framecrc` has it of a picture: it begins with 0, not with 1.
///
/// Context: any. Never blocks.
uint32_t picture_checksum(const uint8_t *planes, size_t bytes);

#endif
