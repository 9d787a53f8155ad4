// SPDX-License-Identifier: Apache-2.0
// The last tasks: forward writes packets to another capture, store keeps them in memory, discard
// counts why they go no further, and writes those that a rule discards.
//
// A tally is written beside what holds, then chosen by one store: so each packet counts once,
// though a kernel dies.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/crc32.h"
#include "common/tasks.h"
#include "packets.h"

struct progress {
    uint32_t next;   // packet
    uint64_t place;  // in its capture, of the next
    struct tally tally;
};

struct output {
    struct progress progress[2];
    uint32_t now;
};

typedef enum cause treatment(struct wb_task *self, struct progress *progress,
                             const struct packet *packet);

// What is before and behind the data of a packet in a capture.
struct envelope {
    uint8_t head[CAPTURE_HEAD_BYTES], tail[CAPTURE_TAIL_BYTES];
    size_t head_bytes, tail_bytes;
};

static struct envelope envelop(const struct packets *packets, const struct packet *packet)
{
    const struct capture_record record = { .seconds = packet->seconds,
                                           .fraction = packet->fraction,
                                           .bytes = packet->bytes,
                                           .original = packet->original,
                                           .link = packet->link };
    struct envelope made;

    made.head_bytes =
        capture_put_record(&packets->form, &record, made.head, made.tail, &made.tail_bytes);
    return made;
}

static void write_packet(struct wb_task *self, enum action action, struct progress *progress,
                         const struct packet *packet)
{
    const struct file *file = &packets_of(self)->output[action];
    const struct envelope around = envelop(packets_of(self), packet);
    const uint64_t data = progress->place + around.head_bytes, tail = data + packet->bytes;
    char why[CAPTURE_WHY_BYTES];

    if (!file_write_at(file, around.head, around.head_bytes, progress->place) ||
        !file_write_at(file, packet->data, packet->bytes, data) ||
        !file_write_at(file, around.tail, around.tail_bytes, tail)) {
        snprintf(why, sizeof why, "cannot write its output: %s", strerror(errno));
        wb_task_fail(self, why);
    }
    progress->place = tail + around.tail_bytes;
}

static enum cause forward_packet(struct wb_task *self, struct progress *progress,
                                 const struct packet *packet)
{
    write_packet(self, FORWARD, progress, packet);
    return CAUSES;
}

static enum cause store_packet(struct wb_task *self, struct progress *progress,
                               const struct packet *packet)
{
    struct packets *packets = packets_of(self);
    const struct envelope around = envelop(packets, packet);
    const uint64_t data = progress->place + around.head_bytes, tail = data + packet->bytes;
    const uint64_t end = tail + around.tail_bytes;

    if (end > packets->store_bytes)
        return NO_ROOM;
    memcpy(packets->stored + progress->place, around.head, around.head_bytes);
    memcpy(packets->stored + data, packet->data, packet->bytes);
    memcpy(packets->stored + tail, around.tail, around.tail_bytes);
    progress->place = end;
    packets->stored_bytes = (uint32_t)end;
    return CAUSES;
}

static enum cause discard_packet(struct wb_task *self, struct progress *progress,
                                 const struct packet *packet)
{
    if (packet->damaged)
        return DAMAGED;
    write_packet(self, DISCARD, progress, packet);
    return BY_RULE;
}

static void take(struct wb_task *self, enum action action, struct output *output,
                 const struct packet *packet, treatment *treat)
{
    struct progress *progress = &output->progress[1 - output->now];
    struct tally *tally = &progress->tally;

    *progress = output->progress[output->now];
    tally->packets++;
    tally->corrected += packet->corrected;
    if (wb_compute(self)) {
        const enum cause cause = treat(self, progress, packet);

        if (cause != CAUSES)
            tally->cause[cause]++;
        if (cause != NO_ROOM && cause != DAMAGED) {
            tally->bytes += packet->bytes;
            tally->crc = crc32_of(tally->crc, packet->data, packet->bytes);
        }
    }
    progress->next = packet->number + 1;
    output->now = 1 - output->now;
    packets_of(self)->tally[action] = *tally;
}

static int run(struct wb_task *self, enum action action, uint64_t place, treatment *treat)
{
    struct output *output = task_keep(self, sizeof *output);
    struct wb_port *in = wb_port_find_room(self, "in", 0, packet_bytes(packets_of(self)));
    const struct packet *packet;

    if (output->progress[output->now].next == 0)
        output->progress[output->now].place = place;
    while ((packet = packet_hold(in, output->progress[output->now].next)) != NULL) {
        take(self, action, output, packet, treat);
        wb_port_release(in);
        wb_checkpoint();
    }
    return 0;
}

int forward(struct wb_task *self)
{
    return run(self, FORWARD, packets_of(self)->header_bytes, forward_packet);
}

int store(struct wb_task *self)
{
    return run(self, STORE, 0, store_packet);
}

int discard(struct wb_task *self)
{
    return run(self, DISCARD, packets_of(self)->header_bytes, discard_packet);
}
