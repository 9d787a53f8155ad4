// SPDX-License-Identifier: Apache-2.0
// A board's end of the line, in virtual time, for the tests of the command's end (board/link.rs):
// it speaks all that it is given first, and hears. Each step has what has come, and when; each
// answer has what it sends, and what it has heard.
//
//   uint32_t bytes, TEXT    what it speaks
//   { uint64_t now_ns; uint32_t bytes; BYTES } -> { uint32_t sent, heard; SENT; HEARD }

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../launcher/board/link.h"

enum { MOST = 1 << 20 };

static char text[MOST], came[MOST], sent[MOST], heard[MOST];
static uint32_t n_sent;

static void put(const char *bytes, size_t n)
{
    if (n > MOST - n_sent)
        exit(3);
    memcpy(sent + n_sent, bytes, n);
    n_sent += (uint32_t)n;
}

static uint32_t take(char *to)
{
    uint32_t bytes;

    if (fread(&bytes, sizeof bytes, 1, stdin) != 1 || bytes > MOST ||
        fread(to, 1, bytes, stdin) != bytes)
        exit(0);  // the test is over
    return bytes;
}

int main(void)
{
    static struct link link = { .put = put };
    const uint32_t n_text = take(text);
    uint32_t written = 0;
    uint64_t now_ns;

    while (fread(&now_ns, sizeof now_ns, 1, stdin) == 1) {
        const uint32_t n = take(came);
        link_take(&link, came, n, now_ns);
        written += (uint32_t)link_write(&link, text + written, n_text - written, now_ns);
        link_tick(&link, now_ns);
        const uint32_t n_heard = (uint32_t)link_read(&link, heard, MOST);
        fwrite(&n_sent, sizeof n_sent, 1, stdout);
        fwrite(&n_heard, sizeof n_heard, 1, stdout);
        fwrite(sent, 1, n_sent, stdout);
        fwrite(heard, 1, n_heard, stdout);
        fflush(stdout);
        n_sent = 0;
    }
    return 0;
}
