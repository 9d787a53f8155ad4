// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CURE "tcpdump -r FILE -w NAME.pcap makes one of what it can read"

#define MAGIC_US 0xa1b2c3d4U
#define MAGIC_NS 0xa1b23c4dU
#define MAGIC_ORDER 0x1a2b3c4dU

// Of the format of libpcap.
enum { FILE_HEAD = 24, RECORD_HEAD = 16, SNAPSHOT = 262144 };  // SNAPSHOT: what tcpdump writes

// Of pcapng: kinds of blocks, their options, and where their fields are.
enum {
    BLOCK_SECTION = 0x0a0d0d0a,
    BLOCK_INTERFACE = 1,
    BLOCK_OLD_PACKET = 2,
    BLOCK_SIMPLE_PACKET = 3,
    BLOCK_PACKET = 6,
    BLOCK_LEAST = 12,  // kind, length, and the length once more
    BLOCK_MOST = 16 << 20,
    BLOCK_HEAD = 28,  // of the longest head that there is
    OPTION_RESOLUTION = 9,
    OPTION_FCS = 13,
    OPTION_OFFSET = 14,
    OPTION_FLAGS = 2,
    OPTIONS_MOST = 64,  // that are looked at: there are 18 kinds
    MICROSECONDS = 6,   // a resolution
    ETHERNET_FCS = 4
};

static const struct {
    const char *bytes;
    size_t n;
    const char *says;
} others[] = {
    { "\x1f\x8b", 2, "it is compressed by gzip: gzip -dc FILE > NAME.pcap" },
    { "\x28\xb5\x2f\xfd", 4, "it is compressed by Zstandard: zstd -dc FILE > NAME.pcap" },
    { "\xfd"
      "7zXZ",
      5, "it is compressed by xz: xz -dc FILE > NAME.pcap" },
    { "BZh", 3, "it is compressed by bzip2: bzip2 -dc FILE > NAME.pcap" },
    { "\x04\x22\x4d\x18", 4, "it is compressed by LZ4: lz4 -dc FILE > NAME.pcap" },
    { "PK\3\4", 4, "it is a ZIP archive: unpack it" },
};

static uint32_t little(const uint8_t *at)
{
    return (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
}

static uint32_t number_at(const struct capture *capture, const uint8_t *at)
{
    return capture->swapped ? __builtin_bswap32(little(at)) : little(at);
}

static uint32_t half_at(const struct capture *capture, const uint8_t *at)
{
    return capture->swapped ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

static bool refuse(char *why, const char *text)
{
    snprintf(why, CAPTURE_WHY_BYTES, "%s", text);
    return false;
}

static enum capture_status bad(uint32_t number, const char *text, char *why)
{
    snprintf(why, CAPTURE_WHY_BYTES, "packet %lu %s: get a complete copy", (unsigned long)number,
             text);
    return CAPTURE_BAD;
}

static enum capture_status unreadable(uint32_t number, char *why)
{
    snprintf(why, CAPTURE_WHY_BYTES, "packet %lu cannot be read: %s", (unsigned long)number,
             strerror(errno));
    return CAPTURE_BAD;
}

// What is at the next place, zeros behind the end of the file.
static int64_t look(const struct capture *capture, const struct capture_file *file, uint8_t *head,
                    size_t bytes)
{
    memset(head, 0, bytes);
    return file->read(file->file, head, bytes, capture->at);
}

// What a file has where its machine lost its power before all was written.
static bool is_null(const uint8_t *head, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (head[i] != 0)
            return false;
    return true;
}

// ---- The file -----------------------------------------------------------------------------------

static bool read_magic(struct capture *capture, uint32_t magic)
{
    capture->swapped = __builtin_bswap32(magic) == MAGIC_US || __builtin_bswap32(magic) == MAGIC_NS;
    if (capture->swapped)
        magic = __builtin_bswap32(magic);
    capture->nanoseconds = magic == MAGIC_NS;
    return magic == MAGIC_US || magic == MAGIC_NS;
}

// An FCS is told in bytes, 16-bit words or bits, by whom one asks: Ethernet's has 4 bytes.
static uint8_t fcs_bytes(uint32_t link, uint32_t told)
{
    return link == LINK_ETHERNET && told > 0 ? ETHERNET_FCS : 0;
}

// The upper bits of the link type say how long the FCS is, if one of them says that they do.
static struct capture_interface only_interface(uint32_t network)
{
    const uint32_t link = network & 0xffff, told = network & 0x04000000 ? network >> 28 : 0;

    return (struct capture_interface){ .link = (uint16_t)link, .fcs_bytes = fcs_bytes(link, told) };
}

static bool check_link(uint32_t link, char *why)
{
    if (link_bytes(link) >= 0)
        return true;
    snprintf(why, CAPTURE_WHY_BYTES,
             "its packets have link type %lu (%s): capture Ethernet, Linux cooked or raw IP",
             (unsigned long)link, link_name(link));
    return false;
}

bool capture_open(struct capture *capture, const struct capture_file *file,
                  char why[CAPTURE_WHY_BYTES])
{
    uint8_t head[FILE_HEAD];

    *capture = (struct capture){ 0 };
    const int64_t bytes = look(capture, file, head, sizeof head);
    if (bytes < 0)
        return refuse(why, strerror(errno));
    if (bytes == 0)
        return refuse(why, "it is empty: capture some packets (tcpdump -w NAME.pcap)");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if ((size_t)bytes >= others[i].n && memcmp(head, others[i].bytes, others[i].n) == 0)
            return refuse(why, others[i].says);
    if (bytes >= 4 && little(head) == BLOCK_SECTION) {
        capture->blocks = true;
        return bytes >= BLOCK_LEAST ||
               refuse(why, "it ends inside its header: get a complete copy");
    }
    if (bytes < 4 || !read_magic(capture, little(head)))
        return refuse(why, "it is not a pcap file; " CURE);
    if (bytes < FILE_HEAD)
        return refuse(why, "it ends inside its header: get a complete copy");
    capture->interface[capture->interfaces++] = only_interface(number_at(capture, head + 20));
    capture->at = FILE_HEAD;
    return check_link(capture->interface[0].link, why);
}

// ---- Packets ------------------------------------------------------------------------------------

// Leaves out what is captured of the FCS.
static void strip(struct capture_record *record, uint32_t fcs)
{
    if (record->original < record->bytes)
        record->original = record->bytes;
    if (record->original < fcs)
        return;
    record->original -= fcs;
    if (record->bytes > record->original)
        record->bytes = record->original;
}

static enum capture_status next_record(struct capture *capture, const struct capture_file *file,
                                       uint32_t number, struct capture_record *record, char *why)
{
    const uint64_t left = file->bytes - capture->at;
    uint8_t head[RECORD_HEAD];

    if (left == 0)
        return CAPTURE_END;
    if (look(capture, file, head, sizeof head) < 0)
        return unreadable(number, why);
    if (left < RECORD_HEAD || is_null(head, sizeof head))
        return CAPTURE_CUT;
    *record = (struct capture_record){ .seconds = number_at(capture, head),
                                       .fraction = number_at(capture, head + 4),
                                       .bytes = number_at(capture, head + 8),
                                       .original = number_at(capture, head + 12),
                                       .link = capture->interface[0].link,
                                       .place = capture->at + RECORD_HEAD };
    if (record->bytes > SNAPSHOT)
        return bad(number, "is damaged", why);
    if (record->bytes > left - RECORD_HEAD)
        return CAPTURE_CUT;
    capture->at += RECORD_HEAD + record->bytes;
    strip(record, capture->interface[0].fcs_bytes);
    return CAPTURE_PACKET;
}

// ---- Blocks of pcapng ---------------------------------------------------------------------------

// A block: where it is, and the first bytes from there on.
struct block {
    uint64_t at;
    uint32_t kind, bytes;
    uint8_t head[BLOCK_HEAD];
};

// The value of an option between two places; false where it is not there.
static bool find_option(const struct capture *capture, const struct capture_file *file, uint64_t at,
                        uint64_t end, uint32_t wanted, uint8_t value[8])
{
    uint8_t option[4];

    for (int n = 0; n < OPTIONS_MOST && at + 4 <= end; n++) {
        if (file->read(file->file, option, 4, at) != 4)
            return false;
        const uint32_t code = half_at(capture, option), bytes = half_at(capture, option + 2);

        if (code == 0)
            return false;
        if (code == wanted && bytes <= 8 && at + 4 + bytes <= end) {
            memset(value, 0, 8);
            return file->read(file->file, value, bytes, at + 4) == bytes;
        }
        at += 4 + ((bytes + 3) & ~3U);
    }
    return false;
}

static enum capture_status take_interface(struct capture *capture, const struct capture_file *file,
                                          const struct block *block, char *why)
{
    struct capture_interface *interface = &capture->interface[capture->interfaces];
    const uint64_t at = block->at + 16, end = block->at + block->bytes - 4;
    uint8_t value[8];

    if (capture->interfaces == CAPTURE_INTERFACES_MAX) {
        snprintf(why, CAPTURE_WHY_BYTES,
                 "it has more than %d interfaces: capture at fewer, or choose some (editcap)",
                 CAPTURE_INTERFACES_MAX);
        return CAPTURE_BAD;
    }
    *interface = (struct capture_interface){ .link = (uint16_t)half_at(capture, block->head + 8),
                                             .resolution = MICROSECONDS,
                                             .snapshot = number_at(capture, block->head + 12) };
    if (find_option(capture, file, at, end, OPTION_RESOLUTION, value))
        interface->resolution = value[0];
    if (find_option(capture, file, at, end, OPTION_FCS, value))
        interface->fcs_bytes = fcs_bytes(interface->link, value[0]);
    if (find_option(capture, file, at, end, OPTION_OFFSET, value)) {
        const uint32_t first = number_at(capture, value), second = number_at(capture, value + 4);

        interface->offset_s = (int64_t)(capture->swapped ? (uint64_t)first << 32 | second
                                                         : (uint64_t)second << 32 | first);
    }
    capture->nanoseconds = capture->nanoseconds || interface->resolution > MICROSECONDS;
    capture->interfaces++;
    return CAPTURE_END;
}

// How often a clock ticks in a second, at most 10^10 times; finer ticks are put together.
static uint64_t ticks_of(uint8_t resolution, uint64_t *fraction, uint64_t *seconds)
{
    const uint64_t base = resolution & 0x80 ? 2 : 10, most = 10000000000;
    uint64_t ticks = 1;

    for (int n = resolution & 0x7f; n > 0; n--) {
        if (ticks * base > most)
            *seconds /= base;
        else
            ticks *= base;
    }
    *fraction = *seconds % ticks;
    *seconds /= ticks;
    return ticks;
}

static void set_time(const struct capture *capture, const struct capture_interface *interface,
                     uint64_t time, struct capture_record *record)
{
    uint64_t fraction;
    const uint64_t ticks = ticks_of(interface->resolution, &fraction, &time);

    record->seconds = (uint32_t)(time + (uint64_t)interface->offset_s);
    record->fraction = (uint32_t)(fraction * (capture->nanoseconds ? 1000000000 : 1000000) / ticks);
}

static enum capture_status take_packet(const struct capture *capture,
                                       const struct capture_file *file, const struct block *block,
                                       uint32_t number, struct capture_record *record, char *why)
{
    const bool simple = block->kind == BLOCK_SIMPLE_PACKET;
    const uint32_t head = simple ? 12 : 28, room = block->bytes - head - 4;
    const uint8_t *at = block->head + 8;
    const uint32_t id = simple                            ? 0
                        : block->kind == BLOCK_OLD_PACKET ? half_at(capture, at)
                                                          : number_at(capture, at);
    uint8_t flags[8];

    if (block->bytes < head + 4)
        return bad(number, "is damaged", why);
    if (id >= capture->interfaces)
        return bad(number, "is of an interface that is not described", why);
    const struct capture_interface *interface = &capture->interface[id];
    uint32_t fcs = interface->fcs_bytes;
    *record = (struct capture_record){ .link = interface->link, .place = block->at + head };
    if (simple) {
        const uint32_t limit =
            interface->snapshot && interface->snapshot < room ? interface->snapshot : room;
        record->original = number_at(capture, at);
        record->bytes = record->original < limit ? record->original : limit;
    } else {
        record->bytes = number_at(capture, block->head + 20);
        record->original = number_at(capture, block->head + 24);
        set_time(capture, interface,
                 (uint64_t)number_at(capture, block->head + 12) << 32 |
                     number_at(capture, block->head + 16),
                 record);
    }
    if (record->bytes > room)
        return bad(number, "is damaged", why);
    // What is said of this packet holds before what is said of its interface.
    const uint64_t options = block->at + head + ((record->bytes + 3U) & ~3U);
    if (!simple &&
        find_option(capture, file, options, block->at + block->bytes - 4, OPTION_FLAGS, flags)) {
        const uint32_t told = number_at(capture, flags) >> 5 & 15;
        fcs = told ? fcs_bytes(interface->link, told) : fcs;
    }
    strip(record, fcs);
    return CAPTURE_PACKET;
}

// Reads the head of the next block, whose numbers may have another order than those before.
static enum capture_status next_block(struct capture *capture, const struct capture_file *file,
                                      uint32_t number, struct block *block, char *why)
{
    const uint64_t left = file->bytes - capture->at;

    if (left == 0)
        return CAPTURE_END;
    if (look(capture, file, block->head, sizeof block->head) < 0)
        return unreadable(number, why);
    if (left < BLOCK_LEAST || is_null(block->head, 8))
        return CAPTURE_CUT;
    if (little(block->head) == BLOCK_SECTION) {
        capture->swapped = little(block->head + 8) == __builtin_bswap32(MAGIC_ORDER);
        capture->interfaces = 0;
        if (!capture->swapped && little(block->head + 8) != MAGIC_ORDER)
            return bad(number, "is in a section that is damaged", why);
    }
    block->at = capture->at;
    block->kind = number_at(capture, block->head);
    block->bytes = number_at(capture, block->head + 4);
    if (block->bytes < BLOCK_LEAST || block->bytes > BLOCK_MOST)
        return bad(number, "is in a block that is damaged", why);
    if (block->bytes > left)
        return CAPTURE_CUT;
    // Some writers leave the padding out of the length.
    capture->at += (block->bytes + 3U) & ~3U;
    if (capture->at > file->bytes)
        capture->at = file->bytes;
    return CAPTURE_PACKET;
}

static enum capture_status next_in_blocks(struct capture *capture, const struct capture_file *file,
                                          uint32_t number, struct capture_record *record, char *why)
{
    struct block block;
    enum capture_status status;

    while ((status = next_block(capture, file, number, &block, why)) == CAPTURE_PACKET) {
        if (block.kind == BLOCK_INTERFACE) {
            if (take_interface(capture, file, &block, why) == CAPTURE_BAD)
                return CAPTURE_BAD;
        } else if (block.kind == BLOCK_PACKET || block.kind == BLOCK_OLD_PACKET ||
                   block.kind == BLOCK_SIMPLE_PACKET) {
            return take_packet(capture, file, &block, number, record, why);
        }
    }
    return status;
}

enum capture_status capture_next(struct capture *capture, const struct capture_file *file,
                                 uint32_t number, struct capture_record *record,
                                 char why[CAPTURE_WHY_BYTES])
{
    if (!capture->blocks)
        return next_record(capture, file, number, record, why);
    const enum capture_status status = next_in_blocks(capture, file, number, record, why);
    return status == CAPTURE_PACKET && !check_link(record->link, why) ? CAPTURE_BAD : status;
}

void capture_copy(struct capture *to, const struct capture *from)
{
    memcpy(to, from, offsetof(struct capture, interface[from->interfaces]));
}

// ---- What is written ----------------------------------------------------------------------------

static uint8_t *put(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        *at++ = (uint8_t)(value >> 8 * i);
    return at;
}

static size_t put_section(const struct capture_output *output, uint8_t *header)
{
    enum { SECTION_BYTES = 28, INTERFACE_BYTES = 32 };
    uint8_t *at = put(put(put(put(header, BLOCK_SECTION), SECTION_BYTES), MAGIC_ORDER), 1);

    at = put(put(put(at, UINT32_MAX), UINT32_MAX), SECTION_BYTES);
    for (uint32_t i = 0; i < output->links; i++) {
        at = put(put(at, BLOCK_INTERFACE), INTERFACE_BYTES);
        at = put(put(at, output->link[i]), SNAPSHOT);
        at = put(put(at, OPTION_RESOLUTION | 1 << 16), output->nanoseconds ? 9 : MICROSECONDS);
        at = put(put(at, 0), INTERFACE_BYTES);
    }
    return (size_t)(at - header);
}

size_t capture_put_header(const struct capture_output *output, uint8_t header[CAPTURE_HEADER_BYTES])
{
    if (output->links > 1)
        return put_section(output, header);
    // The format's version is 2.4.
    uint8_t *at = put(put(header, output->nanoseconds ? MAGIC_NS : MAGIC_US), 2 | 4 << 16);
    at = put(put(put(put(at, 0), 0), SNAPSHOT), output->link[0]);
    return (size_t)(at - header);
}

size_t capture_put_record(const struct capture_output *output, const struct capture_record *record,
                          uint8_t head[CAPTURE_HEAD_BYTES], uint8_t tail[CAPTURE_TAIL_BYTES],
                          size_t *tail_bytes)
{
    const uint32_t padding = -record->bytes & 3,
                   block = CAPTURE_HEAD_BYTES + record->bytes + padding + 4;
    const uint64_t time =
        record->seconds * (output->nanoseconds ? 1000000000ULL : 1000000ULL) + record->fraction;
    uint32_t id = 0;

    *tail_bytes = 0;
    if (output->links <= 1) {
        uint8_t *at = put(put(head, record->seconds), record->fraction);
        return (size_t)(put(put(at, record->bytes), record->original) - head);
    }
    while (id + 1 < output->links && output->link[id] != record->link)
        id++;
    uint8_t *at = put(put(put(head, BLOCK_PACKET), block), id);
    at = put(put(at, (uint32_t)(time >> 32)), (uint32_t)time);
    at = put(put(at, record->bytes), record->original);
    memset(tail, 0, CAPTURE_TAIL_BYTES);
    *tail_bytes = (size_t)(put(tail + padding, block) - tail);
    return (size_t)(at - head);
}
