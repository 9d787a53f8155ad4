// SPDX-License-Identifier: Apache-2.0
// Tests of capture.c: files of each kind, and of none.
#include <string.h>

#include "../capture.h"
#include "check.h"

enum { FILE_MOST = 4096 };

static struct capture capture;
static struct capture_record record;
static char why[CAPTURE_WHY_BYTES];

// The file that is read.
static uint8_t bytes_of_file[FILE_MOST];
static struct capture_file file;

static int64_t read_memory(const void *from, void *data, size_t bytes, uint64_t place)
{
    const uint64_t left = place < file.bytes ? file.bytes - place : 0;
    const size_t n = bytes < left ? bytes : (size_t)left;

    memcpy(data, (const uint8_t *)from + (n ? place : 0), n);
    return (int64_t)n;
}

static void begin_file(void)
{
    file = (struct capture_file){ read_memory, bytes_of_file, 0 };
}

static void add(const void *data, size_t bytes)
{
    CHECK(file.bytes + bytes <= FILE_MOST);
    memcpy(bytes_of_file + file.bytes, data, bytes);
    file.bytes += bytes;
}

#define ADD(literal) add(literal, sizeof(literal) - 1)

static void add_word(uint32_t value)
{
    add((const uint8_t[]){ (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                           (uint8_t)(value >> 24) },
        4);
}

static bool opens(void)
{
    return capture_open(&capture, &file, why);
}

static bool refused(const char *header, size_t bytes, const char *reason)
{
    begin_file();
    add(header, bytes);
    return !opens() && strstr(why, reason);
}

static enum capture_status next(void)
{
    return capture_next(&capture, &file, 7, &record, why);
}

// Opens a file of libpcap's format with this link type.
static void begin_pcap(uint32_t network)
{
    begin_file();
    ADD("\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0");
    add_word(network);
}

static void add_record(uint32_t bytes, uint32_t original)
{
    ADD("\1\0\0\0\2\0\0\0");
    add_word(bytes);
    add_word(original);
}

TEST(headers_of_either_order_and_either_clock_are_read)
{
    begin_pcap(1);
    add_record(3, 3);
    ADD("abc");
    CHECK(opens() && !capture.swapped && !capture.nanoseconds && !capture.blocks);
    CHECK(next() == CAPTURE_PACKET && record.link == LINK_ETHERNET && record.place == 40);
    CHECK(record.seconds == 1 && record.fraction == 2 && record.bytes == 3);
    CHECK(next() == CAPTURE_END);
    begin_file();
    ADD("\xa1\xb2\x3c\x4d\0\2\0\4\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0\x71");
    ADD("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4abc");
    CHECK(opens() && capture.swapped && capture.nanoseconds);
    CHECK(next() == CAPTURE_PACKET && record.link == LINK_SLL);
    CHECK(record.seconds == 1 && record.fraction == 2 && record.bytes == 3 && record.original == 4);
}

TEST(what_is_no_capture_that_can_be_read_is_refused_with_a_reason)
{
    static const char pcap[] = "\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\x69\0\0\0";

    CHECK(refused("", 0, "empty"));
    CHECK(refused("\xd4\xc3", 2, "not a pcap file"));
    CHECK(refused("GIF89a..................", 24, "not a pcap file"));
    CHECK(refused("\x1f\x8b\x08.....................", 24, "compressed by gzip"));
    CHECK(refused("\x28\xb5\x2f\xfd", 4, "compressed by Zstandard"));
    CHECK(refused(pcap, 23, "ends inside its header"));
    CHECK(refused("\x0a\x0d\x0d\x0a\x1c\0\0\0", 8, "ends inside its header"));
    CHECK(refused(pcap, 24, "link type 105 (IEEE 802.11)"));
}

TEST(a_packet_that_is_not_all_there_is_told_from_one_that_is_damaged)
{
    for (uint64_t bytes = 25; bytes < 24 + 16 + 3; bytes++) {
        begin_pcap(1);
        add_record(3, 3);
        ADD("abc");
        file.bytes = bytes;
        CHECK(opens() && next() == CAPTURE_CUT);
    }
    begin_pcap(1);
    add_record(262145, 262145);
    CHECK(opens() && next() == CAPTURE_BAD && strstr(why, "packet 7 is damaged"));
}

TEST(an_fcs_that_the_link_type_tells_of_is_no_data)
{
    static const uint32_t told[] = { 0x44000001, 0x24000001 };  // in bytes, or 16-bit words

    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        begin_pcap(told[i]);
        add_record(20, 20);
        ADD("....................");
        add_record(19, 21);  // without half of its FCS
        ADD("...................");
        add_record(15, 30);
        ADD("...............");
        add_record(2, 2);
        ADD("..");
        CHECK(opens() && next() == CAPTURE_PACKET && record.bytes == 16 && record.original == 16);
        CHECK(next() == CAPTURE_PACKET && record.bytes == 17 && record.original == 17);
        CHECK(next() == CAPTURE_PACKET && record.bytes == 15 && record.original == 26);
        CHECK(next() == CAPTURE_PACKET && record.bytes == 2 && next() == CAPTURE_END);
    }
    begin_pcap(0x40000001);  // the length is not said to be there
    add_record(20, 20);
    ADD("....................");
    CHECK(opens() && next() == CAPTURE_PACKET && record.bytes == 20);
}

static void add_section(void)
{
    ADD("\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\1\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\x1c\0\0"
        "\0");
}

// An interface with the options that follow, padded.
static void add_interface(uint8_t link, const char *options, uint8_t bytes)
{
    add_word(1);
    add_word(20U + bytes);
    add_word(link);
    add_word(16);
    add(options, bytes);
    add_word(20U + bytes);
}

static void add_packet(uint32_t id, uint64_t time, const char *options, uint8_t bytes)
{
    add_word(6);
    add_word(40U + bytes);
    add_word(id);
    add_word((uint32_t)(time >> 32));
    add_word((uint32_t)time);
    add_word(6);
    add_word(9);
    ADD("abcdef\0\0");
    add(options, bytes);
    add_word(40U + bytes);
}

TEST(blocks_of_pcapng_have_interfaces_of_their_own)
{
    begin_file();
    add_section();
    add_interface(1, "", 0);
    add_interface(113, "\2\0\3\0lo.\0\x9\0\1\0\x9\0\0\0\0\0\0\0", 20);
    add_packet(0, 5000000, "", 0);
    ADD("\5\0\0\0\xc\0\0\0\xc\0\0\0");  // statistics
    add_packet(1, 6000000007, "", 0);
    add_section();
    add_interface(101, "\xe\0\x8\0\2\0\0\0\0\0\0\0\x9\0\1\0\x8a\0\0\0", 20);
    add_packet(0, 3 * 1024 + 512, "", 0);
    ADD("\3\0\0\0\x18\0\0\0\7\0\0\0"
        "1234567\0"
        "\x18\0\0\0");
    CHECK(opens() && capture.blocks);
    CHECK(next() == CAPTURE_PACKET && record.link == LINK_ETHERNET);
    CHECK(record.bytes == 6 && record.original == 9 && record.place == 28 + 20 + 40 + 28);
    CHECK(capture.nanoseconds && record.seconds == 5 && record.fraction == 0);
    CHECK(next() == CAPTURE_PACKET && record.link == LINK_SLL);
    CHECK(record.seconds == 6 && record.fraction == 7);
    CHECK(next() == CAPTURE_PACKET && record.link == LINK_RAW);
    CHECK(record.seconds == 5 && record.fraction == 500000000);
    CHECK(next() == CAPTURE_PACKET && record.bytes == 7 && record.original == 7);
    CHECK(next() == CAPTURE_END);
}

TEST(an_fcs_that_pcapng_tells_of_is_no_data)
{
    begin_file();
    add_section();
    add_interface(1, "\xd\0\1\0\4\0\0\0", 8);
    add_interface(1, "", 0);
    add_packet(0, 0, "", 0);
    add_packet(1, 0, "\2\0\4\0\x80\0\0\0", 8);
    add_packet(1, 0, "", 0);
    CHECK(opens());
    for (int i = 0; i < 2; i++)
        CHECK(next() == CAPTURE_PACKET && record.bytes == 5 && record.original == 5);
    CHECK(next() == CAPTURE_PACKET && record.bytes == 6 && record.original == 9);
}

TEST(damaged_blocks_are_refused_and_those_that_are_cut_are_told)
{
    begin_file();
    add_section();
    add_interface(1, "", 0);
    add_packet(0, 0, "", 0);
    const uint64_t whole = file.bytes;
    for (file.bytes = 49; file.bytes < whole; file.bytes++)
        CHECK(opens() && next() == CAPTURE_CUT);
    begin_file();
    add_section();
    add_packet(0, 0, "", 0);
    CHECK(opens() && next() == CAPTURE_BAD && strstr(why, "interface that is not described"));
    begin_file();
    add_section();
    ADD("\1\0\0\0\5\0\0\0............");
    CHECK(opens() && next() == CAPTURE_BAD && strstr(why, "block that is damaged"));
    begin_file();
    add_section();
    for (int i = 0; i <= CAPTURE_INTERFACES_MAX; i++)
        add_interface(1, "", 0);
    CHECK(opens() && next() == CAPTURE_BAD && strstr(why, "more than 16 interfaces"));
}

// Of one link type in the format of libpcap, of two in pcapng.
TEST(what_is_written_is_read_as_it_was)
{
    uint8_t header[CAPTURE_HEADER_BYTES], head[CAPTURE_HEAD_BYTES], tail[CAPTURE_TAIL_BYTES];
    const struct capture_record made = {
        .seconds = 4000000000, .fraction = 999999999, .bytes = 5, .original = 60, .link = LINK_SLL2
    };
    size_t behind;

    for (uint32_t links = 1; links <= 2; links++) {
        const struct capture_output output = { true,
                                               links,
                                               { links == 1 ? LINK_SLL2 : LINK_RAW, LINK_SLL2 } };
        begin_file();
        add(header, capture_put_header(&output, header));
        for (int i = 0; i < 2; i++) {
            add(head, capture_put_record(&output, &made, head, tail, &behind));
            ADD("12345");
            add(tail, behind);
        }
        CHECK(opens() && capture.blocks == (links == 2));
        for (int i = 0; i < 2; i++) {
            CHECK(next() == CAPTURE_PACKET && capture.nanoseconds);
            CHECK(record.seconds == 4000000000 && record.fraction == 999999999);
            CHECK(record.bytes == 5 && record.original == 60 && record.link == LINK_SLL2);
            CHECK(memcmp(bytes_of_file + record.place, "12345", 5) == 0);
        }
        CHECK(next() == CAPTURE_END);
    }
}
