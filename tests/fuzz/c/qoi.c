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
    qoi_begin(&qoi);
    for (uint64_t i = 0; i < (uint64_t)width * height && i < PIXELS_MOST; i++) {
        const int taken = qoi_next(&qoi, data + at, bytes - at);
        if (taken < 0)
            return 0;
        at += (size_t)taken;
        MUST(at <= bytes);
    }
    if (bytes - at >= QOI_END_BYTES)
        (void)qoi_end(data + at);
    return 0;
}
