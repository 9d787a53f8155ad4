// SPDX-License-Identifier: Apache-2.0
// Captures and rules of which some bytes are others, again and again, under the sanitizers, which
// end it where anything outside of them is touched. PACKETS_FUZZ says how often.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../capture.h"
#include "../coding.h"
#include "../rules.h"
#include "check.h"
#include "common/fuzz.h"

enum { TRIES = 3000, MOST_CHANGES = 8, FILE_BYTES = 1 << 14 };

static uint32_t tries(void)
{
    return fuzz_tries("PACKETS_FUZZ", TRIES);
}

static size_t read_capture(uint8_t *bytes)
{
    FILE *file = fopen("data/loopback.pcap", "rb");

    CHECK(file);
    const size_t n = fread(bytes, 1, FILE_BYTES, file);
    fclose(file);
    CHECK(n > 24 && n < FILE_BYTES);
    return n;
}

static size_t size_of_memory;

static int64_t read_memory(const void *from, void *data, size_t bytes, uint64_t place)
{
    const size_t left = place < size_of_memory ? size_of_memory - (size_t)place : 0;
    const size_t n = bytes < left ? bytes : left;

    if (n > 0)
        memcpy(data, (const uint8_t *)from + place, n);
    return (int64_t)n;
}

// Packets of a capture that are classified: each from memory of its own size.
static uint32_t classify(const struct rules *rules, const uint8_t *bytes, size_t n)
{
    const struct capture_file file = { read_memory, bytes, n };
    char why[CAPTURE_WHY_BYTES];
    struct capture_record record;
    struct capture capture;
    uint32_t packets = 0;

    size_of_memory = n;
    if (!capture_open(&capture, &file, why))
        return 0;
    for (; capture_next(&capture, &file, packets, &record, why) == CAPTURE_PACKET; packets++) {
        CHECK(record.place <= n && record.bytes <= n - record.place);
        const size_t some = random_below(record.bytes + 1);
        uint8_t *data = damaged(bytes + record.place, some, MOST_CHANGES);
        const struct rules_frame frame = { record.link, data, (uint32_t)some, record.original };

        CHECK(rules_apply(rules, &frame) < ACTIONS);
        free(data);
    }
    return packets;
}

// The capture as pcapng of four link types in turns; its bytes.
static size_t make_blocks(uint8_t *made, const uint8_t *bytes, size_t n)
{
    const struct capture_output output = { true,
                                           4,
                                           { LINK_ETHERNET, LINK_SLL, LINK_RAW, LINK_NULL } };
    const struct capture_file file = { read_memory, bytes, n };
    uint8_t tail[CAPTURE_TAIL_BYTES];
    char why[CAPTURE_WHY_BYTES];
    struct capture_record record;
    struct capture capture;
    size_t behind, at = capture_put_header(&output, made);

    size_of_memory = n;
    CHECK(capture_open(&capture, &file, why));
    for (uint32_t i = 0; capture_next(&capture, &file, i, &record, why) == CAPTURE_PACKET; i++) {
        record.link = output.link[i % 4];
        CHECK(at + CAPTURE_HEAD_BYTES + record.bytes + sizeof tail <= FILE_BYTES);
        at += capture_put_record(&output, &record, made + at, tail, &behind);
        memcpy(made + at, bytes + record.place, record.bytes);
        memcpy(made + at + record.bytes, tail, behind);
        at += record.bytes + behind;
    }
    return at;
}

TEST(no_damage_of_a_capture_has_anything_else_touched)
{
    static uint8_t whole[2][FILE_BYTES];
    const size_t first = read_capture(whole[0]);
    const size_t bytes[] = { first, make_blocks(whole[1], whole[0], first) };
    char why[RULES_WHY_BYTES];
    struct rules rules;
    uint64_t packets = 0;

    CHECK(rules_read(&rules,
                     "store udp dst port 9; store not icmp6 and ip6; store ip net 10.0.0.0/8;"
                     "store ether broadcast; store vlan 3 and vlan and udp; forward not port 1; "
                     "discard ip host 127.0.0.1",
                     why));
    for (uint32_t i = tries(); i > 0; i--) {
        const uint32_t kind = i % 2;
        const size_t n = random_below(3) == 0 ? random_below((uint32_t)bytes[kind]) : bytes[kind];
        uint8_t *capture = damaged(whole[kind], n, MOST_CHANGES);

        packets += classify(&rules, capture, n);
        free(capture);
    }
    printf("# %u damaged captures, %llu packets\n", tries(), (unsigned long long)packets);
    CHECK(packets > tries());
}

TEST(no_damage_of_rules_has_anything_else_touched)
{
    static const char whole[] = "forward udp dst port 53 and not ip net 10.0.0.0/8; store arp and "
                                "greater 60; discard ether broadcast; store ip src host 1.2.3.4";
    char why[RULES_WHY_BYTES];
    uint32_t read = 0;
    struct rules rules;

    for (uint32_t i = tries(); i > 0; i--) {
        const size_t n = random_below(4) == 0 ? random_below(sizeof whole) : sizeof whole;
        uint8_t *text = damaged(whole, n, MOST_CHANGES);

        if (n > 0) {
            text[n - 1] = '\0';
            read += rules_read(&rules, (const char *)text, why);
        }
        free(text);
    }
    printf("# %u of %u damaged tables of rules are still some\n", read, tries());
    CHECK(read > 0 && read < tries());
}
