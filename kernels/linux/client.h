// SPDX-License-Identifier: Apache-2.0
// Tasks that stand for processes which are no kernels (clients/): such a task passes messages
// between its ports and the sockets of whoever has attached to them.
#ifndef WB_LINUX_CLIENT_H
#define WB_LINUX_CLIENT_H

#include <stdbool.h>

#include "plan.h"

/// What the entry of such a task is called in a plan.
#define CLIENT_ENTRY "wb_client"

/// Opens the socket of each such task in the plan's folder for them. Before the fork: every kernel
/// may come to have the task.
///
/// Returns: true; false with errno set, and `*task` the one that has none.
bool clients_open(const struct plan *plan, const char **task);

/// Removes the sockets from the folder.
void clients_close(void);

/// Such a task. Runs until all its ports are closed.
int client_run(struct wb_task *self);

#endif
