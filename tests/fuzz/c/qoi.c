// SPDX-License-Identifier: Apache-2.0
// A picture in QOI, pixel by pixel.
#include "image_filter/qoi.h"
#include "target.h"

enum { PIXELS_MOST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint32_t width, height;
    size_t at = QOI_HEADER_BYTES;
    struct qoi qoi;

    if (bytes < QOI_HEADER_BYTES || qoi_size(data, &width, &height) != NULL)
        return 0;
    MUST(width > 0 && height > 0);
    // What is counted without being decoded is what is decoded.
    uint64_t counted = 0, decoded = 0;
    size_t end = at;
    for (size_t n = 1; n > 0 && counted < PIXELS_MOST; end += n) {
        n = qoi_count(data + end, bytes - end, &counted);
        MUST(n <= bytes - end);
    }
    qoi_begin(&qoi);
    for (uint64_t i = 0; i < (uint64_t)width * height && i < PIXELS_MOST; i++) {
        const int taken = qoi_next(&qoi, data + at, bytes - at);
        if (taken < 0)
            break;
        at += (size_t)taken;
        decoded++;
        MUST(at <= bytes);
    }
    MUST(decoded <= counted || counted >= PIXELS_MOST);
    (void)qoi_is_end(data + at, bytes - at);
    return 0;
}
