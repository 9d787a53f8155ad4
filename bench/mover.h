// SPDX-License-Identifier: Apache-2.0
// What the benchmark of recreation shares with the task that it recreates (program/mover.c).
#ifndef WB_BENCH_MOVER_H
#define WB_BENCH_MOVER_H

#include <stdint.h>

enum { RECREATE_WARM_UP = 20, RECREATE_MOVES_MAX = 1000 };

struct recreate_plan {
    uint32_t moves, done, state_bytes;
    uint64_t from_ns;  // when the task asked for the present move
    uint64_t took_ns[RECREATE_MOVES_MAX];
};

#endif
