// SPDX-License-Identifier: Apache-2.0
// How a core prepares a task that it is about to attach, if the task's memory is elsewhere or its
// context is not complete: a task that is replicated, recreated or revived.

#include "context.h"

static enum wb_status fetch(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                            struct wb_fetched *fetched)
{
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);
    const uint32_t revival = wb_revival(task);

    *fetched = (struct wb_fetched){ 0 };
    if (revival != WB_REVIVE_NOT)
        return wb_parts.deaths->revive(core, task, owner_state, revival, fetched);
    return ops != NULL && ops->fetch != NULL ? ops->fetch(core, task, owner_state, fetched) : WB_OK;
}

static bool prepare(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                    struct wb_fetched *fetched)
{
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);
    const enum wb_status status = fetch(core, task, owner_state, fetched);

    if (status == WB_ERR_EMPTY) {
        // The source is still filling the buffer: other tasks run meanwhile.
        wb_inbox_post(core, task->id);
        return false;
    }
    if (status != WB_OK) {
        wb_migration_refuse(task, owner_state, status);
        return false;
    }
    return ops == NULL || ops->load == NULL || ops->load(task);
}

static void unload(struct wb_task *task)
{
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);

    if (ops != NULL && ops->unload != NULL)
        ops->unload(task);
}

static void settle(struct wb_task *task, bool was_elsewhere, const struct wb_fetched *fetched)
{
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);

    if (was_elsewhere && ops != NULL && ops->begin_anew != NULL)
        ops->begin_anew(task);
    wb_word_store(&task->revive, WB_REVIVE_NOT, WB_RELAXED);
    wb_migration_ops_end(task);
    if (fetched->bytes == 0 || !wb_migration_is_accepted(task))
        return;
    task->migration.bytes = fetched->bytes;
    task->migration.copied_ns = fetched->copied_ns;
}

const struct wb_attach_ops wb_attach_ops = {
    .fetch = fetch,
    .prepare = prepare,
    .unload = unload,
    .settle = settle,
};
