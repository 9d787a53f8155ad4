// SPDX-License-Identifier: Apache-2.0
// A film in an AVI file that lies in memory: what its header says, and its frames one after
// another, through all RIFFs of the file (OpenDML).
//
// What the file says about itself is not believed: whatever bytes it has, nothing outside of it is
// read, and every call comes to its end. Where a chunk is damaged, the film goes on with the next
// frame that can be told. Indexes are never used, and sizes of lists neither: a recorder that lost
// its power has not written them.
#ifndef VIDEO_AVI_H
#define VIDEO_AVI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What makes a film that can be played of any other.
#define AVI_CURE "ffmpeg -i FILE -c:v mjpeg -pix_fmt yuvj420p NAME.avi makes one"

enum { AVI_WHY_BYTES = 160 };

struct avi {
    const uint8_t *file;
    size_t begin, end;       // of the frames, in bytes from the start of the file
    uint32_t width, height;  // pixels, as the header has them
    uint32_t rate, scale;    // frames per second: rate / scale
    uint32_t stream;         // which of the file's streams is the film
    const char *warning;     // NULL, or what the file lacks: the rest of a sentence about it
};

struct avi_frame {
    const uint8_t *data;
    size_t bytes;
};

/// Reads the header.
///
/// Context: any. Never blocks.
/// Memory:  the file is kept by reference.
/// Returns: true; false with the rest of a sentence about the file in `why`.
bool avi_open(struct avi *avi, const void *file, size_t bytes, char why[AVI_WHY_BYTES]);

/// Finds the next frame from `*at` on, and moves `*at` behind it. At first `*at` is `avi->begin`.
///
/// An empty frame says that the one before it is shown once more.
///
/// Context: any. Never blocks.
/// Memory:  the frame lies in the file.
/// Returns: true, or false at the end.
bool avi_next(const struct avi *avi, size_t *at, struct avi_frame *frame);

#endif
