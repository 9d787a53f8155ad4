// SPDX-License-Identifier: Apache-2.0
// The decoder: reads the picture, and decodes the pieces that are ordered.
//
// The decoder of QOI is whole at every checkpoint only. Where its kernel dies in between, the
// picture is decoded from its beginning again, up to the piece that is next.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/tasks.h"
#include "image.h"
#include "qoi.h"

enum { BUFFER_BYTES = 256, WHY_BYTES = 128 };

struct decoder {
    uint32_t next;   // piece, in all plays
    bool intact;     // what follows is what it was after the piece before that
    uint32_t place;  // in the file, of what follows the buffer
    uint32_t at, end;
    struct qoi qoi;
    uint8_t buffer[BUFFER_BYTES];
};

static void begin(struct decoder *decoder)
{
    qoi_begin(&decoder->qoi);
    decoder->place = QOI_HEADER_BYTES;
    decoder->at = decoder->end = 0;
}

// Moves what is left to the front of the buffer and reads on.
static bool refill(struct wb_task *self, struct decoder *decoder)
{
    const uint32_t left = decoder->end - decoder->at;
    char why[WHY_BYTES];

    memmove(decoder->buffer, decoder->buffer + decoder->at, left);
    const int64_t n = file_read_at(&image_of(self)->input, decoder->buffer + left,
                                   BUFFER_BYTES - left, decoder->place);
    if (n < 0) {
        snprintf(why, sizeof why, "cannot read the input at byte %lu: %s",
                 (unsigned long)decoder->place, strerror(errno));
        wb_task_fail(self, why);
    }
    decoder->place += (uint32_t)n;
    decoder->at = 0;
    decoder->end = left + (uint32_t)n;
    return n > 0;
}

static void decode_pixel(struct wb_task *self, struct decoder *decoder)
{
    const uint8_t *data = decoder->buffer + decoder->at;
    int taken = qoi_next(&decoder->qoi, data, decoder->end - decoder->at);

    while (taken < 0) {
        if (!refill(self, decoder))
            wb_task_fail(self, "the input has fewer pixels than its header says: get it once more");
        taken = qoi_next(&decoder->qoi, decoder->buffer, decoder->end);
    }
    decoder->at += (uint32_t)taken;
}

static void find_again(struct wb_task *self, struct decoder *decoder)
{
    begin(decoder);
    for (uint32_t n = image_first(image_of(self), decoder->next); n > 0; n--)
        decode_pixel(self, decoder);
    decoder->intact = true;
}

static void decode(struct wb_task *self, struct decoder *decoder, struct image_piece *piece)
{
    if (image_first(image_of(self), decoder->next) == 0)
        begin(decoder);
    for (uint32_t i = 0; i < piece->pixels; i++) {
        decode_pixel(self, decoder);
        memcpy(piece->rgb + (size_t)i * 3, decoder->qoi.pixel, 3);
    }
}

static bool give(struct wb_task *self, struct decoder *decoder, struct wb_port *out)
{
    void *slot;

    if (wb_port_claim(out, &slot, WB_FOREVER) != WB_OK)
        return false;
    struct image_piece *piece = slot;
    *piece = (struct image_piece){ .piece = decoder->next,
                                   .pixels = image_pixels(image_of(self), decoder->next) };
    decoder->intact = false;
    if (wb_compute(self))
        decode(self, decoder, piece);
    const bool given = wb_port_commit(out) == WB_OK;
    decoder->next++;
    decoder->intact = true;
    return given;
}

int decoder(struct wb_task *self)
{
    const size_t piece_bytes =
        sizeof(struct image_piece) + (size_t)image_of(self)->piece_pixels * 3;
    struct decoder *decoder = task_keep(self, sizeof *decoder);
    struct wb_port *in = wb_port_find(self, "orders", 0, sizeof(struct image_order));
    struct wb_port *out = wb_port_find_room(self, "pieces", 0, piece_bytes);
    const void *slot;

    if (!decoder->intact)
        find_again(self, decoder);
    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        const struct image_order *order = slot;

        if (order->piece >= decoder->next && !give(self, decoder, out))
            break;
        wb_port_release(in);
        wb_checkpoint();
    }
    return 0;
}
