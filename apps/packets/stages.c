// SPDX-License-Identifier: Apache-2.0
// The tasks between: decoders, CRC checkers, enqueue and classifier. All that they keep is which
// packet is next.
#include <string.h>

#include "common/crc32.h"
#include "common/tasks.h"
#include "packets.h"

struct stage {
    uint32_t next;  // packet
};

// ---- One packet in, one out ---------------------------------------------------------------------

// Makes a packet of another, in a copy of all but the other's data.
typedef void treatment(struct wb_task *self, const struct packet *in, struct packet *out);

static void decode(struct wb_task *self, const struct packet *in, struct packet *out)
{
    out->bytes = in->bytes / CODING_RATE;
    if (wb_compute(self))
        out->corrected =
            (uint16_t)coding_decode(&packets_of(self)->coding, in->data, out->bytes, out->data);
}

static void check(struct wb_task *self, const struct packet *in, struct packet *out)
{
    const uint8_t *fcs = in->data + in->bytes - FCS_BYTES;

    out->bytes = in->bytes - FCS_BYTES;
    if (!wb_compute(self))
        return;
    memcpy(out->data, in->data, out->bytes);
    out->damaged =
        crc32_of(0, in->data, out->bytes) !=
        ((uint32_t)fcs[3] << 24 | (uint32_t)fcs[2] << 16 | (uint32_t)fcs[1] << 8 | fcs[0]);
}

static void copy(struct wb_task *self, const struct packet *in, struct packet *out)
{
    if (wb_compute(self))
        memcpy(out->data, in->data, in->bytes);
}

static bool transform(struct wb_task *self, const struct packet *in, struct wb_port *out,
                      treatment *treat)
{
    struct packet *made = packet_claim(out, in);

    if (!made)
        return false;
    treat(self, in, made);
    return wb_port_commit(out) == WB_OK;
}

// Packets come by lanes in turns.
static int run(struct wb_task *self, size_t bytes, treatment *treat)
{
    struct stage *stage = task_keep(self, sizeof *stage);
    struct wb_port *out = wb_port_find_room(self, "out", 0, packet_bytes(packets_of(self)));
    struct wb_port *lane[PACKET_LANES_MAX];
    const uint32_t lanes = packet_lanes(self, "in", bytes, lane);

    for (;;) {
        struct wb_port *in = lane[stage->next % lanes];
        const struct packet *packet = packet_hold(in, stage->next);

        if (!packet || !transform(self, packet, out, treat))
            return 0;
        stage->next = packet->number + 1;
        wb_port_release(in);
        wb_checkpoint();
    }
}

int decoder(struct wb_task *self)
{
    return run(self, packet_coded_bytes(packets_of(self)), decode);
}

int crc(struct wb_task *self)
{
    return run(self, packet_bytes(packets_of(self)), check);
}

// In the order of their numbers again.
int enqueue(struct wb_task *self)
{
    return run(self, packet_bytes(packets_of(self)), copy);
}

// ---- Where they go ------------------------------------------------------------------------------

// Where computing is modelled there is nothing to look at: packets go everywhere in turns.
static enum action classify(struct wb_task *self, const struct packet *packet)
{
    if (!wb_compute(self))
        return (enum action)(packet->number % ACTIONS);
    if (packet->damaged)
        return DISCARD;
    const struct rules_frame frame = { packet->link, packet->data, packet->bytes,
                                       packet->original };
    return rules_apply(&packets_of(self)->rules, &frame);
}

static bool route(struct wb_task *self, const struct packet *packet, struct wb_port *out[ACTIONS])
{
    const enum action action = classify(self, packet);
    struct packet *made = packet_claim(out[action], packet);

    if (!made)
        return false;
    memcpy(made->data, packet->data, packet->bytes);
    return wb_port_commit(out[action]) == WB_OK;
}

int classifier(struct wb_task *self)
{
    const size_t bytes = packet_bytes(packets_of(self));
    struct stage *stage = task_keep(self, sizeof *stage);
    struct wb_port *in = wb_port_find_room(self, "in", 0, bytes);
    struct wb_port *out[ACTIONS] = { wb_port_find_room(self, "forward", 0, bytes),
                                     wb_port_find_room(self, "store", 0, bytes),
                                     wb_port_find_room(self, "discard", 0, bytes) };
    const struct packet *packet;

    while ((packet = packet_hold(in, stage->next)) != NULL) {
        if (!route(self, packet, out))
            break;
        stage->next = packet->number + 1;
        wb_port_release(in);
        wb_checkpoint();
    }
    return 0;
}
