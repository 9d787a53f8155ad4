// SPDX-License-Identifier: Apache-2.0
// Event streams of a recorded run (docs/recorded-run.md).
#ifndef WB_RECORDER_H
#define WB_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "wb/system.h"

// Where the streams go: to files (recorder_files.c), or over a board's line.
struct recorder {
    struct wb_system *system;  // NULL: not recorded
    void *state;               // of whoever takes the bytes

    // Takes the next bytes of a core's stream; NULL: its end. False when that fails.
    bool (*put)(struct recorder *recorder, uint32_t core, const void *from, size_t bytes);

    // How many events can be written now; NULL: any number, and whoever writes waits.
    uint32_t (*room)(struct recorder *recorder);

    const bool *cores;  // whose streams are this process's; NULL: all are
    bool failed;        // something could not be written
};

/// Opens the streams of a run. False when that fails. `where`: the plan's.
typedef bool recorder_opener(struct recorder *recorder, struct wb_system *system,
                             const char *where);

/// Creates one file per core in a folder. False, with errno, when that fails.
recorder_opener recorder_open_files;

/// Writes the heads of the streams. False when that fails.
bool recorder_begin(struct recorder *recorder);

/// Writes what the kernels have noted since the last call.
void recorder_drain(struct recorder *recorder);

/// Writes the rest. False when anything could not be written.
bool recorder_close(struct recorder *recorder);

#endif
