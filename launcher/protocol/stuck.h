// SPDX-License-Identifier: Apache-2.0
// Finds out when nothing can ever happen again: every task waits and nobody is left to wake one.
#ifndef WB_STUCK_H
#define WB_STUCK_H

#include <stdbool.h>
#include <stddef.h>

#include "wb/system.h"

struct stuck {
    uint64_t switches;  // at the last look
    bool suspected;
};

struct stuck_why {
    char text[1024];     // tasks that wait for each other in a cycle; else who waits for what
    char channels[256];  // the names of the channels in which they wait, with spaces in between
};

/// Why nothing can happen. What has no room is left out.
void stuck_describe(const struct wb_system *system, struct stuck_why *why);

/// One look. Says true at the second in a row that finds no change and only tasks that wait without
/// a time limit; `why` then says what they wait for. Call it a few times a second.
bool stuck_look(struct stuck *stuck, struct wb_system *system, struct stuck_why *why);

#endif
