// SPDX-License-Identifier: Apache-2.0
// The serial line to a board, as the board reads it: pieces with a right checksum, which a random
// input would not have, and any other bytes, while it writes and time passes.

#include <stdio.h>

#include "link.h"
#include "target.h"

enum { SESSION = 0x5eed0001, MS_NS = 1000000 };

struct input {
    const uint8_t *data;
    size_t bytes;
};

static uint8_t byte(struct input *input)
{
    if (input->bytes == 0)
        return 0;
    input->bytes--;
    return *input->data++;
}

static uint16_t number(struct input *input)
{
    const uint8_t high = byte(input);

    return (uint16_t)(high << 8 | byte(input));
}

// Some bytes of the input, as many as its next byte says.
static const char *some(struct input *input, size_t *n)
{
    const size_t wanted = byte(input);
    const char *from = (const char *)input->data;

    *n = wanted < input->bytes ? wanted : input->bytes;
    input->data += *n;
    input->bytes -= *n;
    return from;
}

static void put(const char *bytes, size_t n)
{
    MUST(n >= LINK_TAIL_BYTES && n <= LINK_FRAME_BYTES && bytes[n - 1] == '\n');
}

// CRC-32 (IEEE 802.3), continued from `crc`.
static uint32_t crc32(uint32_t crc, const char *bytes, size_t n)
{
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned char)bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

static void take_piece(struct link *link, struct input *input, uint64_t now_ns)
{
    static const char kinds[] = ".+=?!";
    char frame[255 + LINK_TAIL_BYTES + 1];
    const char kind = kinds[byte(input) % (sizeof kinds - 1)];
    const uint16_t piece = kind == '!' ? SESSION >> 16 : number(input);
    const uint16_t ack = kind == '!' ? SESSION & 0xffff : number(input);
    size_t n;
    const char *text = some(input, &n);

    memcpy(frame, text, n);
    snprintf(frame + n, sizeof frame - n, "\t%c%04x%04x", kind, piece, ack);
    const uint32_t crc = crc32(kind == '!' ? 0 : SESSION, frame, n + 10);
    snprintf(frame + n + 10, sizeof frame - n - 10, "%08x\n", crc);
    link_take(link, frame, n + LINK_TAIL_BYTES, now_ns);
}

static void take(struct link *link, struct input *input, uint64_t now_ns)
{
    size_t n;
    const char *bytes = some(input, &n);

    link_take(link, bytes, n, now_ns);
}

static void write_some(struct link *link, struct input *input, uint64_t now_ns)
{
    size_t n;
    const size_t room = link_room(link);
    const char *bytes = some(input, &n);
    const size_t taken = link_write(link, bytes, n, now_ns);
    const char *end = memchr(bytes, '\n', n);
    const bool is_one_line = end == NULL || end == bytes + n - 1;

    MUST(taken <= n && (taken == n || !is_one_line || taken >= room));
}

static void read_some(struct link *link, struct input *input)
{
    char bytes[255];
    const size_t n = byte(input);

    MUST(link_read(link, bytes, n) <= n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct link link;
    struct input input = { data, bytes };
    uint64_t now_ns = MS_NS;

    link = (struct link){ .put = put };
    while (input.bytes != 0) {
        switch (byte(&input) % 5) {
        case 0:
            take(&link, &input, now_ns);
            break;
        case 1:
            take_piece(&link, &input, now_ns);
            break;
        case 2:
            write_some(&link, &input, now_ns);
            break;
        case 3:
            read_some(&link, &input);
            break;
        default:
            now_ns += byte(&input) * 20ull * MS_NS;
            link_tick(&link, now_ns);
        }
    }
    (void)link_is_done(&link);
    return 0;
}
