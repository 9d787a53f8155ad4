// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "recorder.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// On a big-endian machine the records would have to be converted; there is no such kernel yet.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "event streams are little-endian");
_Static_assert(sizeof(struct wb_event) == 24, "the record of docs/recorded-run.md");

static bool write_header(FILE *stream, const struct wb_system *system, uint32_t core)
{
    struct {
        char magic[8];
        uint32_t version, record_bytes, core, reserved;
        uint64_t start_ns;
    } header = { .version = 1,
                 .record_bytes = sizeof(struct wb_event),
                 .core = core,
                 .start_ns = system->start_ns };

    memcpy(header.magic, "WBEVENTS", sizeof header.magic);
    return fwrite(&header, sizeof header, 1, stream) == 1;
}

bool recorder_open(struct recorder *recorder, struct wb_system *system, const char *folder)
{
    *recorder = (struct recorder){ .system = system };
    recorder->streams = calloc(system->n_cores, sizeof(FILE *));
    if (recorder->streams == NULL)
        return false;
    for (uint32_t i = 0; i < system->n_cores; i++) {
        char *path;
        if (asprintf(&path, "%s/core-%u.events", folder, i) < 0)
            return false;
        recorder->streams[i] = fopen(path, "wbe");
        free(path);
        if (recorder->streams[i] == NULL || !write_header(recorder->streams[i], system, i))
            return false;
    }
    return true;
}

void recorder_drain(struct recorder *recorder)
{
    struct wb_event event;

    if (recorder->streams == NULL)
        return;
    for (uint32_t i = 0; i < recorder->system->n_cores; i++)
        while (wb_ring_take(&recorder->system->cores[i]->record.events, &event))
            recorder->failed |= fwrite(&event, sizeof event, 1, recorder->streams[i]) != 1;
}

bool recorder_close(struct recorder *recorder)
{
    if (recorder->streams == NULL)
        return true;
    recorder_drain(recorder);
    for (uint32_t i = 0; i < recorder->system->n_cores; i++)
        if (recorder->streams[i] != NULL)
            recorder->failed |= fclose(recorder->streams[i]) != 0;
    free(recorder->streams);
    recorder->streams = NULL;
    return !recorder->failed;
}
