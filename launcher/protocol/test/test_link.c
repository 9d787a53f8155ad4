// SPDX-License-Identifier: Apache-2.0
// The line of a board: what arrives is what was sent, whatever happens to it on its way.

#include "../../board/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MS 1000000ull

enum { LINES = 300, LONGEST = 700, WIRE_BYTES = 1 << 20, STEP_BYTES = 400 };

// A direction of the wire: what was sent and has not come yet.
struct wire {
    char bytes[WIRE_BYTES];
    size_t first, after;
    uint64_t passed;
};

static struct link ends[2];
static struct wire wires[2];  // from each end
static int sender;            // the end that sends now
static uint64_t random_state, flips;
static double rate;  // how likely a bit is flipped

static uint32_t draw(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33);
}

static void put(const char *bytes, size_t n)
{
    struct wire *wire = &wires[sender];

    if (wire->first == wire->after)
        wire->first = wire->after = 0;
    CHECK(n <= WIRE_BYTES - wire->after);
    memcpy(wire->bytes + wire->after, bytes, n);
    wire->after += n;
}

static void begin(double errors)
{
    memset(ends, 0, sizeof ends);
    memset(wires, 0, sizeof wires);
    for (int i = 0; i < 2; i++)
        ends[i].put = put, ends[i].session = 7;
    random_state = 2011, rate = errors, flips = 0;
}

static char flipped(char byte)
{
    for (int bit = 0; bit < 8; bit++)
        if (draw() < rate * 2147483648.0)
            byte = (char)(byte ^ 1 << bit), flips++;
    return byte;
}

// What is on the wire comes to the other end. One byte in eight that are changed is lost.
static void carry(int to, size_t most, uint64_t now_ns)
{
    struct wire *wire = &wires[1 - to];

    sender = to;
    for (size_t n = 0; n < most && wire->first != wire->after; n++) {
        const char sent = wire->bytes[wire->first++], came = flipped(sent);
        wire->passed++;
        if (came == sent || draw() % 8 != 0)
            link_take(&ends[to], &came, 1, now_ns);
    }
    link_tick(&ends[to], now_ns);
}

// The line of a number, and of an end; its bytes and its length are drawn.
static size_t make(char *line, int end, int number)
{
    const uint64_t kept = random_state;
    random_state = (uint64_t)(end * LINES + number + 1) * 977;
    draw();
    const size_t bytes = draw() % LONGEST;
    for (size_t i = 0; i < bytes; i++)
        line[i] = (char)(' ' + draw() % 95);
    line[bytes] = '\n';
    random_state = kept;
    return bytes + 1;
}

struct talk {
    char line[LONGEST + 1];
    size_t bytes, told;  // of the line that is being written
    int written, heard;
    char wanted[LONGEST + 1];
    size_t wanted_bytes, at;
};

static void speak(struct talk *talk, int end, uint64_t now_ns)
{
    sender = end;
    while (talk->written < LINES) {
        if (talk->told == talk->bytes)
            talk->bytes = make(talk->line, end, talk->written), talk->told = 0;
        const size_t n =
            link_write(&ends[end], talk->line + talk->told, talk->bytes - talk->told, now_ns);
        talk->told += n;
        if (talk->told < talk->bytes)
            return;
        talk->written++;
    }
}

// False when something came that was not sent, or in another order.
static bool listen(struct talk *talk, int end)
{
    char byte;

    while (link_read(&ends[end], &byte, 1) == 1) {
        if (talk->at == talk->wanted_bytes)
            talk->wanted_bytes = make(talk->wanted, 1 - end, talk->heard), talk->at = 0;
        if (talk->heard == LINES || byte != talk->wanted[talk->at++])
            return false;
        talk->heard += byte == '\n';
    }
    return true;
}

// How many milliseconds it takes until both ends have all; 0: they never do.
static uint64_t converse(double errors)
{
    static struct talk talks[2];

    begin(errors);
    memset(talks, 0, sizeof talks);
    for (uint64_t ms = 1; ms < 600000; ms++) {
        bool done = true;
        for (int end = 0; end < 2; end++) {
            speak(&talks[end], end, ms * MS);
            carry(end, STEP_BYTES, ms * MS);
            if (!listen(&talks[end], end))
                return 0;
            done &= talks[end].heard == LINES && link_is_done(&ends[end]) && !ends[end].gone;
        }
        if (done)
            return ms;
    }
    return 0;
}

TEST(all_lines_come_once_and_in_order_whatever_bits_are_flipped)
{
    static const double rates[] = { 0, 1e-6, 1e-5, 1e-4, 5e-4 };

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        const uint64_t ms = converse(rates[i]);
        printf("%g of the bits: %d bits, %d ms, %d bytes for %d lines\n", rates[i], (int)flips,
               (int)ms, (int)(wires[0].passed + wires[1].passed), 2 * LINES);
        CHECK(ms != 0);
        CHECK((flips != 0) == (i != 0));
    }
}

TEST(nothing_is_sent_twice_over_a_line_that_changes_nothing)
{
    const uint64_t ms = converse(0);
    uint64_t text = 0;
    char line[LONGEST + 1];

    CHECK(ms != 0);
    for (int end = 0; end < 2; end++)
        for (int number = 0; number < LINES; number++)
            text += make(line, end, number);
    // Each piece has a tail, and is acknowledged by another's.
    CHECK(wires[0].passed + wires[1].passed < text * 5 / 4);
}

static void hear(int end, const char *text, uint64_t now_ns)
{
    sender = end;
    link_take(&ends[end], text, strlen(text), now_ns);
}

TEST(a_line_belongs_to_the_command_that_opened_it)
{
    char line[32];

    begin(0);
    ends[0].session = 0;
    hear(0, "U-Boot\nhello\t.00000000eb3ddf1a\n", 0);
    CHECK(ends[0].session == 0 && link_read(&ends[0], line, sizeof line) == 0);
    hear(0, "\t!1234abcde6074b8c\n", 0);
    CHECK(ends[0].session == 0x1234abcd);
    hear(0, "hello\t.000000006595ca43\n", 0);
    CHECK(link_read(&ends[0], line, sizeof line) == 6 && memcmp(line, "hello\n", 6) == 0);
    hear(0, "hello\t.000000006595ca43\n", 0);  // again: it has come
    CHECK(link_read(&ends[0], line, sizeof line) == 0 && !ends[0].replaced);
    hear(0, "\t!0000abcdce268e55\n", 0);
    CHECK(ends[0].replaced && ends[0].session == 0x1234abcd);
}

TEST(a_command_that_knows_no_checksums_is_noticed)
{
    begin(0);
    ends[0].session = 0;
    hear(0, "\n{\"start\":{\"plan\":\"5f0c2a9d11e83b47\"}}\n", 0);
    CHECK(ends[0].old_command);
}

// Its clock goes on, and neither end does.
TEST(a_machine_that_stood_still_has_not_lost_the_command)
{
    begin(0);
    CHECK(link_write(&ends[0], "hello\n", 6, 0) == 6);
    link_tick(&ends[0], 60000 * MS);
    CHECK(!ends[0].gone && !link_is_done(&ends[0]));
}

TEST(what_nobody_acknowledges_is_dropped_in_the_end_and_holds_nobody_up)
{
    char line[200];
    size_t taken = sizeof line;

    begin(0);
    memset(line, 'a', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 1000 && taken == sizeof line; i++)
        taken = link_write(&ends[0], line, sizeof line, 0);
    CHECK(taken < sizeof line);
    for (uint64_t ms = 0; ms < 60000; ms++) {
        wires[0].first = wires[0].after = 0;
        link_tick(&ends[0], ms * MS);
    }
    CHECK(ends[0].gone && link_is_done(&ends[0]));
    CHECK(link_write(&ends[0], line, sizeof line, 60000 * MS) == sizeof line);
}
