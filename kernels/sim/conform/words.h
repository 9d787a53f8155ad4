// SPDX-License-Identifier: Apache-2.0
// Included before everything else where the middleware is compiled for protocols under faults
// (tools/c.mk). A task can be held up before each word of shared memory that it touches, and before
// each task that it unblocks: so an interrupt can come between any two of them.
#ifndef WB_SIM_WORDS_H
#define WB_SIM_WORDS_H

/// A moment of what is executed.
void sim_moment(void);

#define WB_OPS_BEFORE() sim_moment()

#include "wb/kernel.h"

/// A moment, and then wb_kernel_unblock(), of a task of this core or the test fails.
void words_unblock(struct wb_task *task);

#define wb_kernel_unblock(task) words_unblock(task)

#endif
