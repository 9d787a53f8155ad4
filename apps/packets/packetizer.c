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
    struct capture capture;
};

struct packetizer {
    struct place place[2];
    uint32_t now;
    bool begun;
    uint8_t frame[];
};

static struct capture_record read_record(struct wb_task *self, struct place *place)
{
    const struct packets *packets = packets_of(self);
    const struct capture_file input = packets_input(packets);
    char why[CAPTURE_WHY_BYTES] = "the input was truncated during the run";
    struct capture_record record;

    if (capture_next(&place->capture, &input, place->next % packets->captured + 1, &record, why) !=
        CAPTURE_PACKET)
        wb_task_fail(self, why);
    if (record.bytes > packets->frame_bytes)
        wb_task_fail(self, "the input was changed during the run");
    return record;
}

static void read_frame(struct wb_task *self, uint8_t *frame, const struct capture_record *record)
{
    char why[CAPTURE_WHY_BYTES];
    const int64_t n = file_read_at(&packets_of(self)->input, frame, record->bytes, record->place);

    if (n == (int64_t)record->bytes)
        return;
    snprintf(why, sizeof why, "cannot read the input at byte %lu: %s", (unsigned long)record->place,
             n < 0 ? strerror(errno) : "the file was truncated during the run");
    wb_task_fail(self, why);
}

static void put_fcs(uint8_t *frame, uint32_t bytes)
{
    const uint32_t fcs = crc32_of(0, frame, bytes);

    for (int i = 0; i < FCS_BYTES; i++)
        frame[bytes + (uint32_t)i] = (uint8_t)(fcs >> 8 * i);
}

static void transmit(struct wb_task *self, uint8_t *frame, const struct capture_record *record,
                     struct packet *packet)
{
    const struct packets *packets = packets_of(self);

    read_frame(self, frame, record);
    put_fcs(frame, record->bytes);
    coding_encode(frame, record->bytes + FCS_BYTES, packet->data);
    medium_pass(&packets->medium, packet->number, packet->data, packet->bytes);
}

static bool give(struct wb_task *self, struct packetizer *packetizer, struct wb_port *out)
{
    const struct packets *packets = packets_of(self);
    struct place *place = &packetizer->place[1 - packetizer->now];

    place->next = packetizer->place[packetizer->now].next;
    capture_copy(&place->capture, &packetizer->place[packetizer->now].capture);
    const struct capture_record record = read_record(self, place);
    const struct packet packet = { .number = place->next,
                                   .seconds = record.seconds,
                                   .fraction = record.fraction,
                                   .bytes = (record.bytes + FCS_BYTES) * CODING_RATE,
                                   .original = record.original,
                                   .link = record.link };
    struct packet *made = packet_claim(out, &packet);

    if (!made)
        return false;
    if (wb_compute(self))
        transmit(self, packetizer->frame, &record, made);
    if (wb_port_commit(out) != WB_OK)
        return false;
    if (++place->next % packets->captured == 0)
        capture_copy(&place->capture, &packets->capture);
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

    if (!packetizer->begun)
        packetizer->place[0].capture = packets->capture;
    packetizer->begun = true;
    while (!wb_stopping(self)) {
        const uint32_t next = packetizer->place[packetizer->now].next;

        if (next == packets->captured * packets->plays ||
            !give(self, packetizer, lane[next % lanes]))
            break;
        wb_checkpoint();
    }
    return 0;
}
