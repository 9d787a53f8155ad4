// SPDX-License-Identifier: Apache-2.0
// How rules are read: a table of words, and a few that take a number or an address.
#include <stdio.h>
#include <string.h>

#include "rules.h"

struct reader {
    const char *at, *word;  // word: the one that was taken last
    size_t length;
    char *why;
};

// ---- Words --------------------------------------------------------------------------------------

static bool refuse(const struct reader *reader, const char *cause)
{
    snprintf(reader->why, RULES_WHY_BYTES, "rules: %s at \"%.60s\"", cause,
             *reader->word ? reader->word : "the end");
    return false;
}

// `;` is a word by itself.
static bool take(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\n");
    reader->word = reader->at;
    reader->length = *reader->at == ';' ? 1 : strcspn(reader->at, " \t\n;");
    reader->at += reader->length;
    return reader->length > 0;
}

static bool is(const struct reader *reader, const char *word)
{
    return strlen(word) == reader->length && memcmp(reader->word, word, reader->length) == 0;
}

static bool next_is(struct reader *reader, const char *word)
{
    struct reader ahead = *reader;

    if (!take(&ahead) || !is(&ahead, word))
        return false;
    *reader = ahead;
    return true;
}

// A number of digits, up to `most`, that ends where `*at` is left.
static bool number(const char **at, const char *end, uint32_t most, uint32_t *value)
{
    const char *from = *at;

    for (*value = 0; *at < end && **at >= '0' && **at <= '9' && *value <= most; (*at)++)
        *value = *value * 10 + (uint32_t)(**at - '0');
    return *at > from && *value <= most;
}

static bool take_number(struct reader *reader, uint32_t most, uint32_t *value)
{
    if (!take(reader))
        return refuse(reader, "a number is missing");
    const char *at = reader->word, *end = reader->word + reader->length;
    return (number(&at, end, most, value) && at == end) ||
           refuse(reader, "this is not a valid number");
}

// A.B.C.D, and /N where a net is wanted.
static bool take_address(struct reader *reader, bool net, struct term *term)
{
    if (!take(reader))
        return refuse(reader, "an address is missing");
    const char *at = reader->word, *end = reader->word + reader->length;
    uint32_t part, bits = 32;

    term->a = 0;
    for (int i = 0; i < 4; i++) {
        if ((i > 0 && (at == end || *at++ != '.')) || !number(&at, end, 255, &part))
            return refuse(reader, "this is not an address A.B.C.D");
        term->a = term->a << 8 | part;
    }
    if (net && (at == end || *at++ != '/' || !number(&at, end, 32, &bits)))
        return refuse(reader, "this is not a net A.B.C.D/N");
    term->b = bits ? UINT32_MAX << (32 - bits) : 0;
    if (at != end)
        return refuse(reader, "something follows the address");
    return (term->a & ~term->b) == 0 || refuse(reader, "the address has bits outside of its net");
}

// ---- Terms --------------------------------------------------------------------------------------

static const struct name {
    const char *word;
    uint32_t value;
} types[] = { { "ip", 0x0800 }, { "ip6", 0x86dd }, { "arp", 0x0806 } },
  protocols[] = { { "tcp", 6 }, { "udp", 17 }, { "icmp", 1 }, { "icmp6", 58 } },
  groups[] = { { "broadcast", 0 }, { "multicast", 1 } },
  actions[] = { { "forward", FORWARD }, { "store", STORE }, { "discard", DISCARD } };

#define FIND(names, reader, value) find(names, sizeof(names) / sizeof *(names), reader, value)

static bool find(const struct name *names, size_t n, const struct reader *reader, uint32_t *value)
{
    for (size_t i = 0; i < n; i++)
        if (is(reader, names[i].word)) {
            *value = names[i].value;
            return true;
        }
    return false;
}

static void take_direction(struct reader *reader, struct term *term)
{
    term->source = next_is(reader, "src");
    term->destination = !term->source && next_is(reader, "dst");
    if (!term->source && !term->destination)
        term->source = term->destination = true;
}

// After `ip`: nothing, or [src|dst] host or net.
static bool read_ip(struct reader *reader, struct term *term)
{
    struct reader ahead = *reader;

    take_direction(&ahead, term);
    const bool net = next_is(&ahead, "net");
    if (!net && !next_is(&ahead, "host"))
        return term->source && term->destination ? true : refuse(&ahead, "host or net is missing");
    *reader = ahead;
    term->kind = TERM_NET;
    return take_address(reader, net, term);
}

// Of `protocol` only, or of any if that is 0.
static bool read_port(struct reader *reader, struct term *term, uint32_t protocol)
{
    take_direction(reader, term);
    if (!next_is(reader, "port"))
        return refuse(reader, "port is missing");
    term->kind = TERM_PORT;
    term->b = protocol;
    return take_number(reader, 65535, &term->a);
}

static bool read_protocol(struct reader *reader, struct term *term)
{
    struct reader ahead = *reader;
    const bool can_have_ports = term->a == 6 || term->a == 17;

    term->kind = TERM_PROTOCOL;
    if (!can_have_ports ||
        !(next_is(&ahead, "src") || next_is(&ahead, "dst") || next_is(&ahead, "port")))
        return true;
    return read_port(reader, term, term->a);
}

static bool read_length(struct reader *reader, struct term *term)
{
    const bool less = is(reader, "less");
    uint32_t bytes;

    if (!take_number(reader, 65535, &bytes))
        return false;
    *term = (struct term){ .kind = TERM_LENGTH, .inverted = term->inverted };
    term->a = less ? 0 : bytes;
    term->b = less ? bytes : UINT32_MAX;
    return true;
}

static bool read_group(struct reader *reader, struct term *term)
{
    term->kind = TERM_GROUP;
    return (take(reader) && FIND(groups, reader, &term->a)) ||
           refuse(reader, "broadcast or multicast is missing");
}

// `vlan`, and the number of one if it is given.
static bool read_vlan(struct reader *reader, struct term *term)
{
    struct reader ahead = *reader;

    term->kind = TERM_VLAN;
    term->a = UINT32_MAX;
    if (!take(&ahead) || *ahead.word < '0' || *ahead.word > '9')
        return true;
    return take_number(reader, 4095, &term->a);
}

// `src` and `port` begin a term by themselves: they are not taken yet.
static bool read_bare_port(struct reader *reader, struct term *term)
{
    reader->at = reader->word;
    return read_port(reader, term, 0);
}

static bool read_term(struct reader *reader, struct term *term)
{
    *term = (struct term){ .inverted = next_is(reader, "not") };
    if (!take(reader))
        return refuse(reader, "a condition is missing");
    if (FIND(protocols, reader, &term->a))
        return read_protocol(reader, term);
    if (FIND(types, reader, &term->a)) {
        term->kind = TERM_TYPE;
        return !is(reader, "ip") || read_ip(reader, term);
    }
    if (is(reader, "src") || is(reader, "dst") || is(reader, "port"))
        return read_bare_port(reader, term);
    if (is(reader, "less") || is(reader, "greater"))
        return read_length(reader, term);
    if (is(reader, "vlan"))
        return read_vlan(reader, term);
    if (is(reader, "ether"))
        return read_group(reader, term);
    return refuse(reader, "this is not a condition");
}

// ---- Rules --------------------------------------------------------------------------------------

bool rules_action(const char *word, size_t length, uint8_t *action)
{
    const struct reader reader = { .word = word, .length = length };
    uint32_t value;

    if (!FIND(actions, &reader, &value))
        return false;
    *action = (uint8_t)value;
    return true;
}

static bool read_rule(struct reader *reader, struct rule *rule)
{
    if (!rules_action(reader->word, reader->length, &rule->action))
        return refuse(reader, "forward, store or discard is missing");
    do {
        if (rule->terms == RULE_TERMS_MAX)
            return refuse(reader, "a rule has more than 8 conditions");
        if (!read_term(reader, &rule->term[rule->terms++]))
            return false;
    } while (next_is(reader, "and"));
    if (!take(reader) || is(reader, ";"))
        return true;
    return refuse(reader, "`and` or `;` is missing");
}

bool rules_read(struct rules *rules, const char *text, char why[RULES_WHY_BYTES])
{
    struct reader reader = { .at = text, .word = text, .why = why };

    *rules = (struct rules){ .otherwise = DISCARD };
    while (take(&reader)) {
        if (rules->n == RULES_MAX)
            return refuse(&reader, "there are more than 16 rules");
        if (!read_rule(&reader, &rules->rule[rules->n++]))
            return false;
    }
    return true;
}
