// SPDX-License-Identifier: Apache-2.0
// What a screen writes: pictures (NAME.y4m), or a line with a checksum for each (NAME.framecrc),
// both as FFmpeg writes them.
//
// A file is opened before there are kernels and written by place, so its screen may be anywhere.
#ifndef VIDEO_OUTPUT_H
#define VIDEO_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

enum output_kind { OUTPUT_NONE, OUTPUT_PICTURES, OUTPUT_CHECKSUMS };

struct output {
    enum output_kind kind;
    int fd;
    uint32_t width, height, rate, scale;
};

/// Creates the file of player `index`: of `NAME.y4m`, `NAME.0.y4m` and so on; none for "".
///
/// Sizes and rate are set by the caller before.
/// Context: the launcher. May block.
/// Returns: true; false with the reason in `why` (256 bytes).
bool output_open(struct output *output, const char *path, uint32_t index, char *why);

/// Writes one frame at byte `*written`, and moves that on; at 0 the file's header comes before it.
///
/// Context: one task at a time. Blocks as a file does.
/// Returns: true; false with the reason in `why` (256 bytes).
bool output_write(const struct output *output, uint64_t *written, uint64_t number,
                  uint32_t checksum, const uint8_t *planes, char *why);

/// Closes the file.
///
/// Context: the launcher, after the run.
void output_close(struct output *output);

#endif
