// SPDX-License-Identifier: Apache-2.0
#include "packets.h"

#include <stdio.h>

#include "common/tasks.h"

struct packets *packets_of(const struct wb_task *self)
{
    return wb_task_app(self)->state;
}

static int64_t read_input(const void *file, void *data, size_t bytes, uint64_t place)
{
    return file_read_at(file, data, bytes, place);
}

struct capture_file packets_input(const struct packets *packets)
{
    return (struct capture_file){ read_input, &packets->input, packets->input.bytes };
}

size_t packet_bytes(const struct packets *packets)
{
    return offsetof(struct packet, data) + packets->frame_bytes + FCS_BYTES;
}

size_t packet_coded_bytes(const struct packets *packets)
{
    return offsetof(struct packet, data) + (size_t)CODING_RATE * (packets->frame_bytes + FCS_BYTES);
}

uint32_t packet_lanes(struct wb_task *self, const char *name, size_t bytes,
                      struct wb_port *lane[PACKET_LANES_MAX])
{
    const uint32_t lanes = wb_port_count(self, name);
    char why[64];

    if (lanes == 0 || lanes > PACKET_LANES_MAX) {
        snprintf(why, sizeof why, "its port %s must be bound to 1 to %d channels", name,
                 PACKET_LANES_MAX);
        wb_task_fail(self, why);
    }
    for (uint32_t i = 0; i < lanes; i++)
        lane[i] = wb_port_find_room(self, name, i, bytes);
    return lanes;
}

const struct packet *packet_hold(struct wb_port *in, uint32_t next)
{
    const void *slot;

    while (wb_port_hold(in, &slot, WB_FOREVER) == WB_OK) {
        const struct packet *packet = slot;

        if (packet->number >= next)
            return packet;
        wb_port_release(in);
    }
    return NULL;
}

struct packet *packet_claim(struct wb_port *out, const struct packet *packet)
{
    void *slot;

    if (wb_port_claim(out, &slot, WB_FOREVER) != WB_OK)
        return NULL;
    struct packet *made = slot;
    *made = *packet;
    return made;
}
