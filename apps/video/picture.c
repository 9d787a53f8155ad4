// SPDX-License-Identifier: Apache-2.0
#include "picture.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

enum { PLANES = 3 };

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

// The data are over. Where only the last marker is missing, as some cameras leave it out, no pixel
// is; where more is missing, libjpeg notes that this one comes too early.
static boolean want_more(j_decompress_ptr picture)
{
    static const JOCTET end[] = { 0xff, JPEG_EOI };

    picture->src->next_input_byte = end;
    picture->src->bytes_in_buffer = sizeof end;
    return TRUE;
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
    return sizeof(struct picture_decoder) + PICTURE_ROWS * luma_stride(width) * 2;
}

// Chroma has half the width of luma, and half the height (4:2:0) or all of it (4:2:2).
static bool is_sampled(const jpeg_component_info *component)
{
    const int rows = component[0].v_samp_factor;

    for (int p = 1; p < PLANES; p++)
        if (component[p].h_samp_factor != 1 ||
            component[p].v_samp_factor != component[1].v_samp_factor)
            return false;
    return component[0].h_samp_factor == 2 && rows <= 2 &&
           (component[1].v_samp_factor == rows || component[1].v_samp_factor * 2 == rows);
}

static bool is_ours(const struct jpeg_decompress_struct *picture)
{
    return picture->num_components == PLANES && picture->jpeg_color_space == JCS_YCbCr &&
           !picture->progressive_mode && is_sampled(picture->comp_info);
}

// Which lines of a frame a JPEG has: all, or those of a field.
struct lines {
    uint32_t first, step;
};

// How many of `lines` they are.
static uint32_t count_lines(const struct lines *lines, uint32_t all)
{
    return (all - lines->first + lines->step - 1) / lines->step;
}

struct plane {
    uint8_t *rows[PICTURE_ROWS];
    uint8_t *to;
    uint32_t width, height;
    uint32_t step, fold;  // rows of a row of blocks; how many of them make one line
    uint32_t left;        // rows that the JPEG still has
    size_t pitch;         // from one line to the next
};

// What is made of a JPEG.
struct target {
    uint32_t width, height;  // of the frame
    struct lines lines;
    uint8_t *planes;  // NULL where the picture is only to be looked at
};

// The rows of blocks lie one plane after the other, in the decoder.
static void lay_out(struct plane plane[PLANES], struct picture_decoder *decoder,
                    const jpeg_component_info *component, const struct target *target)
{
    const uint32_t width = target->width;
    uint8_t *row = decoder->rows, *planes = target->planes;

    for (int p = 0; p < PLANES; p++) {
        const bool luma = p == 0;
        const size_t stride = luma ? luma_stride(width) : luma_stride(width) / 2;
        const uint32_t height = luma ? target->height : half(target->height);

        plane[p].width = luma ? width : half(width);
        plane[p].height = count_lines(&target->lines, height);
        plane[p].step = (uint32_t)component[p].v_samp_factor * DCTSIZE;
        plane[p].fold = luma ? 1 : 2U * plane[p].step / plane[0].step;
        plane[p].left = component[p].downsampled_height;
        plane[p].pitch = (size_t)target->lines.step * plane[p].width;
        plane[p].to = planes + (size_t)target->lines.first * plane[p].width;
        planes += (size_t)plane[p].width * height;
        for (uint32_t i = 0; i < plane[p].step; i++, row += stride)
            plane[p].rows[i] = row;
    }
}

// Two rows of chroma where a line is wanted: their mean.
static void fold_rows(uint8_t *to, const uint8_t *first, const uint8_t *second, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        to[x] = (uint8_t)((first[x] + second[x] + 1) / 2);
}

static void copy_rows(struct plane *plane)
{
    const uint32_t most = plane->step / plane->fold;
    const uint32_t lines = plane->height < most ? plane->height : most;

    for (uint32_t i = 0; i < lines; i++, plane->to += plane->pitch) {
        const uint32_t row = i * plane->fold;
        const bool has_second = plane->fold == 2 && row + 1 < plane->left;

        if (has_second)
            fold_rows(plane->to, plane->rows[row], plane->rows[row + 1], plane->width);
        else
            memcpy(plane->to, plane->rows[row], plane->width);
    }
    plane->height -= lines;
    plane->left -= plane->left < plane->step ? plane->left : plane->step;
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

// One JPEG. What is declared here is not changed between setjmp() and longjmp(), but for what
// libjpeg itself is made for.
static enum picture_status process(struct picture_decoder *decoder, struct jpeg_source_mgr *source,
                                   const struct target *target)
{
    struct jpeg_decompress_struct picture;
    struct errors errors = {
        .manager = { .error_exit = give_up, .emit_message = note, .reset_error_mgr = begin_errors }
    };
    struct plane plane[PLANES];

    decoder->arena.used = 0;
    decoder->width = decoder->height = 0;
    picture.err = &errors.manager;
    picture.client_data = &decoder->arena;
    if (setjmp(errors.back))
        return PICTURE_DAMAGED;
    jpeg_create_decompress(&picture);
    picture.src = source;
    jpeg_read_header(&picture, TRUE);
    if (!is_ours(&picture))
        return PICTURE_OTHER;
    decoder->width = picture.image_width;
    decoder->height = picture.image_height;
    if (picture.image_width != target->width ||
        picture.image_height * target->lines.step < target->height ||
        picture.image_height * target->lines.step >= target->height + target->lines.step)
        return PICTURE_RESIZED;
    if (target->planes) {
        lay_out(plane, decoder, picture.comp_info, target);
        decode(&picture, plane);
    }
    return errors.manager.num_warnings == 0 ? PICTURE_WHOLE : PICTURE_DAMAGED;
}

// ---- One frame: a picture, or one for each field ------------------------------------------------

// Where the second picture begins; `bytes` where there is none. No data of a picture look like it.
static size_t second_of(const uint8_t *jpeg, size_t bytes)
{
    for (size_t at = 2; at + 2 < bytes; at++)
        if (jpeg[at] == 0xff && jpeg[at + 1] == 0xd8 && jpeg[at + 2] == 0xff)
            return at;
    return bytes;
}

// APP0 of Motion-JPEG in AVI: after its name 1 for the field with line 1, 2 for the other.
static bool is_second_field(const uint8_t *jpeg, size_t bytes)
{
    static const uint8_t app0[] = { 0xff, 0xd8, 0xff, 0xe0 };

    return bytes > 10 && memcmp(jpeg, app0, sizeof app0) == 0 && memcmp(jpeg + 6, "AVI1", 4) == 0 &&
           jpeg[10] == 2;
}

static enum picture_status process_frame(struct picture_decoder *decoder, const uint8_t *jpeg,
                                         size_t bytes, struct target *target)
{
    struct jpeg_source_mgr source = source_of(jpeg, bytes);
    const enum picture_status whole = process(decoder, &source, target);

    if (whole != PICTURE_RESIZED || decoder->width != target->width ||
        decoder->height != half(target->height))
        return whole;
    const size_t second = second_of(jpeg, bytes);
    if (second == bytes)
        return whole;
    target->lines = (struct lines){ is_second_field(jpeg, bytes), 2 };
    source = source_of(jpeg, second);
    const enum picture_status first = process(decoder, &source, target);
    if (first != PICTURE_WHOLE)
        return first;
    target->lines.first = 1 - target->lines.first;
    source = source_of(jpeg + second, bytes - second);
    return process(decoder, &source, target);
}

enum picture_status picture_look(struct picture_decoder *decoder, const void *jpeg, size_t bytes,
                                 uint32_t width, uint32_t height)
{
    struct target target = { .width = width, .height = height, .lines = { 0, 1 } };

    return process_frame(decoder, jpeg, bytes, &target);
}

enum picture_status picture_decode(struct picture_decoder *decoder, const void *jpeg, size_t bytes,
                                   uint32_t width, uint32_t height, uint8_t *planes)
{
    struct target target = {
        .width = width, .height = height, .lines = { 0, 1 }, .planes = planes
    };

    return process_frame(decoder, jpeg, bytes, &target);
}
