// SPDX-License-Identifier: Apache-2.0
#include "link.h"

#include <string.h>

#define MS 1000000ull

// A command that is there answers at once. The longest wait is for one that the machine holds up.
// It has gone once all was sent again so many times in vain, which takes 15 s: counted, because the
// clock alone goes on while a machine stands still.
#define PATIENCE_NS (500 * MS)
#define MOST_PATIENCE_NS (4000 * MS)
#define VAIN_MOST 5

enum kind {
    LAST = '.',   // the end of a line
    MORE = '+',   // a part of one
    ACK = '=',    // nothing but an acknowledgement
    AGAIN = '?',  // the same: send again from there
    OPEN = '!',   // the command begins; both numbers are the session's name
};

// ---- Text ---------------------------------------------------------------------------------------

// CRC-32 (IEEE 802.3), continued from `crc`, by half bytes: 64 bytes of table.
static uint32_t crc32(uint32_t crc, const char *bytes, size_t n)
{
    static const uint32_t table[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                        0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };

    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned char)bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static void put_hex(char *to, uint32_t number, int digits)
{
    for (int i = 0; i < digits; i++)
        to[i] = "0123456789abcdef"[number >> (4 * (digits - 1 - i)) & 15];
}

static bool get_hex(const char *from, int digits, uint32_t *number)
{
    *number = 0;
    for (int i = 0; i < digits; i++) {
        const char c = from[i];
        const bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
        if (!digit && !letter)
            return false;
        *number = *number << 4 | (uint32_t)(digit ? c - '0' : c - 'a' + 10);
    }
    return true;
}

// ---- Sending ------------------------------------------------------------------------------------

static uint16_t distance(uint16_t from, uint16_t to)
{
    return (uint16_t)(to - from);
}

static void send(struct link *link, char kind, uint16_t number, const char *text, size_t bytes)
{
    char frame[LINK_FRAME_BYTES];
    char *tail = frame + bytes;

    memcpy(frame, text, bytes);
    tail[0] = '\t';
    tail[1] = kind;
    put_hex(tail + 2, number, 4);
    put_hex(tail + 6, link->expected, 4);
    put_hex(tail + 10, crc32(link->session, frame, bytes + 10), 8);
    tail[18] = '\n';
    link->owes = false;
    link->put(frame, bytes + LINK_TAIL_BYTES);
}

static void send_piece(struct link *link, uint16_t number)
{
    const struct link_piece *piece = &link->window[number % LINK_WINDOW];

    send(link, piece->kind, number, piece->text, piece->bytes);
}

// What may be under way, is.
static void fly(struct link *link)
{
    while (link->sent != link->next && distance(link->first, link->sent) < LINK_FLIGHT)
        send_piece(link, link->sent++);
}

static void send_again(struct link *link, uint64_t now_ns)
{
    link->resend_ns = now_ns + link->patience_ns;
    link->sent = link->first;
    fly(link);
}

// Once for each piece: what is under way meanwhile asks for nothing. Where that fails, the other
// side's patience ends.
static void ask_again(struct link *link)
{
    link->asked = true;
    send(link, AGAIN, link->next, "", 0);
}

static bool has_slot(const struct link *link)
{
    return distance(link->first, link->next) < LINK_WINDOW;
}

// False while there is no room for it.
static bool close_piece(struct link *link, char kind, uint64_t now_ns)
{
    // Before a command has spoken, no more is kept than fits.
    if (link->gone || (link->session == 0 && !has_slot(link))) {
        link->open.bytes = 0;
        return true;
    }
    if (!has_slot(link))
        return false;
    if (link->first == link->next) {
        link->patience_ns = PATIENCE_NS;
        link->vain = 0;
        link->resend_ns = now_ns + PATIENCE_NS;
    }
    link->open.kind = kind;
    link->window[link->next % LINK_WINDOW] = link->open;
    link->open.bytes = 0;
    link->next++;
    if (link->session != 0)
        fly(link);
    return true;
}

size_t link_write(struct link *link, const char *from, size_t bytes, uint64_t now_ns)
{
    for (size_t n = 0; n < bytes; n++) {
        if (from[n] == '\n') {
            if (!close_piece(link, LAST, now_ns))
                return n;
            continue;
        }
        if (link->open.bytes == LINK_PIECE_BYTES && !close_piece(link, MORE, now_ns))
            return n;
        link->open.text[link->open.bytes++] = from[n];
    }
    return bytes;
}

size_t link_room(const struct link *link)
{
    const size_t slots = LINK_WINDOW - distance(link->first, link->next);

    return slots > 1 ? (slots - 1) * LINK_PIECE_BYTES : 0;
}

bool link_is_done(const struct link *link)
{
    return link->gone || link->first == link->next;
}

// ---- Receiving ----------------------------------------------------------------------------------

// The command begins. In a session, another one has come: it is to be told that this run is over.
static void take_open(struct link *link, uint32_t session, uint64_t now_ns)
{
    if (link->session != 0 && link->session != session) {
        link->replaced = true;
        return;
    }
    if (link->session == 0) {
        link->session = session;
        send_again(link, now_ns);
    }
    link->owes = true;
}

static void take_ack(struct link *link, uint16_t ack, uint64_t now_ns)
{
    const uint16_t done = distance(link->first, ack);

    link->vain = 0;
    if (done == 0 || done > distance(link->first, link->next))
        return;
    if (distance(link->first, link->sent) < done)
        link->sent = ack;
    link->first = ack;
    link->patience_ns = PATIENCE_NS;
    link->resend_ns = now_ns + PATIENCE_NS;
    fly(link);
}

static void queue_up(struct link *link, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        link->queue[link->queue_after++ % LINK_QUEUE_BYTES] = text[i];
}

static void take_piece(struct link *link, char kind, uint16_t number, const char *text,
                       size_t bytes)
{
    const uint16_t ahead = distance(link->expected, number);

    link->owes = true;
    if (ahead >= LINK_WINDOW)
        return;  // it has come before
    if (ahead != 0) {
        // The numbers of what is under way rise. Where they fall it was sent again, in vain.
        if (!link->asked || distance(link->seen, number) >= LINK_WINDOW || number == link->seen)
            ask_again(link);
        link->seen = number;
        return;
    }
    // What nobody reads waits at the other side.
    if (bytes + 1 > LINK_QUEUE_BYTES - (link->queue_after - link->queue_first))
        return;
    queue_up(link, text, bytes);
    if (kind == LAST)
        queue_up(link, "\n", 1);
    link->expected++;
    link->asked = false;
}

// Where the tail of a frame begins that is whole; NULL: something has changed it on its way.
static const char *tail_of(const struct link *link, uint32_t *number, uint32_t *ack)
{
    const size_t bytes = link->frame_bytes;
    const char *tail = link->frame + bytes - (LINK_TAIL_BYTES - 1);
    uint32_t crc;

    if (link->overlong || bytes < LINK_TAIL_BYTES - 1 || tail[0] != '\t' ||
        !get_hex(tail + 2, 4, number) || !get_hex(tail + 6, 4, ack) || !get_hex(tail + 10, 8, &crc))
        return NULL;
    return crc == crc32(tail[1] == OPEN ? 0 : link->session, link->frame, bytes - 8) ? tail : NULL;
}

static void take_damaged(struct link *link)
{
    static const char start[] = "{\"start\":";

    if (link->session == 0) {
        link->old_command |= link->frame_bytes >= sizeof start - 1 &&
                             memcmp(link->frame, start, sizeof start - 1) == 0;
        return;
    }
    if (!link->asked)
        ask_again(link);
}

static void take_frame(struct link *link, uint64_t now_ns)
{
    uint32_t number, ack;
    const char *tail = tail_of(link, &number, &ack);

    if (tail == NULL || (link->session == 0 && tail[1] != OPEN)) {
        take_damaged(link);
        return;
    }
    if (tail[1] == OPEN) {
        take_open(link, number << 16 | ack, now_ns);
        return;
    }
    take_ack(link, (uint16_t)ack, now_ns);
    if (tail[1] == AGAIN)
        send_again(link, now_ns);
    if (tail[1] == LAST || tail[1] == MORE)
        take_piece(link, tail[1], (uint16_t)number, link->frame, (size_t)(tail - link->frame));
}

void link_take(struct link *link, const char *bytes, size_t n, uint64_t now_ns)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n') {
            if (link->frame_bytes != 0)
                take_frame(link, now_ns);
            link->frame_bytes = 0;
            link->overlong = false;
        } else if (link->frame_bytes == sizeof link->frame) {
            link->overlong = true;
        } else {
            link->frame[link->frame_bytes++] = bytes[i];
        }
    }
}

void link_tick(struct link *link, uint64_t now_ns)
{
    if (link->session == 0 || link->gone)
        return;
    if (link->first != link->next && now_ns >= link->resend_ns) {
        if (link->vain++ == VAIN_MOST) {
            link->gone = true;
            link->first = link->sent = link->next;
            return;
        }
        if (link->patience_ns < MOST_PATIENCE_NS)
            link->patience_ns *= 2;
        send_again(link, now_ns);
    }
    if (link->owes)
        send(link, ACK, link->next, "", 0);
}

size_t link_read(struct link *link, char *to, size_t bytes)
{
    size_t n = 0;

    for (; n < bytes && link->queue_first != link->queue_after; n++)
        to[n] = link->queue[link->queue_first++ % LINK_QUEUE_BYTES];
    return n;
}
