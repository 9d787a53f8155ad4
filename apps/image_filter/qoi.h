// SPDX-License-Identifier: Apache-2.0
// QOI, "the quite OK image format" (qoiformat.org, version 1.0), decoded pixel by pixel: what is
// kept between two pixels has 280 bytes, however large the picture is.
//
// What the file says about itself is not believed: whatever bytes it has, nothing outside of it is
// read.
#ifndef IMAGE_QOI_H
#define IMAGE_QOI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QOI_HEADER_BYTES = 14,
    QOI_END_BYTES = 8,
    QOI_OP_BYTES = 5,  // the longest there is
    QOI_SIDE_MAX = 65535
};

struct qoi {
    uint8_t seen[64][4];
    uint8_t pixel[4];
    uint32_t run;  // how often the pixel comes again
};

/// Reads the size from a header.
///
/// Context: any. Never blocks.
/// Returns: NULL, or why it cannot be used: the rest of a sentence about the file.
const char *qoi_size(const uint8_t header[QOI_HEADER_BYTES], uint32_t *width, uint32_t *height);

/// Whether these bytes end a picture. No data are like them.
///
/// Context: any. Never blocks.
bool qoi_is_end(const uint8_t *data, size_t bytes);

/// Adds the pixels of the next chunk, without decoding it.
///
/// Context: any. Never blocks.
/// Returns: how many of the `bytes` at `data` it has; 0: it needs more.
size_t qoi_count(const uint8_t *data, size_t bytes, uint64_t *pixels);

/// Begins a picture.
void qoi_begin(struct qoi *qoi);

/// Decodes one pixel.
///
/// Context: any. Never blocks.
/// Returns: how many of the `bytes` at `data` it took, 0 if it repeats the last; -1: it needs more.
int qoi_next(struct qoi *qoi, const uint8_t *data, size_t bytes);

#endif
