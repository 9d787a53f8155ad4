// SPDX-License-Identifier: Apache-2.0
// A kernel for tests: every core of a system in one thread, switched in a fixed order.
//
// Time is a count of steps, so a run is the same every time. At a chosen step the core that runs
// then is killed, as a kernel process can be between any two instructions.
#ifndef FM_ONE_PROCESS_H
#define FM_ONE_PROCESS_H

#include <stdint.h>

#include "wb/system.h"

enum { STACK_BYTES = 64 << 10, NEVER = 0 };

/// Runs a system until its tasks are over. A deadlock or a fault ends the program.
///
/// `kill_at` is the step that one core does not live to see, or NEVER. Every `move_every` steps a
/// task is asked to move to the other core, or none if that is NEVER.
///
/// Context: the test. Not reentrant.
/// Returns: the number of steps.
uint32_t one_process_run(struct wb_system *system, uint32_t kill_at, uint32_t move_every);

#endif
