// SPDX-License-Identifier: Apache-2.0
// Users of something that they have in common, on all cores of kernel_threads.h, while another task
// moves them to and fro.
#ifndef WB_TEST_USERS_H
#define WB_TEST_USERS_H

#include "build.h"

/// Adds `n` tasks with this entry, the first tasks of all, and the one that moves them.
void users_add(struct wb_system *system, uint32_t n, wb_task_entry *entry);

/// A user's last call: when all have made it, the mover ends.
void users_leave(void);

#endif
