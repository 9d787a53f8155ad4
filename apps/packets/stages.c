// SPDX-License-Identifier: Apache-2.0
// The tasks between: decoders, CRC checkers, enqueue and classifier. All that they keep is which
// packet is next.
#include <string.h>

#include "common/crc32.h"
#include "common/tasks.h"
#include "packets.h"

enum { LANES_MAX = 8 };

struct stage {
    uint32_t next;  // packet
};

// ---- One packet in, one out ---------------------------------------------------------------------

static void decode(const struct packets *packets, const struct packet *in, struct packet *out)
{
    const uint32_t corrected =
        coding_decode(&packets->coding, in->data, in->bytes / CODING_RATE, out->data);

    out->corrected = (uint16_t)corrected;
}

static void check(const struct packets *packets, const struct packet *in, struct packet *out)
{
    const uint32_t bytes = in->bytes - FCS_BYTES;
    const uint8_t *fcs = in->data + bytes;

    (void)packets;
    memcpy(out->data, in->data, bytes);
    out->damaged =
        crc32_of(0, in->data, bytes) !=
        ((uint32_t)fcs[3] << 24 | (uint32_t)fcs[2] << 16 | (uint32_t)fcs[1] << 8 | fcs[0]);
}

static void copy(const struct packets *packets, const struct packet *in, struct packet *out)
{
    (void)packets;
    memcpy(out->data, in->data, in->bytes);
}

typedef void treatment(const struct packets *packets, const struct packet *in, struct packet *out);

// `bytes`: of the packet that is made.
static bool transform(struct wb_task *self, const struct packet *in, struct wb_port *out,
                      uint32_t bytes, treatment *treat)
{
    struct packet *made = packet_claim(out, in);

    if (!made)
        return false;
    made->bytes = bytes;
    if (wb_compute(self))
        treat(packets_of(self), in, made);
    return wb_port_commit(out) == WB_OK;
}

int decoder(struct wb_task *self)
{
    const struct packets *packets = packets_of(self);
    struct stage *stage = task_keep(self, sizeof *stage);
    struct wb_port *in = task_port(self, "in", 0, packet_coded_bytes(packets));
    struct wb_port *out = task_port(self, "out", 0, packet_bytes(packets));
    const struct packet *packet;

    while ((packet = packet_hold(in, stage->next)) != NULL) {
        if (!transform(self, packet, out, packet->bytes / CODING_RATE, decode))
            break;
        stage->next = packet->number + 1;
        wb_port_release(in);
        wb_checkpoint();
    }
    return 0;
}

int crc(struct wb_task *self)
{
    const struct packets *packets = packets_of(self);
    struct stage *stage = task_keep(self, sizeof *stage);
    struct wb_port *in = task_port(self, "in", 0, packet_bytes(packets));
    struct wb_port *out = task_port(self, "out", 0, packet_bytes(packets));
    const struct packet *packet;

    while ((packet = packet_hold(in, stage->next)) != NULL) {
        if (!transform(self, packet, out, packet->bytes - FCS_BYTES, check))
            break;
        stage->next = packet->number + 1;
        wb_port_release(in);
        wb_checkpoint();
    }
    return 0;
}

// ---- In the order of their numbers again --------------------------------------------------------

int enqueue(struct wb_task *self)
{
    const struct packets *packets = packets_of(self);
    struct stage *stage = task_keep(self, sizeof *stage);
    struct wb_port *out = task_port(self, "out", 0, packet_bytes(packets)), *lane[LANES_MAX];
    const uint32_t lanes = wb_port_count(self, "in");
    const struct packet *packet;

    if (lanes == 0 || lanes > LANES_MAX)
        wb_task_fail(self, "its port in must be bound to 1 to 8 channels");
    for (uint32_t i = 0; i < lanes; i++)
        lane[i] = task_port(self, "in", i, packet_bytes(packets));
    while ((packet = packet_hold(lane[stage->next % lanes], stage->next)) != NULL) {
        struct wb_port *in = lane[stage->next % lanes];

        if (!transform(self, packet, out, packet->bytes, copy))
            break;
        stage->next = packet->number + 1;
        wb_port_release(in);
        wb_checkpoint();
    }
    return 0;
}

// ---- Where they go ------------------------------------------------------------------------------

// Where computing is modelled there is nothing to look at: packets go everywhere in turns.
static enum action classify(struct wb_task *self, const struct packet *packet)
{
    if (!wb_compute(self))
        return (enum action)(packet->number % ACTIONS);
    if (packet->damaged)
        return DISCARD;
    return rules_apply(&packets_of(self)->rules, packet->data, packet->bytes);
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
    struct wb_port *in = task_port(self, "in", 0, bytes);
    struct wb_port *out[ACTIONS] = { task_port(self, "forward", 0, bytes),
                                     task_port(self, "store", 0, bytes),
                                     task_port(self, "discard", 0, bytes) };
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
