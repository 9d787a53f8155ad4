// SPDX-License-Identifier: Apache-2.0
// The table of rules by which packets are classified, in the words of pcap-filter(7):
//
//   forward udp dst port 53 and not ip net 10.0.0.0/8; store arp; discard ether broadcast
//
// The first rule that matches says what becomes of a packet. What a rule means is what tcpdump
// means by the same words. There are
//
//   ip, ip6, arp, tcp, udp, icmp, icmp6, ether broadcast, ether multicast, less N, greater N
//   [tcp|udp] [src|dst] port N           ip [src|dst] host A.B.C.D           ip [src|dst] net
//   A.B.C.D/N                         vlan [N]
//
// joined by `and`; `not` before one inverts it. The conditions after `vlan` are about what is in
// that VLAN.
#ifndef PACKETS_RULES_H
#define PACKETS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RULES_MAX = 16, RULE_TERMS_MAX = 8, RULES_WHY_BYTES = 200 };

enum action { FORWARD, STORE, DISCARD, ACTIONS };

enum term_kind {
    TERM_TYPE,
    TERM_PROTOCOL,
    TERM_PORT,
    TERM_NET,
    TERM_GROUP,
    TERM_LENGTH,
    TERM_VLAN
};

struct term {
    uint8_t kind;   // enum term_kind
    bool inverted;  // `not`
    bool source, destination;
    uint32_t a, b;
};

struct rule {
    uint8_t action, terms;
    struct term term[RULE_TERMS_MAX];
};

struct rules {
    uint8_t otherwise, n;  // otherwise: what becomes of a packet that no rule matches
    struct rule rule[RULES_MAX];
};

/// Reads a table.
///
/// Context: any. Never blocks.
/// Returns: true; false with the reason in `why`.
bool rules_read(struct rules *rules, const char *text, char why[RULES_WHY_BYTES]);

/// The action that a word names.
///
/// Returns: true, or false where it names none.
bool rules_action(const char *word, size_t length, uint8_t *action);

// What is known of a frame.
struct rules_frame {
    uint32_t link;  // enum link
    const uint8_t *data;
    uint32_t bytes;     // of data, without its FCS
    uint32_t original;  // that it had
};

/// What becomes of a frame.
///
/// Context: any. Never blocks.
enum action rules_apply(const struct rules *rules, const struct rules_frame *frame);

#endif
