// SPDX-License-Identifier: Apache-2.0
// What the launcher tells of a death.
#ifndef WB_DEATH_REPORT_H
#define WB_DEATH_REPORT_H

#include "host.h"

/// What a core that has died leaves: the task it ran, and in `moved` how many are not over.
struct wb_host_event death_report_before(struct wb_system *system, uint32_t core, uint64_t now_ns);

/// Has its tasks taken over, and counts what becomes of them.
void death_report_take_over(struct wb_system *system, struct wb_host_event *death);

#endif
