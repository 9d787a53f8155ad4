// SPDX-License-Identifier: Apache-2.0
// apps/packets/app.toml, with any number of decoders and CRC checkers. Frames are as long as the
// longest of the capture.
#include "packets.h"

#include "app.h"

int packetizer(struct wb_task *self);
int decoder(struct wb_task *self);
int crc(struct wb_task *self);
int enqueue(struct wb_task *self);
int classifier(struct wb_task *self);
int forward(struct wb_task *self);
int store(struct wb_task *self);
int discard(struct wb_task *self);

enum { LANES_MAX = 4, OTHERS = 6, FRAME_BYTES = 1514 };
enum { CODED_BYTES = FRAME_BYTES * 2 + 33, PLAIN_BYTES = FRAME_BYTES + 29 };
enum { PACKETIZER, ENQUEUE, CLASSIFIER, OUTPUTS };

struct app_task app_tasks[OTHERS + 2 * LANES_MAX] = {
    { "packetizer", packetizer, 1 }, { "enqueue", enqueue, 2 }, { "classifier", classifier, 2 },
    { "forward", forward, 2 },       { "store", store, 2 },     { "discard", discard, 2 },
};
struct app_channel app_channels[4 + 3 * LANES_MAX] = {
    { ENQUEUE, CLASSIFIER, "out", "in", PLAIN_BYTES, 0 },
    { CLASSIFIER, OUTPUTS, "forward", "in", PLAIN_BYTES, 0 },
    { CLASSIFIER, OUTPUTS + 1, "store", "in", PLAIN_BYTES, 0 },
    { CLASSIFIER, OUTPUTS + 2, "discard", "in", PLAIN_BYTES, 0 },
};
struct app_param app_params[] = {
    { .key = "plays" },
    { .key = "frame_bytes", .number = FRAME_BYTES },
    { .key = "rules",
      .text = "forward udp port 5353; store tcp src port 8080 and greater 100; discard tcp" },
    { .key = "otherwise", .text = "discard" },
    { .key = "bit_errors", .number = 1000 },
    { .key = "seed", .number = 1 },
    { .key = "store_bytes", .number = 65536 },
};
uint32_t app_n_tasks = OTHERS, app_n_channels = 4;
uint32_t app_n_params = sizeof app_params / sizeof app_params[0];

// Of two cores, lanes are on each in turns.
static void add_lane(uint32_t lane)
{
    const uint32_t from = app_n_tasks, to = from + 1, cores = 1U << lane % 2;

    app_tasks[from] = (struct app_task){ "decoder", decoder, cores };
    app_tasks[to] = (struct app_task){ "crc", crc, cores };
    app_n_tasks += 2;
    app_channels[app_n_channels++] =
        (struct app_channel){ PACKETIZER, from, "out", "in", CODED_BYTES, 0 };
    app_channels[app_n_channels++] = (struct app_channel){ from, to, "out", "in", PLAIN_BYTES, 0 };
    app_channels[app_n_channels++] =
        (struct app_channel){ to, ENQUEUE, "out", "in", PLAIN_BYTES, 0 };
}

void app_define(uint32_t lanes)
{
    for (uint32_t lane = 0; lane < lanes && lane < LANES_MAX; lane++)
        add_lane(lane);
}

uint32_t app_done(const struct wb_app *app)
{
    const struct packets *packets = app->state;
    uint32_t done = 0;

    for (int i = 0; i < ACTIONS; i++)
        done += (uint32_t)packets->tally[i].packets;
    return done;
}
