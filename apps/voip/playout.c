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
    playout->is_known = false;
    playout->next = number;
    playout->waiting = playout->depth;
    playout->missing = playout->strangers = playout->quiet = 0;
}

void playout_leave(struct playout *playout)
{
    playout->is_running = playout->is_known = false;
    playout->missing = 0;
}

// True when a packet continues a stream that had stopped. No more can be lost than its time.
static bool is_resumed(struct playout *playout, uint16_t number, bool begins)
{
    const uint16_t gap = (uint16_t)(number - playout->expected);
    const bool is_ahead = (int16_t)(uint16_t)(number - playout->next) >= 0;

    if (playout->is_running &&
        !(begins && playout->missing > 0 && (is_ahead || (playout->is_known && gap == 0))))
        return false;
    if (playout->is_known && (int16_t)gap >= 0)
        playout->lost += gap < playout->missing ? gap : playout->missing;
    return true;
}

// True when the packet has a place in the stream, or is the first of a new one.
static bool is_placed(struct playout *playout, uint16_t number, bool begins)
{
    const int16_t ahead = (int16_t)(uint16_t)(number - playout->next);

    if (is_resumed(playout, number, begins)) {
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

void playout_put(struct playout *playout, uint16_t number, bool begins, int codec,
                 const void *payload, size_t bytes)
{
    if (bytes > CODEC_PAYLOAD_BYTES || !is_placed(playout, number, begins))
        return;
    struct playout_packet *packet = slot(playout, number);
    if (packet->is_there) {
        playout->twice++;
        return;
    }
    if (!playout->is_known || (int16_t)(uint16_t)(number - playout->expected) >= 0)
        playout->expected = (uint16_t)(number + 1);
    playout->is_known = true;
    packet->is_there = true;
    packet->number = number;
    packet->codec = (uint8_t)codec;
    packet->bytes = (uint16_t)bytes;
    if (bytes > 0)
        memcpy(packet->payload, payload, bytes);
}

static void take_out(struct playout *playout, struct playout_packet *packet)
{
    packet->is_there = false;
    playout->next++;
    playout->lost += playout->missing;
    playout->missing = 0;
}

enum playout_next playout_take(struct playout *playout, const struct playout_packet **packet)
{
    struct playout_packet *due;

    playout->missing += !playout->is_running;
    if (!playout->is_running)
        return PLAYOUT_NOTHING;
    if (playout->waiting > 0) {
        playout->waiting--;
        return PLAYOUT_NOTHING;
    }
    while ((due = slot(playout, playout->next))->is_there && due->bytes == 0) {
        take_out(playout, due);
        playout->quiet += playout->quiet == 0;
    }
    if (due->is_there) {
        // After a pause packets wait again, as at the beginning.
        const bool is_paused = playout->quiet > 1 && playout->depth > 0;
        playout->quiet = 0;
        if (is_paused) {
            playout->waiting = playout->depth - 1;
            return PLAYOUT_NOTHING;
        }
        take_out(playout, due);
        *packet = due;
        return PLAYOUT_PACKET;
    }
    if (playout->quiet > 0 && playout->expected == playout->next) {
        playout->is_running = ++playout->quiet <= MISSING_MAX;
        return PLAYOUT_NOTHING;
    }
    playout->next++;
    // The end of a talk is no loss: it is not known which of the two it is until more comes.
    playout->is_running = ++playout->missing < MISSING_MAX;
    return PLAYOUT_LOST;
}
