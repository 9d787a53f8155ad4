// SPDX-License-Identifier: Apache-2.0
// A convolution of 3 x 3 or 5 x 5 over a picture that comes pixel by pixel: a pixel is filtered as
// soon as those around it are there. Integers only, so the result is the same on every machine.
//
//   filtered = clip((sum of weight * pixel + bias * divisor + divisor / 2) / divisor)
//
// Beyond its sides the picture goes on with its outermost pixels.
#ifndef IMAGE_CONVOLVE_H
#define IMAGE_CONVOLVE_H

#include <stddef.h>
#include <stdint.h>

enum { CONVOLVE_SIDE_MAX = 5, CONVOLVE_WEIGHTS_MAX = CONVOLVE_SIDE_MAX * CONVOLVE_SIDE_MAX };

struct convolve {
    uint32_t width, height;
    uint32_t radius;  // 1 or 2
    int32_t divisor, bias;
    int32_t weight[CONVOLVE_WEIGHTS_MAX];  // row by row
};

/// How many bytes of the picture are kept. One row more than is looked at: so up to `width` pixels
/// may be given once more, by a task that was interrupted while it filtered them.
///
/// Context: any. Never blocks.
size_t convolve_bytes(const struct convolve *convolve);

/// Keeps pixel `number` of a picture.
///
/// Context: any. Never blocks.
void convolve_put(const struct convolve *convolve, uint8_t *kept, uint32_t number,
                  const uint8_t rgb[3]);

/// How many pixels can be filtered once `put` of them are there.
///
/// Context: any. Never blocks.
uint32_t convolve_ready(const struct convolve *convolve, uint32_t put);

/// Filters pixel `number`, which is ready.
///
/// Context: any. Never blocks.
void convolve_get(const struct convolve *convolve, const uint8_t *kept, uint32_t number,
                  uint8_t rgb[3]);

#endif
