// SPDX-License-Identifier: Apache-2.0
// What the launcher of a board's kernels has besides host.h.
#ifndef WB_BOARD_HOST_H
#define WB_BOARD_HOST_H

#include "host.h"

/// Kills one kernel; wb_host_wait() tells of it. `by`: what noticed that it has to be.
///
/// Context: the supervisor. Never blocks.
void wb_host_kill_core(struct wb_host *host, uint32_t core, const char *by);

/// How long a core may take no interrupt of its timer before it counts as dead.
void wb_host_watch(struct wb_host *host, uint32_t limit_ms);

#endif
