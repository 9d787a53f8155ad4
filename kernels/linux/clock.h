// SPDX-License-Identifier: Apache-2.0
// The run's clock: the processor's own counter where Linux trusts it as its clock, else
// CLOCK_MONOTONIC. A counter read costs a third of the system's clock, and every switch reads it.
#ifndef WB_CLOCK_H
#define WB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/// A clock of Linux, by its clockid_t: of the wall, or of what a thread or a process ran. 0: there
/// is none such.
uint64_t clock_read_ns(int id);

/// Chooses and calibrates the clock. Once, in the launcher: kernels inherit it. `is_common`: an
/// emulator has it as well, so it is CLOCK_MONOTONIC, from which a counter drifts.
///
/// Blocks for 20 ms where the counter's frequency has to be measured.
void clock_init(bool is_common);

/// Nanoseconds since clock_init(), the same on every core.
uint64_t clock_now_ns(void);

// How the clock is read; constant after clock_init().
struct clock_rate {
    bool counter;
    uint32_t shift;   // of a counter below 1 GHz, else 0
    uint64_t start;   // counter ticks or monotonic nanoseconds
    uint64_t hz;      // see clock_hz()
    uint64_t factor;  // nanoseconds in 2^-shift of a tick, in units of 2^-64
};

/// For a process that is no fork of the launcher: the same clock.
struct clock_rate clock_rate(void);
void clock_use(struct clock_rate rate);

/// How many cycles modelled computing has in a second where no operating point says it: the
/// frequency of the processor's own counter, as it was measured; 1 GHz where there is none, or the
/// clock is a timer of the machine's.
uint64_t clock_hz(void);

/// "counter" or "monotonic".
const char *clock_name(void);

#endif
