// SPDX-License-Identifier: Apache-2.0
#include "recorder.h"

#include <string.h>

// On a big-endian machine the records would have to be converted; there is no such kernel yet.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "event streams are little-endian");
_Static_assert(sizeof(struct wb_event) == 24, "the record of docs/recorded-run.md");

enum { EVENTS = 64 };  // that are written at once

static void put_bytes(struct recorder *recorder, uint32_t core, const void *from, size_t bytes)
{
    recorder->failed |= !recorder->put(recorder, core, from, bytes);
}

bool recorder_begin(struct recorder *recorder)
{
    struct {
        char magic[8];
        uint32_t version, record_bytes, core, reserved;
        uint64_t start_ns;
    } header = { .version = 1,
                 .record_bytes = sizeof(struct wb_event),
                 .start_ns = recorder->system->start_ns };

    memcpy(header.magic, "WBEVENTS", sizeof header.magic);
    for (; header.core < recorder->system->n_cores; header.core++)
        put_bytes(recorder, header.core, &header, sizeof header);
    return !recorder->failed;
}

// True when there may be more.
static bool drain(struct recorder *recorder, uint32_t core, uint32_t most)
{
    struct wb_ring *events = &recorder->system->cores[core]->record.events;
    struct wb_event some[EVENTS];
    const uint32_t n = wb_ring_take_events(events, some, most < EVENTS ? most : EVENTS);

    if (n != 0)
        put_bytes(recorder, core, some, n * sizeof some[0]);
    return n == EVENTS;
}

void recorder_drain(struct recorder *recorder)
{
    if (recorder->system == NULL)
        return;
    for (uint32_t i = 0; i < recorder->system->n_cores; i++) {
        if (recorder->cores != NULL && !recorder->cores[i])
            continue;
        if (recorder->room != NULL)
            (void)drain(recorder, i, recorder->room(recorder));
        else
            while (drain(recorder, i, EVENTS)) {}
    }
}

bool recorder_close(struct recorder *recorder)
{
    if (recorder->system == NULL)
        return true;
    recorder->room = NULL;
    recorder_drain(recorder);
    for (uint32_t i = 0; i < recorder->system->n_cores; i++)
        put_bytes(recorder, i, NULL, 0);
    recorder->system = NULL;
    return !recorder->failed;
}
