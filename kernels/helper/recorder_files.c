// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "recorder.h"

static bool put(struct recorder *recorder, uint32_t core, const void *from, size_t bytes)
{
    FILE **stream = &((FILE **)recorder->state)[core];

    if (from != NULL)
        return fwrite(from, bytes, 1, *stream) == 1;
    const bool closed = fclose(*stream) == 0;
    if (core + 1 == recorder->system->n_cores)
        free(recorder->state);
    return closed;
}

bool recorder_open_files(struct recorder *recorder, struct wb_system *system, const char *folder)
{
    FILE **streams = calloc(system->n_cores, sizeof(FILE *));

    if (streams == NULL)
        return false;
    for (uint32_t i = 0; i < system->n_cores; i++) {
        char *path;
        if (asprintf(&path, "%s/core-%u.events", folder, i) < 0)
            return false;
        streams[i] = fopen(path, "wbe");
        free(path);
        if (streams[i] == NULL)
            return false;
    }
    *recorder = (struct recorder){ .system = system, .state = streams, .put = put };
    return recorder_begin(recorder);
}
