// SPDX-License-Identifier: Apache-2.0
// What no message between two processors can beat, and the lightest ways of Linux to wake another
// thread. Each to and fro; a sample is of `ways` ways, of which there are two in a round.
#ifndef WB_BENCH_RAW_H
#define WB_BENCH_RAW_H

#include "bench.h"

struct bench_raw {
    const struct bench_options *options;
    struct bench_samples *samples;
    uint32_t trips;
    double ways;
    bool each_way;  // a line of its own for each direction: what two channels need
};

enum { BENCH_BYTES_MOST = 32 << 10, BENCH_LINE_BYTES = 64, BENCH_TRIPS = 16 };

/// One cache line is handed over; with more than one line's `bytes`, as many are copied in by one
/// side and out by the other besides, in each way. A sample for each BENCH_TRIPS rounds.
void bench_raw_line(const struct bench_raw *raw, uint32_t bytes);

/// A pair of eventfds; a pair of futexes, in memory that kernels share.
void bench_raw_eventfds(const struct bench_raw *raw);
void bench_raw_futexes(const struct bench_raw *raw);

/// A context leaves one processor by a switch of registers, and goes on by another at the other
/// one, which polls one line for it and takes its registers from a second. A sample for each move;
/// `ways` does not count.
void bench_raw_handoff(const struct bench_raw *raw);

/// A thread that has computed for `work_ns` wakes one that sleeps at a futex, in turns: until that
/// one runs. A sample for each.
void bench_raw_wakes(const struct bench_raw *raw, uint64_t work_ns);

#endif
