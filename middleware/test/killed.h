// SPDX-License-Identifier: Apache-2.0
// Kills a kernel at every instruction of what it does.
//
// A child process plays the kernel of core 0 in memory that it shares with the test, and is run one
// instruction at a time. Whenever the shared memory has changed, the test takes over what a kernel
// killed at that instruction would have left, checks it, puts the memory back, and lets the child
// go on.
#ifndef WB_KILLED_H
#define WB_KILLED_H

#include <stddef.h>
#include <stdint.h>

struct wb_task;

struct killed {
    void (*build)(void);  // lays the system out, with the stub kernel
    void (*act)(void);    // what core 0 does, in the child
    void (*check)(void);  // core 0 has died: what must hold now
};

/// Plays `act`, and checks after each of its stores: at least so many times. Skips the test where
/// processes cannot be run by single instructions.
void killed_show(const struct killed *killed, uint32_t at_least);

/// Lays out two cores, with `*task` on core 0, which is killed and starts again, and `*peer`, more
/// urgent, on core 1. The system is still to be started. Returns `bytes` of memory that all share.
void *killed_pair(struct wb_task **task, struct wb_task **peer, size_t bytes);

/// In `check`: core 0 dies, and `task`, which was there, starts again on core 1 and runs.
void killed_start_again(struct wb_task *task);

/// How far `act` has come, in shared memory: written by it, read by `check`.
uint32_t *killed_progress(void);

#endif
