// SPDX-License-Identifier: Apache-2.0
// What the cases of recreate.c share with the tasks of their program.
#ifndef WB_RECREATED_H
#define WB_RECREATED_H

#include <stdatomic.h>
#include <stdint.h>

enum { RECREATED_DATA_BYTES = 10000 };

struct recreated {
    _Atomic uint32_t steps, lives;  // of the stepper, as it knows them itself
    _Atomic uint32_t fresh;         // how often it began with no state
    _Atomic uint32_t core;          // where it is
    _Atomic uint32_t end;           // makes it return
    _Atomic uint32_t hold;          // makes it hold a mutex at its checkpoints
    _Atomic uint32_t passed;        // of the relay: messages, by its own count
    _Atomic uint32_t sent, expected, closed, repeated;
    _Atomic uint32_t busy, release;  // the task that keeps the target busy
    uint64_t ran_ns, took_ns;        // of the computer
};

#endif
