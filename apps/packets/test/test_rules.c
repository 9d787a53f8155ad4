// SPDX-License-Identifier: Apache-2.0
// Tests of rules.c and rules_read.c: what is refused, and what tcpdump cannot be asked. What rules
// mean is compared with tcpdump in test_packets.py.
#include <string.h>

#include "../rules.h"
#include "check.h"

static struct rules rules;
static char why[RULES_WHY_BYTES];

static bool refused(const char *text, const char *reason)
{
    return !rules_read(&rules, text, why) && strstr(why, reason);
}

TEST(no_rules_leave_everything_to_what_is_said_otherwise)
{
    CHECK(rules_read(&rules, "", why) && rules.n == 0);
    CHECK(rules_apply(&rules, (const uint8_t *)"", 0) == DISCARD);
    rules.otherwise = STORE;
    CHECK(rules_apply(&rules, (const uint8_t *)"", 0) == STORE);
}

TEST(the_first_rule_that_matches_decides)
{
    const uint8_t frame[60] = { [12] = 8, [13] = 6 };

    CHECK(rules_read(&rules, "forward ip; store arp ;discard arp", why) && rules.n == 3);
    CHECK(rules_apply(&rules, frame, sizeof frame) == STORE);
    CHECK(rules_read(&rules, "forward ip; store not less 60 and arp; forward arp", why));
    CHECK(rules_apply(&rules, frame, sizeof frame) == FORWARD);
}

TEST(a_rule_that_looks_behind_the_end_does_not_match)
{
    const uint8_t frame[20] = { [12] = 8 };

    CHECK(rules_read(&rules, "forward tcp; forward not tcp; store ip", why));
    CHECK(rules_apply(&rules, frame, sizeof frame) == STORE);
}

TEST(a_rule_that_is_wrong_is_refused_with_its_word)
{
    CHECK(refused("drop tcp", "forward, store or discard is missing at \"drop tcp\""));
    CHECK(refused("forward", "a condition is missing at \"the end\""));
    CHECK(refused("forward tpc", "this is not a condition at \"tpc\""));
    CHECK(refused("forward tcp udp", "`and` or `;` is missing at \"udp\""));
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
