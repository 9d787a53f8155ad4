// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <stdio.h>
#include <string.h>

#define CURE "tcpdump -r FILE -w NAME.pcap makes one of what it can read"

#define MAGIC_US 0xa1b2c3d4U
#define MAGIC_NS 0xa1b23c4dU
#define MAGIC_NG 0x0a0d0d0aU

enum { SNAPSHOT = 262144, ETHERNET = 1 };  // SNAPSHOT: what tcpdump writes

static uint32_t little(const uint8_t *at)
{
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static uint32_t number_at(const struct capture *capture, const uint8_t *at)
{
    return capture->swapped ? __builtin_bswap32(little(at)) : little(at);
}

static bool refuse(char *why, const char *text)
{
    snprintf(why, CAPTURE_WHY_BYTES, "%s", text);
    return false;
}

static bool read_magic(struct capture *capture, uint32_t magic)
{
    capture->swapped = __builtin_bswap32(magic) == MAGIC_US || __builtin_bswap32(magic) == MAGIC_NS;
    if (capture->swapped)
        magic = __builtin_bswap32(magic);
    capture->nanoseconds = magic == MAGIC_NS;
    return magic == MAGIC_US || magic == MAGIC_NS;
}

bool capture_open(struct capture *capture, const uint8_t *header, size_t bytes,
                  char why[CAPTURE_WHY_BYTES])
{
    if (bytes == 0)
        return refuse(why, "it is empty");
    if (bytes >= 4 && little(header) == MAGIC_NG)
        return refuse(why, "it is a pcapng file; " CURE);
    if (bytes < 4 || !read_magic(capture, little(header)))
        return refuse(why, "it is not a pcap file; " CURE);
    if (bytes < CAPTURE_HEADER_BYTES)
        return refuse(why, "it ends inside its header: get a complete copy");
    const uint32_t link = number_at(capture, header + 20);
    if (link == ETHERNET)
        return true;
    snprintf(why, CAPTURE_WHY_BYTES,
             "its packets have link type %lu, not 1: capture at an interface of Ethernet",
             (unsigned long)link);
    return false;
}

bool capture_next(const struct capture *capture, const uint8_t *header, uint64_t left,
                  uint32_t number, struct capture_record *record, char why[CAPTURE_WHY_BYTES])
{
    const bool complete = left >= CAPTURE_RECORD_BYTES;
    const uint32_t bytes = complete ? number_at(capture, header + 8) : 0;
    const uint32_t original = complete ? number_at(capture, header + 12) : 0;

    if (!complete || bytes > left - CAPTURE_RECORD_BYTES)
        snprintf(why, CAPTURE_WHY_BYTES, "packet %lu is truncated or damaged: get a complete copy",
                 (unsigned long)number);
    else if (bytes < original)
        snprintf(why, CAPTURE_WHY_BYTES,
                 "packet %lu has %lu of its %lu bytes: capture whole packets (tcpdump -s 0)",
                 (unsigned long)number, (unsigned long)bytes, (unsigned long)original);
    else {
        *record = (struct capture_record){ .seconds = number_at(capture, header),
                                           .fraction = number_at(capture, header + 4),
                                           .bytes = bytes };
        return true;
    }
    return false;
}

static void put(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

void capture_put_header(const struct capture *capture, uint8_t header[CAPTURE_HEADER_BYTES])
{
    memset(header, 0, CAPTURE_HEADER_BYTES);
    put(header, capture->nanoseconds ? MAGIC_NS : MAGIC_US);
    header[4] = 2;  // the format's version, 2.4
    header[6] = 4;
    put(header + 16, SNAPSHOT);
    put(header + 20, ETHERNET);
}

void capture_put_record(const struct capture_record *record, uint8_t header[CAPTURE_RECORD_BYTES])
{
    put(header, record->seconds);
    put(header + 4, record->fraction);
    put(header + 8, record->bytes);
    put(header + 12, record->bytes);
}
