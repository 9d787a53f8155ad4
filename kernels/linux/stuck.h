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

/// One look. Says true at the second in a row that finds no change and only tasks that wait without
/// a time limit; `text` then says who waits for what. Call it a few times a second.
bool stuck_look(struct stuck *stuck, struct wb_system *system, char *text, size_t bytes);

#endif
