// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

enum { PLANES = 3, CHROMA_ROWS = PICTURE_ROWS / 2 };

// ---- Errors: the first ends the picture, a warning damages it -----------------------------------

struct errors {
    struct jpeg_error_mgr manager;  // first: libjpeg knows only this
    jmp_buf back;
};

_Noreturn static void give_up(j_common_ptr picture)
{
    longjmp(((struct errors *)picture->err)->back, 1);
}

static void note(j_common_ptr picture, int level)
{
    if (level < 0)
        picture->err->num_warnings++;
}

static void begin_errors(j_common_ptr picture)
{
    picture->err->num_warnings = 0;
}

// ---- The source: all of the JPEG is in memory ---------------------------------------------------

static void nothing(j_decompress_ptr picture)
{
    (void)picture;
}

// The data are over before the picture is.
static boolean want_more(j_decompress_ptr picture)
{
    ERREXIT(picture, JERR_INPUT_EOF);
    return FALSE;
}

static void skip(j_decompress_ptr picture, long bytes)
{
    struct jpeg_source_mgr *source = picture->src;

    if (bytes <= 0)
        return;
    if ((size_t)bytes > source->bytes_in_buffer)
        ERREXIT(picture, JERR_INPUT_EOF);
    source->next_input_byte += bytes;
    source->bytes_in_buffer -= (size_t)bytes;
}

static struct jpeg_source_mgr source_of(const void *jpeg, size_t bytes)
{
    return (struct jpeg_source_mgr){
        .next_input_byte = jpeg,
        .bytes_in_buffer = bytes,
        .init_source = nothing,
        .fill_input_buffer = want_more,
        .skip_input_data = skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = nothing,
    };
}

// ---- One picture --------------------------------------------------------------------------------

static uint32_t half(uint32_t side)
{
    return (side + 1) / 2;
}

// libjpeg writes whole blocks.
static size_t luma_stride(uint32_t width)
{
    return (width + 15) & ~(size_t)15;
}

size_t picture_decoder_bytes(uint32_t width)
{
    return sizeof(struct picture_decoder) + PICTURE_ROWS * luma_stride(width) * 3 / 2;
}

static bool is_sampled(const jpeg_component_info *component, int factor)
{
    return component->h_samp_factor == factor && component->v_samp_factor == factor;
}

static bool is_ours(const struct jpeg_decompress_struct *picture, uint32_t width, uint32_t height)
{
    const jpeg_component_info *component = picture->comp_info;

    return picture->image_width == width && picture->image_height == height &&
           picture->num_components == PLANES && picture->jpeg_color_space == JCS_YCbCr &&
           !picture->progressive_mode && is_sampled(&component[0], 2) &&
           is_sampled(&component[1], 1) && is_sampled(&component[2], 1);
}

struct plane {
    uint8_t *rows[PICTURE_ROWS];
    uint8_t *to;
    uint32_t width, height, step;
};

// The rows of blocks lie one plane after the other, in the decoder.
static void lay_out(struct plane plane[PLANES], struct picture_decoder *decoder, uint32_t width,
                    uint32_t height, uint8_t *planes)
{
    uint8_t *row = decoder->rows;

    for (int p = 0; p < PLANES; p++) {
        const bool luma = p == 0;
        const size_t stride = luma ? luma_stride(width) : luma_stride(width) / 2;

        plane[p].width = luma ? width : half(width);
        plane[p].height = luma ? height : half(height);
        plane[p].step = luma ? PICTURE_ROWS : CHROMA_ROWS;
        plane[p].to = planes;
        planes += (size_t)plane[p].width * plane[p].height;
        for (uint32_t i = 0; i < plane[p].step; i++, row += stride)
            plane[p].rows[i] = row;
    }
}

static void copy_rows(struct plane *plane)
{
    const uint32_t rows = plane->height < plane->step ? plane->height : plane->step;

    for (uint32_t i = 0; i < rows; i++, plane->to += plane->width)
        memcpy(plane->to, plane->rows[i], plane->width);
    plane->height -= rows;
}

static void read_planes(struct jpeg_decompress_struct *picture, struct plane plane[PLANES])
{
    JSAMPARRAY rows[PLANES];

    for (int p = 0; p < PLANES; p++)
        rows[p] = plane[p].rows;
    while (picture->output_scanline < picture->output_height) {
        jpeg_read_raw_data(picture, rows, PICTURE_ROWS);
        for (int p = 0; p < PLANES; p++)
            copy_rows(&plane[p]);
    }
}

static void decode(struct jpeg_decompress_struct *picture, struct plane plane[PLANES])
{
    picture->raw_data_out = TRUE;
    picture->dct_method = JDCT_ISLOW;
    jpeg_start_decompress(picture);
    read_planes(picture, plane);
    jpeg_finish_decompress(picture);
}

// `planes` is NULL where the picture is only to be looked at. What is declared here is not changed
// between setjmp() and longjmp(), but for what libjpeg itself is made for.
static enum picture_status process(struct picture_decoder *decoder, struct jpeg_source_mgr *source,
                                   uint32_t width, uint32_t height, uint8_t *planes)
{
    struct jpeg_decompress_struct picture;
    struct errors errors = {
        .manager = { .error_exit = give_up, .emit_message = note, .reset_error_mgr = begin_errors }
    };
    struct plane plane[PLANES];

    decoder->arena.used = 0;
    picture.err = &errors.manager;
    picture.client_data = &decoder->arena;
    if (setjmp(errors.back))
        return PICTURE_DAMAGED;
    jpeg_create_decompress(&picture);
    picture.src = source;
    jpeg_read_header(&picture, TRUE);
    if (!is_ours(&picture, width, height))
        return PICTURE_OTHER;
    if (planes) {
        lay_out(plane, decoder, width, height, planes);
        decode(&picture, plane);
    }
    return errors.manager.num_warnings == 0 ? PICTURE_WHOLE : PICTURE_DAMAGED;
}

enum picture_status picture_look(struct picture_decoder *decoder, const void *jpeg, size_t bytes,
                                 uint32_t width, uint32_t height)
{
    struct jpeg_source_mgr source = source_of(jpeg, bytes);

    return process(decoder, &source, width, height, NULL);
}

enum picture_status picture_decode(struct picture_decoder *decoder, const void *jpeg, size_t bytes,
                                   uint32_t width, uint32_t height, uint8_t *planes)
{
    struct jpeg_source_mgr source = source_of(jpeg, bytes);

    return process(decoder, &source, width, height, planes);
}
