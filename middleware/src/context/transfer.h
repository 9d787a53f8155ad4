// SPDX-License-Identifier: Apache-2.0
// The transfer buffer: one area of globally visible memory through which the context of a task
// travels whose memory the target does not see.
//
// It is taken by one compare-and-swap on its owner word and given back when the migration is over.
// A kernel that was killed leaves it to its task, whose next life finds the context in it, or
// nothing whole; it is empty whenever nobody owns it.
#ifndef WB_TRANSFER_H
#define WB_TRANSFER_H

#include "wb/system.h"

/// Makes it the task's.
///
/// Context: the task's kernel, or its program. Never blocks.
/// Returns: WB_OK; WB_ERR_FULL while another migration uses it.
WB_MUST_USE enum wb_status wb_transfer_take(struct wb_task *task);

/// True while it is the task's.
bool wb_transfer_is_of(const struct wb_task *task);

/// Gives it back, empty; nothing if it is not the task's.
///
/// Context: whoever owns the task. Never blocks.
void wb_transfer_release(struct wb_task *task);

#endif
