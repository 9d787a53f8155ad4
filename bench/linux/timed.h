// SPDX-License-Identifier: Apache-2.0
// Times of a module's checkpoints, by task: what the module of timed_checkpoint.h defines under the
// name `timed_checkpoints`.
#ifndef WB_BENCH_TIMED_H
#define WB_BENCH_TIMED_H

#include <stdint.h>

enum { TIMED_TASKS = 8, TIMED_ROOM = 1 << 18 };

// How checkpoint n was timed: kind n % 2.
enum timed_kind { TIMED_OVERLAPPED, TIMED_SERIAL, TIMED_KINDS };

// Those of task i begin at i * TIMED_ROOM, in memory that all kernels share. n counts also those
// that there was no room for.
struct timed_checkpoints {
    double *with_ns, *without_ns;
    uint32_t n[TIMED_TASKS];
};

#endif
