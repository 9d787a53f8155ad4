// SPDX-License-Identifier: Apache-2.0
// What rules mean. A term that would look behind the end of a frame, or for something that frames
// of its link type do not have, makes its whole rule not match, inverted or not, as a filter of
// libpcap does, or refuses to be.
#include "rules.h"

#include <string.h>

#include "link.h"

enum {
    VLAN_BYTES = 4,
    IP = 0x0800,
    IP6 = 0x86dd,
    IP6_HEADER = 40,
    FRAGMENT = 44,
    ICMP = 1,
    TCP = 6,
    UDP = 17,
    ICMP6 = 58,
    SCTP = 132,
    BROADCAST = 0
};

struct frame {
    const struct rules_frame *of;
    uint32_t network;  // where its network layer begins
    bool over;         // something that is not there was looked at
};

static uint32_t byte(struct frame *frame, uint32_t at)
{
    if (at < frame->of->bytes)
        return frame->of->data[at];
    frame->over = true;
    return 0;
}

static uint32_t half(struct frame *frame, uint32_t at)
{
    return byte(frame, at) << 8 | byte(frame, at + 1);
}

static uint32_t word(struct frame *frame, uint32_t at)
{
    return half(frame, at) << 16 | half(frame, at + 2);
}

// Of an address family, whose number for IPv6 each system has chosen for itself.
static uint32_t type_of_family(uint32_t family)
{
    if (family > 0xffff)
        family = __builtin_bswap32(family);
    if (family == 2)
        return IP;
    return family == 10 || family == 24 || family == 28 || family == 30 ? IP6 : 0;
}

static uint32_t type_of(struct frame *frame)
{
    switch ((enum link)frame->of->link) {
    case LINK_ETHERNET:
    case LINK_SLL:
        return half(frame, frame->network - 2);
    case LINK_SLL2:
        return half(frame, 0);
    case LINK_NULL:
    case LINK_LOOP:
        return type_of_family(word(frame, 0));
    case LINK_IPV4:
        return IP;
    case LINK_IPV6:
        return IP6;
    case LINK_RAW:
    case LINK_RAW_12:
    case LINK_RAW_14:
        break;
    }
    const uint32_t version = byte(frame, 0) >> 4;
    return version == 4 ? IP : version == 6 ? IP6 : 0;
}

static bool is_protocol(struct frame *frame, uint32_t protocol)
{
    const uint32_t type = type_of(frame);

    if (type == IP && protocol != ICMP6)
        return byte(frame, frame->network + 9) == protocol;
    if (type != IP6 || protocol == ICMP)
        return false;
    const uint32_t next = byte(frame, frame->network + 6);
    return next == protocol ||
           (next == FRAGMENT && byte(frame, frame->network + IP6_HEADER) == protocol);
}

static bool has_ports(uint32_t protocol, uint32_t wanted)
{
    return wanted ? protocol == wanted : protocol == TCP || protocol == UDP || protocol == SCTP;
}

// Only the first fragment of a datagram has its ports.
static uint32_t ports_at(struct frame *frame, uint32_t wanted)
{
    const uint32_t type = type_of(frame);

    if (type == IP6)
        return has_ports(byte(frame, frame->network + 6), wanted) ? frame->network + IP6_HEADER : 0;
    if (type != IP || !has_ports(byte(frame, frame->network + 9), wanted) ||
        (half(frame, frame->network + 6) & 0x1fff) != 0)
        return 0;
    return frame->network + 4 * (byte(frame, frame->network) & 15);
}

static bool is_port(struct frame *frame, const struct term *term)
{
    const uint32_t at = ports_at(frame, term->b);

    return at != 0 && ((term->source && half(frame, at) == term->a) ||
                       (term->destination && half(frame, at + 2) == term->a));
}

static bool is_net(struct frame *frame, const struct term *term)
{
    return type_of(frame) == IP &&
           ((term->source && (word(frame, frame->network + 12) & term->b) == term->a) ||
            (term->destination && (word(frame, frame->network + 16) & term->b) == term->a));
}

static bool is_group(struct frame *frame, uint32_t kind)
{
    frame->over = frame->over || frame->of->link != LINK_ETHERNET;
    if (kind == BROADCAST)
        return word(frame, 0) == UINT32_MAX && half(frame, 4) == 0xffff;
    return (byte(frame, 0) & 1) != 0;
}

// The terms that follow are about what is behind the tag, whether it is one or not.
static bool is_vlan(struct frame *frame, const struct term *term)
{
    const uint32_t type = type_of(frame), tag = half(frame, frame->network);

    frame->over = frame->over || frame->of->link != LINK_ETHERNET;
    frame->network += VLAN_BYTES;
    return (type == 0x8100 || type == 0x88a8 || type == 0x9100) &&
           (term->a == UINT32_MAX || (tag & 0xfff) == term->a);
}

static bool is(struct frame *frame, const struct term *term)
{
    switch ((enum term_kind)term->kind) {
    case TERM_TYPE:
        return type_of(frame) == term->a;
    case TERM_PROTOCOL:
        return is_protocol(frame, term->a);
    case TERM_PORT:
        return is_port(frame, term);
    case TERM_NET:
        return is_net(frame, term);
    case TERM_GROUP:
        return is_group(frame, term->a);
    case TERM_VLAN:
        return is_vlan(frame, term);
    case TERM_LENGTH:
        return frame->of->original >= term->a && frame->of->original <= term->b;
    }
    return false;
}

static bool matches(const struct rule *rule, const struct rules_frame *of)
{
    struct frame frame = { of, (uint32_t)link_bytes(of->link), false };

    for (uint32_t i = 0; i < rule->terms; i++)
        if (is(&frame, &rule->term[i]) == rule->term[i].inverted || frame.over)
            return false;
    return true;
}

enum action rules_apply(const struct rules *rules, const struct rules_frame *frame)
{
    for (uint32_t i = 0; i < rules->n; i++)
        if (matches(&rules->rule[i], frame))
            return (enum action)rules->rule[i].action;
    return (enum action)rules->otherwise;
}
