// SPDX-License-Identifier: Apache-2.0
// The hooks around a run: looks at the picture, opens the output, and tells in the end what came
// out.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/tasks.h"
#include "image.h"
#include "qoi.h"

enum {
    HEADER_BYTES = 32,
    WEIGHT_MAX = 1000,
    DIVISOR_MAX = 65535,
    WINDOW_BYTES = 4096,
    WHY_BYTES = 128
};

static bool say(struct wb_app *app, const char *text)
{
    snprintf(app->error, sizeof app->error, "%s", text);
    return false;
}

// ---- The picture --------------------------------------------------------------------------------

static const char *read_header(struct image *image)
{
    uint8_t header[QOI_HEADER_BYTES];

    if (image->input.bytes == 0)
        return "it is empty: get a complete copy";
    if (file_read_at(&image->input, header, sizeof header, 0) != QOI_HEADER_BYTES)
        return "it ends inside its header: get a complete copy";
    return qoi_size(header, &image->width, &image->height);
}

// A piece of the file, from which chunks are taken.
struct window {
    uint64_t place;  // in the file, of what follows it
    size_t at, end;
    uint8_t data[WINDOW_BYTES];
};

// Has a whole chunk or end mark in the window, if the file has one.
static bool refill(const struct image *image, struct window *window)
{
    const size_t left = window->end - window->at;

    if (left >= QOI_END_BYTES)
        return true;
    memmove(window->data, window->data + window->at, left);
    const int64_t n =
        file_read_at(&image->input, window->data + left, WINDOW_BYTES - left, window->place);
    if (n < 0)
        return false;
    window->place += (uint64_t)n;
    window->at = 0;
    window->end = left + (size_t)n;
    return true;
}

// What is left of an end mark where the file is cut off inside of it: no encoder writes such data.
static bool is_cut_mark(const uint8_t *data, size_t bytes)
{
    size_t nulls = 0;

    while (nulls < bytes && data[nulls] == 0)
        nulls++;
    return nulls == bytes && bytes > 1 && bytes < QOI_END_BYTES;
}

// Whether the file has data for all pixels, which the end mark is not. The last run may be longer.
static bool check_data(struct wb_app *app, const struct image *image)
{
    const uint64_t wanted = (uint64_t)image->width * image->height;
    struct window window = { .place = QOI_HEADER_BYTES };
    uint64_t pixels = 0;
    char why[WHY_BYTES];

    for (;;) {
        if (!refill(image, &window))
            return file_refuse(app, "input", strerror(errno));
        const uint8_t *data = window.data + window.at;
        const size_t left = window.end - window.at;
        const bool ended = qoi_is_end(data, left);

        if (pixels >= wanted) {
            if (!ended)
                file_warn(app, "input", "its end mark is missing, and no pixel");
            return true;
        }
        const size_t bytes = ended || is_cut_mark(data, left) ? 0 : qoi_count(data, left, &pixels);
        window.at += bytes;
        if (bytes > 0)
            continue;
        snprintf(why, sizeof why, "it %s after %llu of its %llu pixels: get a complete copy",
                 ended ? "has its end" : "is cut off", (unsigned long long)pixels,
                 (unsigned long long)wanted);
        return file_refuse(app, "input", why);
    }
}

static bool open_input(struct wb_app *app, struct image *image)
{
    if (!file_open(app, &image->input, "input"))
        return false;
    const char *why = read_header(image);
    return why ? file_refuse(app, "input", why) : check_data(app, image);
}

static bool cut_into_pieces(struct wb_app *app, struct image *image)
{
    const uint32_t most = image->width < IMAGE_PIECE_MAX ? image->width : IMAGE_PIECE_MAX;
    const uint64_t pixels = (uint64_t)image->width * image->height;

    if (!app_integer(app, "piece", 1, IMAGE_PIECE_MAX, &image->piece_pixels) ||
        !app_integer(app, "plays", 1, 1e6, &image->plays))
        return false;
    // A slot has room for a piece; a piece of more than a row is not needed.
    if (image->piece_pixels > most)
        image->piece_pixels = most;
    image->pieces = (uint32_t)((pixels + image->piece_pixels - 1) / image->piece_pixels);
    if (pixels * image->plays <= UINT32_MAX)
        return true;
    return say(app, "plays is too large for this input: at most 2^32 pixels are filtered in a run");
}

// ---- The filter ---------------------------------------------------------------------------------

static bool read_weight(const struct wb_app *app, struct convolve *convolve, uint32_t i)
{
    const double weight = wb_param_element(app, "weights", i, (double)NAN);

    if (!(weight >= -WEIGHT_MAX && weight <= WEIGHT_MAX))
        return false;
    convolve->weight[i] = (int32_t)weight;
    return convolve->weight[i] == weight;
}

static bool read_weights(struct wb_app *app, struct convolve *convolve)
{
    uint32_t n = 0;

    while (n < CONVOLVE_WEIGHTS_MAX && read_weight(app, convolve, n))
        n++;
    convolve->radius = n == CONVOLVE_WEIGHTS_MAX ? 2 : 1;
    if ((n == 9 || n == CONVOLVE_WEIGHTS_MAX) &&
        isnan(wb_param_element(app, "weights", n, (double)NAN)))
        return true;
    snprintf(app->error, sizeof app->error,
             "weights is %.120s: give 9 or 25 whole numbers from -%d to %d",
             wb_param_text(app, "weights", ""), WEIGHT_MAX, WEIGHT_MAX);
    return false;
}

static bool read_filter(struct wb_app *app, struct image *image)
{
    struct convolve *convolve = &image->convolve;
    uint32_t divisor, bias;

    if (!app_integer(app, "divisor", 1, DIVISOR_MAX, &divisor) ||
        !app_integer(app, "bias", 0, 255, &bias) || !read_weights(app, convolve))
        return false;
    convolve->width = image->width;
    convolve->height = image->height;
    convolve->divisor = (int32_t)divisor;
    convolve->bias = (int32_t)bias;
    return true;
}

// ---- What comes out -----------------------------------------------------------------------------

static bool read_expected(struct wb_app *app, struct image *image)
{
    const char *text = wb_param_text(app, "expected", "");
    char *end;

    image->is_expected = text[0] != '\0';
    if (!image->is_expected)
        return true;
    image->expected = (uint32_t)strtoul(text, &end, 16);
    if (strlen(text) == 8 && *end == '\0')
        return true;
    snprintf(app->error, sizeof app->error,
             "expected is \"%.80s\": give a CRC-32, eight hexadecimal digits", text);
    return false;
}

static bool open_output(struct wb_app *app, struct image *image)
{
    char header[HEADER_BYTES];

    if (!file_create(app, &image->output, "output", ".ppm"))
        return false;
    snprintf(header, sizeof header, "P6\n%u %u\n255\n", (unsigned int)image->width,
             (unsigned int)image->height);
    image->header_bytes = (uint32_t)strlen(header);
    return file_write_at(&image->output, header, image->header_bytes, 0) ||
           file_refuse(app, "output", strerror(errno));
}

enum wb_status wb_app_setup(struct wb_app *app)
{
    struct image *image = wb_app_alloc(app, sizeof *image);

    if (!image) {
        say(app, "[app] memory is too small for the filter: raise it in app.toml");
        return WB_ERR_NOMEM;
    }
    if (!open_input(app, image) || !cut_into_pieces(app, image) || !read_filter(app, image) ||
        !read_expected(app, image) || !open_output(app, image))
        return WB_ERR_INVAL;
    app->state = image;
    return WB_OK;
}

enum wb_status wb_app_finish(struct wb_app *app)
{
    struct image *image = app->state;

    if (!image)
        return WB_OK;
    const struct image_done *done = &image->done;
    fprintf(stderr, "image_filter: %u pictures of %u x %u, %llu pixels, CRC-32 %08lx\n",
            (unsigned int)done->pictures, (unsigned int)image->width, (unsigned int)image->height,
            (unsigned long long)done->pixels, (unsigned long)done->crc);
    file_close(&image->output);
    file_close(&image->input);
    if (done->differ == 0)
        return WB_OK;
    snprintf(app->error, sizeof app->error, "%u of %u pictures do not have the CRC-32 %.8s",
             (unsigned int)done->differ, (unsigned int)done->pictures,
             wb_param_text(app, "expected", ""));
    return WB_ERR_INVAL;
}
