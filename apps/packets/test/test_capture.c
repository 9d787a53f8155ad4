// SPDX-License-Identifier: Apache-2.0
// Tests of capture.c: headers of each kind, and of none.
#include <string.h>

#include "../capture.h"
#include "check.h"

static struct capture capture;
static struct capture_record record;
static char why[CAPTURE_WHY_BYTES];

static const char little_us[] = "\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\1\0\0\0";
static const char big_ns[] = "\xa1\xb2\x3c\x4d\0\2\0\4\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0\1";

static bool opens(const char *header, size_t bytes)
{
    return capture_open(&capture, (const uint8_t *)header, bytes, why);
}

static bool refused(const char *header, size_t bytes, const char *reason)
{
    return !opens(header, bytes) && strstr(why, reason);
}

static bool next(const char *header, uint64_t left)
{
    return capture_next(&capture, (const uint8_t *)header, left, 7, &record, why);
}

TEST(headers_of_either_order_and_either_clock_are_read)
{
    CHECK(opens(little_us, 24) && !capture.swapped && !capture.nanoseconds);
    CHECK(next("\1\0\0\0\2\0\0\0\3\0\0\0\3\0\0\0", 19));
    CHECK(record.seconds == 1 && record.fraction == 2 && record.bytes == 3);
    CHECK(opens(big_ns, 24) && capture.swapped && capture.nanoseconds);
    CHECK(next("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\3", 19));
    CHECK(record.seconds == 1 && record.fraction == 2 && record.bytes == 3);
}

TEST(what_is_no_capture_of_ethernet_is_refused_with_a_reason)
{
    CHECK(refused("", 0, "empty"));
    CHECK(refused("\xd4\xc3", 2, "not a pcap file"));
    CHECK(refused("GIF89a..................", 24, "not a pcap file"));
    CHECK(refused("\x0a\x0d\x0d\x0a....................", 24, "pcapng"));
    CHECK(refused(little_us, 23, "ends inside its header"));
    CHECK(refused("\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\x69\0\0\0", 24,
                  "link type 105, not 1"));
}

TEST(a_packet_that_is_not_all_there_is_refused_with_its_number)
{
    CHECK(opens(little_us, 24));
    CHECK(!next("", 15) && strstr(why, "packet 7 is truncated"));
    CHECK(!next("\1\0\0\0\2\0\0\0\3\0\0\0\3\0\0\0", 18) && strstr(why, "packet 7 is truncated"));
    CHECK(!next("\1\0\0\0\2\0\0\0\377\377\377\377\3\0\0\0", 99) && strstr(why, "damaged"));
    CHECK(!next("\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0", 19) && strstr(why, "has 3 of its 4 bytes"));
}

TEST(headers_that_are_made_are_read_as_they_were)
{
    uint8_t header[CAPTURE_HEADER_BYTES], packet[CAPTURE_RECORD_BYTES];
    const struct capture_record made = { 1, 999999999, 60 };

    capture = (struct capture){ .swapped = true, .nanoseconds = true };
    capture_put_header(&capture, header);
    capture_put_record(&made, packet);
    CHECK(capture_open(&capture, header, sizeof header, why));
    CHECK(!capture.swapped && capture.nanoseconds);
    CHECK(next((const char *)packet, 76) && memcmp(&made, &record, sizeof made) == 0);
}
