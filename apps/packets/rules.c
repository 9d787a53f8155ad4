// SPDX-License-Identifier: Apache-2.0
// What rules mean. A term that would look behind the end of a frame makes its whole rule not match,
// inverted or not, as a filter of libpcap does.
#include "rules.h"

#include <string.h>

enum {
    TYPE = 12,  // offsets in a frame
    NETWORK = 14,
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
    const uint8_t *data;
    uint32_t bytes;
    bool over;  // something behind its end was looked at
};

static uint32_t byte(struct frame *frame, uint32_t at)
{
    if (at < frame->bytes)
        return frame->data[at];
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

static bool is_protocol(struct frame *frame, uint32_t protocol)
{
    const uint32_t type = half(frame, TYPE);

    if (type == IP && protocol != ICMP6)
        return byte(frame, NETWORK + 9) == protocol;
    if (type != IP6 || protocol == ICMP)
        return false;
    const uint32_t next = byte(frame, NETWORK + 6);
    return next == protocol || (next == FRAGMENT && byte(frame, NETWORK + IP6_HEADER) == protocol);
}

static bool has_ports(uint32_t protocol, uint32_t wanted)
{
    return wanted ? protocol == wanted : protocol == TCP || protocol == UDP || protocol == SCTP;
}

// Only the first fragment of a datagram has its ports.
static uint32_t ports_at(struct frame *frame, uint32_t wanted)
{
    const uint32_t type = half(frame, TYPE);

    if (type == IP6)
        return has_ports(byte(frame, NETWORK + 6), wanted) ? NETWORK + IP6_HEADER : 0;
    if (type != IP || !has_ports(byte(frame, NETWORK + 9), wanted) ||
        (half(frame, NETWORK + 6) & 0x1fff) != 0)
        return 0;
    return NETWORK + 4 * (byte(frame, NETWORK) & 15);
}

static bool is_port(struct frame *frame, const struct term *term)
{
    const uint32_t at = ports_at(frame, term->b);

    return at != 0 && ((term->source && half(frame, at) == term->a) ||
                       (term->destination && half(frame, at + 2) == term->a));
}

static bool is_net(struct frame *frame, const struct term *term)
{
    return half(frame, TYPE) == IP &&
           ((term->source && (word(frame, NETWORK + 12) & term->b) == term->a) ||
            (term->destination && (word(frame, NETWORK + 16) & term->b) == term->a));
}

static bool is_group(struct frame *frame, uint32_t kind)
{
    if (kind == BROADCAST)
        return word(frame, 0) == UINT32_MAX && half(frame, 4) == 0xffff;
    return (byte(frame, 0) & 1) != 0;
}

static bool is(struct frame *frame, const struct term *term)
{
    switch ((enum term_kind)term->kind) {
    case TERM_TYPE:
        return half(frame, TYPE) == term->a;
    case TERM_PROTOCOL:
        return is_protocol(frame, term->a);
    case TERM_PORT:
        return is_port(frame, term);
    case TERM_NET:
        return is_net(frame, term);
    case TERM_GROUP:
        return is_group(frame, term->a);
    case TERM_LENGTH:
        return frame->bytes >= term->a && frame->bytes <= term->b;
    }
    return false;
}

static bool matches(const struct rule *rule, const uint8_t *data, uint32_t bytes)
{
    struct frame frame = { data, bytes, false };

    for (uint32_t i = 0; i < rule->terms; i++)
        if (is(&frame, &rule->term[i]) == rule->term[i].inverted || frame.over)
            return false;
    return true;
}

enum action rules_apply(const struct rules *rules, const uint8_t *frame, uint32_t bytes)
{
    for (uint32_t i = 0; i < rules->n; i++)
        if (matches(&rules->rule[i], frame, bytes))
            return (enum action)rules->rule[i].action;
    return (enum action)rules->otherwise;
}
