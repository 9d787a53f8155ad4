// SPDX-License-Identifier: Apache-2.0
// Two programs on the first core: its kernel, and a supervisor that is outside of every kernel, a
// launcher or a suite of tests. A timer wakes the latter in the place of the kernel, whatever this
// does: its interrupt is more urgent than any that the kernel masks for long. It calls nothing of
// the kernel, and goes on when that has been killed.
#ifndef WB_SUPERVISOR_H
#define WB_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

/// Prepares a program that runs from the next rest on: the first core's kernel.
///
/// Context: the supervisor.
void supervisor_begin(void (*kernel)(void));

/// Never lets the first core's kernel run again, from now on or until supervisor_begin().
void supervisor_kill_kernel(void);

/// Lets the first core's kernel run for a while: about as long as the supervisor ran before,
/// and not less than board_timeslice_ns(), nor more than ten times that.
///
/// Context: the supervisor. Blocks.
void supervisor_yield(void);

#endif
