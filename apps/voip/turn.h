// SPDX-License-Identifier: Apache-2.0
// Libre's main loop, one turn at a time: it waits for descriptors by itself, and a task must not.
#ifndef VOIP_TURN_H
#define VOIP_TURN_H

#include <stdbool.h>
#include <stdio.h>

struct turn {
    FILE *nowhere;
    int stop;  // an eventfd that ends the loop
    int loop;  // readable when there is something to handle besides timers
};

/// Context: the agent, after libre_init().
/// Returns: false, with the reason in `errno`.
bool turn_open(struct turn *turn);

/// Handles all that has come and all timers that are due.
///
/// Context: the agent. Never blocks.
/// Returns: false where the loop fails, with the reason in `errno`.
bool turn_take(struct turn *turn);

/// Context: the agent, before libre_close().
void turn_close(struct turn *turn);

#endif
