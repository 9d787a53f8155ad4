// SPDX-License-Identifier: Apache-2.0
#ifndef WB_BENCH_TIMED_H
#define WB_BENCH_TIMED_H

#include <stdint.h>

/// What a module with timed checkpoints (timed_checkpoint.h) defines under this name; the arrays
/// lie in memory that all kernels share.
struct timed_checkpoints {
    double *with_ns, *without_ns;
    uint32_t room, n;  // n: also those that there was no room for
};

#endif
