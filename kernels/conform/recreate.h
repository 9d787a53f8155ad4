// SPDX-License-Identifier: Apache-2.0
// What the cases of recreation share: a system with one task of the suite's program.
#ifndef WB_RECREATE_H
#define WB_RECREATE_H

#include "recreated.h"
#include "suite.h"

/// A system of `cores` cores with shared memory for struct recreated.
struct harness *recreate_open(uint32_t cores);

/// Adds task `name` of the program. Ends the test, as skipped, where that is impossible: NULL.
struct wb_task *recreate_add(struct harness *h, const char *name, uint32_t core);

/// True where a program is a process that can be killed. Ends the test, as skipped, elsewhere.
bool recreate_in_processes(void);

/// Supervises until the stepper has made so many more steps.
void recreate_wait_for_steps(struct harness *h, uint32_t more);

/// Moves a task from outside, and tells what became of it.
enum wb_status recreate_move(struct harness *h, struct wb_task *task, uint32_t core);

#endif
