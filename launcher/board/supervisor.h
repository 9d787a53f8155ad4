// SPDX-License-Identifier: Apache-2.0
// Two programs on the first core: its kernel, and a supervisor that is outside of every kernel, a
// launcher or a suite of tests. A timer wakes the latter in the place of the kernel, whatever this
// does: its interrupt is more urgent than any that the kernel masks for long. It calls nothing of
// the kernel, and goes on when that has been killed. On a board that says when its kernel is idle,
// the supervisor runs meanwhile, and gives way when the kernel is called.
#ifndef WB_SUPERVISOR_H
#define WB_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

/// Prepares a program that runs from the next rest on: the first core's kernel. supervisor_share()
/// calls `look`, unless it is NULL.
///
/// Context: the supervisor.
void supervisor_begin(void (*kernel)(void), void (*look)(void));

/// Never lets the first core's kernel run again, from now on or until supervisor_begin().
void supervisor_kill_kernel(void);

/// Lets the first core's kernel run for as long as the supervisor ran before: for at least
/// board_timeslice_ns(), and at most 10 times that. Where board_tells_idle(), it runs nine times as
/// long, at most 50 times board_timeslice_ns(), and an idle one gives the core back after one.
///
/// Context: the supervisor. Blocks.
void supervisor_yield(void);

/// The same in the midst of long work, if the kernel has something to do and the supervisor has run
/// for an eighth of board_timeslice_ns(). If the kernel is idle, the supervisor continues. Calls
/// `look` in both cases.
///
/// Context: the supervisor, or the first core's kernel in its place. Blocks.
void supervisor_share(void);

#endif
