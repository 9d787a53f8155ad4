// SPDX-License-Identifier: Apache-2.0
// Included before every file of a module that is built a second time (-include): each of its
// checkpoints is timed where it stands, with the caches and branch predictors as the work before it
// leaves them. The clock is read twice before, so that what reading it takes is known as well.
// Every other checkpoint is fenced in.
#ifndef WB_BENCH_TIMED_CHECKPOINT_H
#define WB_BENCH_TIMED_CHECKPOINT_H

#include "timed.h"
#include "wb/system.h"

extern struct timed_checkpoints timed_checkpoints;
__attribute__((weak)) struct timed_checkpoints timed_checkpoints;

// What was under way is over, and nothing after it has begun.
static inline void timed_fence(void)
{
#if defined(__x86_64__)
    __asm__ volatile("lfence" : : : "memory");
#else
    __asm__ volatile("isb" : : : "memory");
#endif
}

static inline uint64_t timed_now_ns(bool serial)
{
    if (serial)
        timed_fence();
    const uint64_t now_ns = wb_now_ns();
    if (serial)
        timed_fence();
    return now_ns;
}

static inline void timed_checkpoint(void)
{
    struct timed_checkpoints *t = &timed_checkpoints;
    const uint32_t id = wb_kernel_self()->id % TIMED_TASKS;
    const bool serial = t->n[id] % TIMED_KINDS == TIMED_SERIAL;

    timed_fence();
    const uint64_t from_ns = timed_now_ns(serial);
    const uint64_t middle_ns = timed_now_ns(serial);
    wb_checkpoint();
    const uint64_t to_ns = timed_now_ns(serial);
    const uint32_t at = id * TIMED_ROOM + t->n[id] % TIMED_ROOM;
    t->without_ns[at] = (double)(middle_ns - from_ns);
    t->with_ns[at] = (double)(to_ns - middle_ns);
    t->n[id]++;
}

#define wb_checkpoint timed_checkpoint

#endif
