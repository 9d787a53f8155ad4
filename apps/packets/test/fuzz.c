// SPDX-License-Identifier: Apache-2.0
// Captures and rules of which some bytes are others, again and again, under the sanitizers, which
// end it where anything outside of them is touched. PACKETS_FUZZ says how often.
#include <stdio.h>
#include <stdlib.h>

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
    CHECK(n > CAPTURE_HEADER_BYTES && n < FILE_BYTES);
    return n;
}

// Packets of a capture that are classified: each from memory of its own size.
static uint32_t classify(const struct rules *rules, const uint8_t *bytes, size_t n)
{
    char why[CAPTURE_WHY_BYTES];
    struct capture_record record;
    struct capture capture;
    uint32_t packets = 0;

    if (!capture_open(&capture, bytes, n < CAPTURE_HEADER_BYTES ? n : CAPTURE_HEADER_BYTES, why))
        return 0;
    for (size_t at = CAPTURE_HEADER_BYTES;
         at < n && capture_next(&capture, bytes + at, n - at, packets, &record, why);
         at += CAPTURE_RECORD_BYTES + record.bytes, packets++) {
        const size_t some = random_below(record.bytes + 1);
        uint8_t *frame = damaged(bytes + at + CAPTURE_RECORD_BYTES, some, MOST_CHANGES);

        CHECK(rules_apply(rules, frame, (uint32_t)some) < ACTIONS);
        free(frame);
    }
    return packets;
}

TEST(no_damage_of_a_capture_has_anything_else_touched)
{
    static uint8_t whole[FILE_BYTES];
    const size_t bytes = read_capture(whole);
    char why[RULES_WHY_BYTES];
    struct rules rules;
    uint64_t packets = 0;

    CHECK(rules_read(&rules,
                     "store udp dst port 9; store not icmp6 and ip6; store ip net 10.0.0.0/8;"
                     "store ether broadcast; forward not port 1; discard ip host 127.0.0.1",
                     why));
    for (uint32_t i = tries(); i > 0; i--) {
        const size_t n = random_below(3) == 0 ? random_below((uint32_t)bytes) : bytes;
        uint8_t *capture = damaged(whole, n, MOST_CHANGES);

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
