// SPDX-License-Identifier: Apache-2.0
// Event streams over the line: `events` lines with the bytes of core-N.events, in base64.

#include <stdio.h>

#include "launcher.h"
#include "line.h"

// An event is 32 digits. The rest of the line is for what the command waits for.
enum { GROUP = 3, EVENT_DIGITS = 32, REST_BYTES = 4096 };

static void put_group(FILE *out, const unsigned char *from, size_t bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0;

    for (size_t i = 0; i < GROUP; i++)
        bits = bits << 8 | (i < bytes ? from[i] : 0);
    for (size_t i = 0; i <= GROUP; i++)
        fputc(i <= bytes ? digits[bits >> (18 - 6 * i) & 63] : '=', out);
}

static bool put_events(struct recorder *recorder, uint32_t core, const void *from, size_t bytes)
{
    FILE *out = recorder->state;
    const unsigned char *at = from;

    if (from == NULL)
        return true;
    fprintf(out, "{\"events\":{\"core\":%u,\"data\":\"", (unsigned int)core);
    for (size_t i = 0; i < bytes; i += GROUP)
        put_group(out, at + i, bytes - i < GROUP ? bytes - i : GROUP);
    fputs("\"}}\n", out);
    return fflush(out) == 0;
}

static uint32_t room(struct recorder *recorder)
{
    const size_t bytes = line_room();

    (void)recorder;
    return bytes > REST_BYTES ? (uint32_t)((bytes - REST_BYTES) / EVENT_DIGITS) : 0;
}

bool launcher_record(struct recorder *recorder, struct wb_system *system, const char *out)
{
    *recorder = (struct recorder){
        .system = system, .state = launcher_line(), .put = put_events, .room = room
    };
    (void)out;
    return recorder_begin(recorder);
}
