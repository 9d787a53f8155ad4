// SPDX-License-Identifier: Apache-2.0
#include "image.h"

struct image *image_of(const struct wb_task *self)
{
    return wb_task_app(self)->state;
}

uint32_t image_first(const struct image *image, uint32_t piece)
{
    return piece % image->pieces * image->piece_pixels;
}

uint32_t image_pixels(const struct image *image, uint32_t piece)
{
    const uint32_t left = image->width * image->height - image_first(image, piece);

    return left < image->piece_pixels ? left : image->piece_pixels;
}
