// SPDX-License-Identifier: Apache-2.0
// What recreate.c shares with the task that it moves, which lives in a program of its own.
#ifndef WB_BENCH_MOVER_H
#define WB_BENCH_MOVER_H

#include <stddef.h>
#include <stdint.h>

enum { RECREATE_WARM_UP = 2, RECREATE_MOVES = 10 };

struct recreate {  // in globally visible memory; written by the task
    size_t bytes;
    uint64_t from_ns;  // when it last asked to be moved
    uint32_t incarnation;
    double ns[RECREATE_MOVES];
};

#endif
