// SPDX-License-Identifier: Apache-2.0
// Tests of rules.c and rules_read.c: what is refused, and what tcpdump cannot be asked. What rules
// mean is compared with tcpdump in test_packets.py.
#include <string.h>

#include "../link.h"
#include "../rules.h"
#include "check.h"

static struct rules rules;
static char why[RULES_WHY_BYTES];

static bool refused(const char *text, const char *reason)
{
    return !rules_read(&rules, text, why) && strstr(why, reason);
}

static enum action apply(uint32_t link, const void *data, uint32_t bytes)
{
    const struct rules_frame frame = { link, data, bytes, bytes };

    return rules_apply(&rules, &frame);
}

TEST(no_rules_leave_everything_to_what_is_said_otherwise)
{
    CHECK(rules_read(&rules, "", why) && rules.n == 0);
    CHECK(apply(LINK_ETHERNET, "", 0) == DISCARD);
    rules.otherwise = STORE;
    CHECK(apply(LINK_ETHERNET, "", 0) == STORE);
}

TEST(the_first_rule_that_matches_decides)
{
    const uint8_t frame[60] = { [12] = 8, [13] = 6 };

    CHECK(rules_read(&rules, "forward ip; store arp ;discard arp", why) && rules.n == 3);
    CHECK(apply(LINK_ETHERNET, frame, sizeof frame) == STORE);
    CHECK(rules_read(&rules, "forward ip; store not less 60 and arp; forward arp", why));
    CHECK(apply(LINK_ETHERNET, frame, sizeof frame) == FORWARD);
}

TEST(a_rule_that_looks_behind_the_end_does_not_match)
{
    const uint8_t frame[20] = { [12] = 8 };

    CHECK(rules_read(&rules, "forward tcp; forward not tcp; store ip", why));
    CHECK(apply(LINK_ETHERNET, frame, sizeof frame) == STORE);
}

TEST(a_rule_for_ethernet_matches_no_frame_of_another_link)
{
    const uint8_t frame[60] = { 255, 255, 255, 255, 255, 255 };

    CHECK(rules_read(&rules, "store ether broadcast; store not vlan; forward not arp", why));
    CHECK(apply(LINK_ETHERNET, frame, sizeof frame) == STORE);
    CHECK(apply(LINK_SLL, frame, sizeof frame) == FORWARD);
}

TEST(a_frame_that_was_truncated_has_the_length_that_it_had)
{
    const struct rules_frame frame = { LINK_ETHERNET, (const uint8_t[20]){ 0 }, 20, 1000 };

    CHECK(rules_read(&rules, "store less 100; forward greater 1000", why));
    CHECK(rules_apply(&rules, &frame) == FORWARD);
}

TEST(an_address_family_is_known_in_either_byte_order)
{
    static const char *const families[] = { "\2\0\0\0", "\0\0\0\2", "\36\0\0\0", "\0\0\0\12" };

    CHECK(rules_read(&rules, "forward ip; store ip6", why));
    for (int i = 0; i < 4; i++) {
        CHECK(apply(LINK_NULL, families[i], 4) == (i < 2 ? FORWARD : STORE));
        CHECK(apply(LINK_LOOP, families[i], 4) == (i < 2 ? FORWARD : STORE));
    }
}

TEST(a_rule_that_is_wrong_is_refused_with_its_word)
{
    CHECK(refused("drop tcp", "forward, store or discard is missing at \"drop tcp\""));
    CHECK(refused("forward", "a condition is missing at \"the end\""));
    CHECK(refused("forward tpc", "this is not a condition at \"tpc\""));
    CHECK(refused("forward tcp udp", "`and` or `;` is missing at \"udp\""));
    CHECK(refused("forward vlan 4096", "this is not a valid number at \"4096\""));
    CHECK(refused("forward tcp port", "a number is missing"));
    CHECK(refused("forward tcp port http", "this is not a valid number at \"http\""));
    CHECK(refused("forward port 65536", "this is not a valid number"));
    CHECK(refused("forward port 99999999999999999999", "this is not a valid number"));
    CHECK(refused("forward src 80", "port is missing"));
    CHECK(refused("forward tcp src 80", "port is missing"));
    CHECK(refused("forward ip src 1.2.3.4", "host or net is missing"));
    CHECK(refused("forward ip host 1.2.3", "not an address"));
    CHECK(refused("forward ip host 1.2.3.256", "not an address"));
    CHECK(refused("forward ip host 1.2.3.4x", "something follows"));
    CHECK(refused("forward ip host", "an address is missing"));
    CHECK(refused("forward ip net 10.0.0.0", "not a net"));
    CHECK(refused("forward ip net 10.0.0.0/33", "not a net"));
    CHECK(refused("forward ip net 10.1.0.0/8", "bits outside"));
    CHECK(refused("forward ether", "broadcast or multicast is missing"));
    CHECK(refused("forward less", "a number is missing"));
    CHECK(refused("forward not", "a condition is missing"));
}

TEST(more_rules_or_conditions_than_there_is_room_for_are_refused)
{
    char text[400] = "";

    for (int i = 0; i < RULES_MAX; i++)
        strcat(text, "forward tcp;");
    CHECK(rules_read(&rules, text, why) && rules.n == RULES_MAX);
    CHECK(refused(strcat(text, "store udp"), "more than 16 rules"));
    CHECK(rules_read(&rules, "store ip and ip and ip and ip and ip and ip and ip and ip", why));
    CHECK(refused("store ip and ip and ip and ip and ip and ip and ip and ip and ip",
                  "more than 8 conditions"));
}
