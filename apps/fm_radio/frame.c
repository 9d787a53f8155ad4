// SPDX-License-Identifier: Apache-2.0
#include "frame.h"

#include <string.h>

#include "common/tasks.h"

static size_t im_at(const struct fm_config *config)
{
    return ((size_t)config->frame_samples + 15) / 16 * 16;
}

float *fm_frame_im(struct fm_frame *frame, const struct fm_config *config)
{
    return frame->data + im_at(config);
}

const float *fm_frame_im_of(const struct fm_frame *frame, const struct fm_config *config)
{
    return frame->data + im_at(config);
}

uint32_t fm_frame_bytes(const struct fm_config *config)
{
    return (uint32_t)(sizeof(struct fm_frame) + (size_t)config->frame_samples * sizeof(float));
}

uint32_t fm_frame_complex_bytes(const struct fm_config *config)
{
    return (uint32_t)(im_at(config) * sizeof(float)) + fm_frame_bytes(config);
}

struct fm_intake fm_intake_open(struct wb_task *self, uint32_t index, uint32_t slot_bytes)
{
    return (struct fm_intake){ .port = wb_port_find_room(self, "in", index, slot_bytes) };
}

const struct fm_frame *fm_intake_next(struct fm_intake *intake)
{
    const struct fm_frame *frame;

    do {
        const void *slot;

        if (intake->count == 2) {
            wb_port_release(intake->port);
            intake->count = 1;
        }
        if (wb_port_hold(intake->port, &slot, WB_FOREVER) != WB_OK)
            return NULL;
        intake->count++;
        frame = slot;
    } while (frame->first < intake->fed);
    intake->jumped = frame->first != intake->fed;
    intake->fed = frame->first + frame->samples;
    return frame;
}

void fm_intake_end(struct fm_intake *intake)
{
    for (; intake->count > 0; intake->count--)
        wb_port_release(intake->port);
}

struct fm_outlet fm_outlet_open(struct wb_task *self, uint32_t slot_bytes)
{
    struct fm_outlet outlet = { .ports = wb_port_count(self, "out") };

    if (outlet.ports == 0 || outlet.ports > FM_BANDS_MAX)
        wb_task_fail(self, "its port out must be bound to 1 to 64 channels");
    for (uint32_t i = 0; i < outlet.ports; i++)
        outlet.port[i] = wb_port_find_room(self, "out", i, slot_bytes);
    return outlet;
}

struct fm_frame *fm_outlet_claim(struct fm_outlet *outlet)
{
    for (uint32_t i = 0; i < outlet->ports; i++) {
        void *slot;

        if (outlet->slot[i])
            continue;
        if (wb_port_claim(outlet->port[i], &slot, WB_FOREVER) != WB_OK)
            return NULL;
        outlet->slot[i] = slot;
    }
    return outlet->slot[0];
}

bool fm_outlet_give(struct fm_outlet *outlet, uint64_t first, uint32_t samples, uint64_t *next)
{
    const struct fm_frame *frame = outlet->slot[0];
    const size_t bytes = sizeof *frame + frame->samples * sizeof *frame->data;

    if (first < *next)
        return false;
    for (uint32_t i = 1; i < outlet->ports; i++)
        memcpy(outlet->slot[i], frame, bytes);
    for (uint32_t i = 0; i < outlet->ports; i++) {
        wb_port_commit(outlet->port[i]);
        outlet->slot[i] = NULL;
    }
    *next = first + samples;
    return true;
}
