// SPDX-License-Identifier: Apache-2.0
// What harnesses of kernels that have a launcher (launcher/api/host.h) share.
#ifndef WB_CONFORM_LAUNCHER_H
#define WB_CONFORM_LAUNCHER_H

#include "harness.h"
#include "host.h"

struct harness {
    struct wb_host *host;
};

// A system with room for so many tasks has an index of those that wait (middleware/src/sync/
// waiters.c); one for HARNESS_TASKS has none.
enum { HARNESS_INDEXED_TASKS = 80 };

/// Ends the program: the suite cannot go on.
_Noreturn void launcher_give_up(const char *what);

/// An empty system's harness. `more` says what the kernels need besides what the suite does, and
/// may say for how many tasks there is room.
struct harness *launcher_open(const struct harness_config *config, uint64_t for_ever_ns,
                              struct wb_host_config more);

#endif
