// SPDX-License-Identifier: Apache-2.0
// Migration by re-entry: the task's heap and its state stay where they are, in globally visible
// memory, and its function begins anew on the target. So it may go to a kernel of another program,
// of another processor even, that could make nothing of a context: the task keeps in its state what
// it is to go on with, and nothing there that is one program's own (docs/mixed.md).
//
//   source                                          target
//   checkpoint: PENDING -> ACCEPTED
//   leaves the stack, owner_state = OFFERED
//   note to the target  .........................>  owner_state OFFERED -> READY: the commit
//                                                   its ports as the channels say, a first context
//                                                   starts the entry
//
// Before the commit the target writes nothing: the source may take the task back, and goes on where
// it left. What the task held comes again, what it had claimed is given up.

#include "context.h"

static size_t no_room(const struct wb_task *task)
{
    (void)task;
    return 0;
}

static void begin_anew(struct wb_task *task)
{
    wb_task_recover_ports(task);
    wb_task_begin_here(task);
}

const struct wb_migration_ops wb_reenter = {
    .attach = &wb_attach_ops,
    .room = no_room,
    .begin_anew = begin_anew,
};
