// SPDX-License-Identifier: Apache-2.0
// What a film is that cannot be played, in words: by the first bytes of its file, or by the name
// that its video has there (FOURCC).
#ifndef VIDEO_KINDS_H
#define VIDEO_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KIND_NAME_BYTES = 40 };

/// Whether four letters are these, which are upper-case, whatever their case.
bool kind_is(const uint8_t *letters, const char *wanted);

/// Whether video of this name is Motion-JPEG.
bool kind_is_motion_jpeg(const uint8_t *codec);

/// Writes what video of this name is.
///
/// Returns: true; false where the name is not known, and `name` quotes it.
bool kind_of_video(const uint8_t *codec, char name[KIND_NAME_BYTES]);

/// What a file is that is no AVI: a sentence about it, without its end.
const char *kind_of_file(const uint8_t *file, size_t bytes);

#endif
