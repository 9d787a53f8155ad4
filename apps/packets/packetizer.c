// SPDX-License-Identifier: Apache-2.0
// The packetizer: takes what comes from the medium and gives it to the decoders in turns, packet by
// packet.
//
// The medium is modelled here: a frame of the capture gets its FCS, is coded, and passes.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/crc32.h"
#include "common/tasks.h"
#include "packets.h"

// Where it is: written beside what holds, then chosen by one store.
struct place {
    uint32_t next;  // packet
    uint64_t at;    // of its record in the file
};

struct packetizer {
    struct place place[2];
    uint32_t now;
    uint8_t frame[];
};

static void read_from(struct wb_task *self, void *data, size_t bytes, uint64_t place)
{
    char why[CAPTURE_WHY_BYTES];
    const int64_t n = file_read_at(&packets_of(self)->input, data, bytes, place);

    if (n == (int64_t)bytes)
        return;
    snprintf(why, sizeof why, "cannot read the input at byte %lu: %s", (unsigned long)place,
             n < 0 ? strerror(errno) : "the file was truncated during the run");
    wb_task_fail(self, why);
}

static struct capture_record read_record(struct wb_task *self, const struct place *place)
{
    const struct packets *packets = packets_of(self);
    uint8_t header[CAPTURE_RECORD_BYTES];
    char why[CAPTURE_WHY_BYTES];
    struct capture_record record;

    read_from(self, header, sizeof header, place->at);
    if (!capture_next(&packets->capture, header, packets->input.bytes - place->at,
                      place->next % packets->captured + 1, &record, why))
        wb_task_fail(self, why);
    if (record.bytes > packets->frame_bytes)
        wb_task_fail(self, "the input was changed during the run");
    return record;
}

static void put_fcs(uint8_t *frame, uint32_t bytes)
{
    const uint32_t fcs = crc32_of(0, frame, bytes);

    for (int i = 0; i < FCS_BYTES; i++)
        frame[bytes + (uint32_t)i] = (uint8_t)(fcs >> 8 * i);
}

static void transmit(struct wb_task *self, uint8_t *frame, const struct place *place,
                     struct packet *packet)
{
    const struct packets *packets = packets_of(self);
    const uint32_t bytes = packet->bytes / CODING_RATE;

    read_from(self, frame, bytes - FCS_BYTES, place->at + CAPTURE_RECORD_BYTES);
    put_fcs(frame, bytes - FCS_BYTES);
    coding_encode(frame, bytes, packet->data);
    medium_pass(&packets->medium, place->next, packet->data, packet->bytes);
}

// The place of the packet after this one.
static void advance(const struct packets *packets, const struct place *from, uint32_t bytes,
                    struct place *to)
{
    to->next = from->next + 1;
    to->at = to->next % packets->captured == 0 ? CAPTURE_HEADER_BYTES
                                               : from->at + CAPTURE_RECORD_BYTES + bytes;
}

static bool give(struct wb_task *self, struct packetizer *packetizer, struct wb_port *out)
{
    const struct place *place = &packetizer->place[packetizer->now];
    const struct capture_record record = read_record(self, place);
    const struct packet packet = { .number = place->next,
                                   .seconds = record.seconds,
                                   .fraction = record.fraction,
                                   .bytes = (record.bytes + FCS_BYTES) * CODING_RATE };
    struct packet *made = packet_claim(out, &packet);

    if (!made)
        return false;
    if (wb_compute(self))
        transmit(self, packetizer->frame, place, made);
    if (wb_port_commit(out) != WB_OK)
        return false;
    advance(packets_of(self), place, record.bytes, &packetizer->place[1 - packetizer->now]);
    packetizer->now = 1 - packetizer->now;
    return true;
}

int packetizer(struct wb_task *self)
{
    const struct packets *packets = packets_of(self);
    struct packetizer *packetizer =
        task_keep(self, sizeof *packetizer + packets->frame_bytes + FCS_BYTES);
    struct wb_port *lane[PACKET_LANES_MAX];
    const uint32_t lanes = packet_lanes(self, "out", packet_coded_bytes(packets), lane);

    if (packetizer->place[packetizer->now].at == 0)
        packetizer->place[packetizer->now].at = CAPTURE_HEADER_BYTES;
    while (!wb_stopping(self)) {
        const uint32_t next = packetizer->place[packetizer->now].next;

        if (next == packets->captured * packets->plays ||
            !give(self, packetizer, lane[next % lanes]))
            break;
        wb_checkpoint();
    }
    return 0;
}
