// SPDX-License-Identifier: Apache-2.0
// Finds out when nothing can ever happen again: every task waits and nobody is left to wake one.
#ifndef WB_DEADLOCK_H
#define WB_DEADLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "wb/system.h"

struct deadlock {
    uint64_t switches;  // at the last look
    bool suspected;
};

struct deadlock_report {
    char text[1024];     // tasks that wait for each other in a cycle; else who waits for what
    char channels[256];  // the names of the channels in which they wait, with spaces in between
};

/// Why nothing can happen. What has no room is left out.
void deadlock_describe(const struct wb_system *system, struct deadlock_report *why);

/// One look. Says true at the second in a row that finds no change and only tasks that wait without
/// a time limit; `why` then says what they wait for. Call it a few times a second.
bool deadlock_check(struct deadlock *deadlock, struct wb_system *system,
                    struct deadlock_report *why);

#endif
