// SPDX-License-Identifier: Apache-2.0
// Event streams of a recorded run (docs/recorded-run.md).
#ifndef WB_RECORDER_H
#define WB_RECORDER_H

#include <stdbool.h>
#include <stdio.h>

#include "wb/system.h"

struct recorder {
    struct wb_system *system;
    FILE **streams;  // one per core; NULL: not recorded
    bool failed;     // a write failed
};

/// Creates one stream per core in `folder`. False, with errno, when that fails.
bool recorder_open(struct recorder *recorder, struct wb_system *system, const char *folder);

/// Writes what the kernels have noted since the last call.
void recorder_drain(struct recorder *recorder);

/// Writes the rest. False when anything could not be written.
bool recorder_close(struct recorder *recorder);

#endif
