// SPDX-License-Identifier: Apache-2.0
// apps/image_filter/app.toml with one pixel in a message.
#include "image.h"

#include "app.h"

int control(struct wb_task *self);
int decoder(struct wb_task *self);
int filter(struct wb_task *self);

static const double weights[] = { -1, -1, -1, -1, 12, -1, -1, -1, -1 };

struct app_task app_tasks[] = { { "control", control, 1 },
                                { "decoder", decoder, 1 },
                                { "filter", filter, 2 } };
struct app_channel app_channels[] = {
    { 0, 1, "orders", "orders", sizeof(struct image_order), 0 },
    { 1, 2, "pieces", "pieces", sizeof(struct image_piece) + 3, 0 },
    { 2, 0, "receipts", "receipts", sizeof(struct image_receipt), 1 },
};
struct app_param app_params[] = {
    { .key = "plays" },
    { .key = "piece", .number = 1 },
    { .key = "weights", .elements = weights, .n = sizeof weights / sizeof weights[0] },
    { .key = "divisor", .number = 4 },
    { .key = "bias", .number = 0 },
};
uint32_t app_n_tasks = sizeof app_tasks / sizeof app_tasks[0];
uint32_t app_n_channels = sizeof app_channels / sizeof app_channels[0];
uint32_t app_n_params = sizeof app_params / sizeof app_params[0];

void app_define(uint32_t lanes)
{
    (void)lanes;
}

uint32_t app_done(const struct wb_app *app)
{
    const struct image *image = app->state;

    return (uint32_t)image->done.pixels;
}
