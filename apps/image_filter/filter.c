// SPDX-License-Identifier: Apache-2.0
// The filter: filters what the decoder gives, and writes the picture.
//
// How far it has come is written beside what it was before, and then chosen by one store: a piece
// that was interrupted by the death of a kernel is filtered again from its beginning.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/crc32.h"
#include "common/tasks.h"
#include "image.h"

enum { LINE_PIXELS = 32, WHY_BYTES = 128 };

struct progress {
    uint32_t next;           // piece, in all plays
    uint32_t put, filtered;  // pixels of the picture
    struct image_done done;
};

struct filter {
    struct progress progress[2];
    uint32_t now;  // which of them holds
    uint8_t kept[];
};

static void write_line(struct wb_task *self, struct progress *progress, const uint8_t *line,
                       uint32_t pixels)
{
    const struct image *image = image_of(self);
    const uint32_t first = progress->filtered - pixels;
    char why[WHY_BYTES];

    progress->done.crc = crc32_of(first == 0 ? 0 : progress->done.crc, line, (size_t)pixels * 3);
    if (file_write_at(&image->output, line, (size_t)pixels * 3,
                      image->header_bytes + (uint64_t)first * 3))
        return;
    snprintf(why, sizeof why, "cannot write the output: %s", strerror(errno));
    wb_task_fail(self, why);
}

static void filter_ready(struct wb_task *self, struct filter *filter, struct progress *progress)
{
    const struct convolve *convolve = &image_of(self)->convolve;
    const uint32_t ready = convolve_ready(convolve, progress->put);
    uint8_t line[LINE_PIXELS * 3];

    while (progress->filtered < ready) {
        uint32_t n = 0;

        while (n < LINE_PIXELS && progress->filtered < ready)
            convolve_get(convolve, filter->kept, progress->filtered++, line + (size_t)n++ * 3);
        write_line(self, progress, line, n);
    }
}

static void end_picture(const struct image *image, struct progress *progress)
{
    progress->done.pictures++;
    if (image->is_expected && progress->done.crc != image->expected)
        progress->done.differ++;
    progress->put = progress->filtered = 0;
}

// Pixels are filtered row by row at the least, so that what is kept suffices.
static void filter_piece(struct wb_task *self, struct filter *filter, struct progress *progress,
                         const struct image_piece *piece)
{
    const struct image *image = image_of(self);

    for (uint32_t i = 0; i < piece->pixels; i++) {
        convolve_put(&image->convolve, filter->kept, progress->put++, piece->rgb + (size_t)i * 3);
        if (i + 1 == piece->pixels || progress->put % image->width == 0)
            filter_ready(self, filter, progress);
    }
    if (progress->put == image->width * image->height)
        end_picture(image, progress);
}

static void take(struct wb_task *self, struct filter *filter, const struct image_piece *piece)
{
    struct image *image = image_of(self);
    struct progress *progress = &filter->progress[1 - filter->now];

    *progress = filter->progress[filter->now];
    if (wb_compute(self))
        filter_piece(self, filter, progress, piece);
    progress->done.pixels += piece->pixels;
    progress->next = piece->piece + 1;
    filter->now = 1 - filter->now;
    image->done = progress->done;
}

int filter(struct wb_task *self)
{
    const struct image *image = image_of(self);
    struct filter *filter = task_keep(self, sizeof *filter + convolve_bytes(&image->convolve));
    struct wb_port *in = wb_port_find_room(self, "pieces", 0, sizeof(struct image_piece));
    struct wb_port *out = wb_port_find(self, "receipts", 0, sizeof(struct image_receipt));
    const void *slot;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        const struct image_piece *piece = slot;

        if (piece->piece >= filter->progress[filter->now].next)
            take(self, filter, piece);
        const struct image_receipt receipt = { filter->progress[filter->now].next };
        // The control may be over already, which is no reason to stop.
        const enum wb_status sent = wb_port_send(out, &receipt, WB_FOREVER);
        wb_port_release(in);
        if (sent != WB_OK && sent != WB_ERR_GONE)
            return 1;
        wb_checkpoint();
    }
    return 0;
}
