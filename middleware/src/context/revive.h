// SPDX-License-Identifier: Apache-2.0
// What recovery and recreation have in common.
#ifndef WB_REVIVE_H
#define WB_REVIVE_H

#include "../parts.h"

/// Makes a task that was cut short go on from its image, or start again. Its channels are put back
/// here, its memory by the kernel that takes it in.
///
/// Returns: false when it can do neither.
bool wb_task_revive(struct wb_task *task);

/// As wb_part_deaths.revive.
enum wb_status wb_task_fetch_revived(struct wb_core *core, struct wb_task *task, uint32_t place,
                                     uint32_t revival, struct wb_fetched *fetched);

/// Brings the ports of a task that starts again back to what their channels say.
void wb_task_recover_ports(struct wb_task *task);

/// Makes every task look at its condition and its priority again: somebody who ought to have said
/// that they changed was killed.
void wb_system_wake_all(struct wb_system *system);

#endif
