// SPDX-License-Identifier: Apache-2.0
#include "playout.h"

#include <string.h>

enum { STRANGERS_MAX = 3, MISSING_MAX = 10 };

static struct playout_packet *slot(struct playout *playout, uint16_t number)
{
    return &playout->packets[number % PLAYOUT_SLOTS];
}

void playout_start(struct playout *playout, uint32_t depth)
{
    memset(playout, 0, sizeof *playout);
    playout->depth = depth;
}

static void begin(struct playout *playout, uint16_t number)
{
    for (uint32_t i = 0; i < PLAYOUT_SLOTS; i++)
        playout->packets[i].is_there = false;
    playout->is_running = true;
    playout->next = number;
    playout->waiting = playout->depth;
    playout->missing = playout->strangers = 0;
}

// True when the packet has a place in the stream, or is the first of a new one.
static bool is_placed(struct playout *playout, uint16_t number, bool begins)
{
    const int16_t ahead = (int16_t)(uint16_t)(number - playout->next);

    if (!playout->is_running || (begins && ahead >= 0 && playout->missing > 0)) {
        begin(playout, number);
        return true;
    }
    if (ahead >= 0 && ahead < PLAYOUT_SLOTS) {
        playout->strangers = 0;
        return true;
    }
    playout->late += ahead < 0;
    if (++playout->strangers < STRANGERS_MAX)
        return false;
    begin(playout, number);
    return true;
}

void playout_put(struct playout *playout, uint16_t number, bool begins, const void *payload,
                 size_t bytes)
{
    if (bytes > CODEC_PAYLOAD_BYTES || !is_placed(playout, number, begins))
        return;
    struct playout_packet *packet = slot(playout, number);
    if (packet->is_there) {
        playout->twice++;
        return;
    }
    packet->is_there = true;
    packet->number = number;
    packet->bytes = (uint16_t)bytes;
    memcpy(packet->payload, payload, bytes);
}

enum playout_next playout_take(struct playout *playout, const struct playout_packet **packet)
{
    struct playout_packet *due = slot(playout, playout->next);

    if (!playout->is_running)
        return PLAYOUT_NOTHING;
    if (playout->waiting > 0) {
        playout->waiting--;
        return PLAYOUT_NOTHING;
    }
    playout->next++;
    if (due->is_there) {
        due->is_there = false;
        playout->missing = 0;
        *packet = due;
        return PLAYOUT_PACKET;
    }
    // The end of a talk is no loss: it is not known which of the two it is until more comes.
    playout->is_running = ++playout->missing < MISSING_MAX;
    playout->lost++;
    return PLAYOUT_LOST;
}
