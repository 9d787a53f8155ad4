// SPDX-License-Identifier: Apache-2.0
#ifndef WB_REPLICATE_H
#define WB_REPLICATE_H

#include "wb/system.h"

struct wb_fetched {
    uint64_t bytes, copied_ns;  // 0: nothing was copied
};

/// Brings the memory of a task that this core is about to take in here, and makes its context
/// complete: copies it from the replica that has it, or revives it. May be done again.
///
/// Context: this core's kernel, before it takes the task. Blocks for as long as the copy takes.
/// Returns: WB_OK; WB_ERR_EMPTY when more of it is to come: try again; WB_ERR_NOMEM when the memory
/// of the task cannot be read from here;
///          WB_ERR_INVAL when it cannot be revived.
WB_MUST_USE enum wb_status wb_replica_fetch(struct wb_core *core, struct wb_task *task,
                                            uint32_t place, struct wb_fetched *fetched);

/// Notes that the task, taken by this core, has its memory here.
void wb_replica_settle(const struct wb_core *core, struct wb_task *task,
                       const struct wb_fetched *fetched);

#endif
