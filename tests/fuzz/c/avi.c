// SPDX-License-Identifier: Apache-2.0
// A film, and the first of its pictures.
#include "video/avi.h"
#include "target.h"
#include "video/picture.h"

enum { SIDE = 64, DECODED = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct avi_frame frame;
    char why[AVI_WHY_BYTES];
    struct avi avi;

    if (!avi_open(&avi, data, bytes, why))
        return 0;
    struct picture_decoder *decoder = malloc(picture_decoder_bytes(SIDE));
    uint8_t *planes = malloc(picture_bytes(SIDE, SIDE));
    size_t at = avi.begin, before;
    MUST(decoder != NULL && planes != NULL);
    for (int n = 0; before = at, avi_next(&avi, &at, &frame); n++) {
        MUST(at > before && at <= bytes);
        MUST(frame.bytes == 0 || (frame.data >= data && frame.bytes <= bytes &&
                                  frame.data + frame.bytes <= data + bytes));
        if (n < DECODED)
            (void)picture_decode(decoder, frame.data, frame.bytes, SIDE, SIDE, planes);
    }
    free(planes);
    free(decoder);
    return 0;
}
