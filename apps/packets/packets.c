// SPDX-License-Identifier: Apache-2.0
#include "packets.h"

struct packets *packets_of(const struct wb_task *self)
{
    return wb_task_app(self)->state;
}

size_t packet_bytes(const struct packets *packets)
{
    return offsetof(struct packet, data) + packets->frame_bytes + FCS_BYTES;
}

size_t packet_coded_bytes(const struct packets *packets)
{
    return offsetof(struct packet, data) + (size_t)CODING_RATE * (packets->frame_bytes + FCS_BYTES);
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
