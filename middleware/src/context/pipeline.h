// SPDX-License-Identifier: Apache-2.0
#ifndef WB_PIPELINE_H
#define WB_PIPELINE_H

#include "wb/system.h"

/// Decides how the context of a task that is about to depart will travel, and takes the transfer
/// buffer if it is to be through that.
///
/// Context: the task, at its checkpoint.
/// Returns: WB_OK; WB_ERR_FULL when it must be the buffer and another migration uses it.
WB_MUST_USE enum wb_status wb_pipeline_begin(struct wb_task *task);

/// Says how much there is to come. Before the task is offered.
void wb_pipeline_announce(struct wb_task *task);

/// Fills the buffer, chunk by chunk. After the task has been offered.
///
/// Context: the source's kernel. Blocks for as long as the copy takes.
void wb_pipeline_fill(struct wb_task *task);

/// Empties what is there by now, for the offer that `owner_state` is.
///
/// Context: the target's kernel. Blocks for as long as that takes, not for the source.
/// Returns: WB_OK with the bytes when all of it is here; WB_ERR_EMPTY when more is to come;
///          WB_ERR_GONE when the source is dead.
WB_MUST_USE enum wb_status wb_pipeline_empty(struct wb_core *core, struct wb_task *task,
                                             uint32_t place, uint64_t *bytes);

#endif
