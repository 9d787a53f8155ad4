// SPDX-License-Identifier: Apache-2.0
// What the cases of recreate.c share with the tasks of their program.
#ifndef WB_RECREATED_H
#define WB_RECREATED_H

#include <stdint.h>

#include "wb/word.h"

enum { RECREATED_DATA_BYTES = 10000 };

struct recreated {
    struct wb_word steps, incarnation;  // of the stepper, as it knows them itself
    struct wb_word fresh;               // how often it began with no state
    struct wb_word core;                // where it is
    struct wb_word end;                 // makes it return
    struct wb_word hold;                // makes it hold a mutex at its checkpoints
    struct wb_word passed;              // of the relay: messages, by its own count
    struct wb_word sent, expected, closed;
    struct wb_swapped repeated;
    struct wb_word busy, release;  // the task that keeps the target busy
    uint64_t ran_ns, took_ns;      // of the computer
};

#endif
