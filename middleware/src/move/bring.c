// SPDX-License-Identifier: Apache-2.0
// How a core takes a task in whose memory is not where it was, or whose context is not complete:
// one that is replicated, recreated or revived.

#include "../internal.h"

// Brings the memory of a task that this core is about to take in here, and makes its context
// complete. May be done again.
static enum wb_status fetch(struct wb_core *core, struct wb_task *task, uint32_t place,
                            struct wb_fetched *fetched)
{
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);
    const uint32_t revival = wb_revival(task);

    *fetched = (struct wb_fetched){ 0 };
    if (revival != WB_REVIVE_NOT)
        return wb_parts.deaths->revive(core, task, place, revival, fetched);
    return ops != NULL && ops->fetch != NULL ? ops->fetch(core, task, place, fetched) : WB_OK;
}

static bool bring(struct wb_core *core, struct wb_task *task, uint32_t place,
                  struct wb_fetched *fetched)
{
    const struct wb_migration_ops *ops = wb_migration_ops_of(task);
    const enum wb_status status = fetch(core, task, place, fetched);

    if (status == WB_ERR_EMPTY) {
        // The source is still filling the buffer: other tasks run meanwhile.
        wb_inbox_post(core, task->id);
        return false;
    }
    if (status != WB_OK) {
        wb_migration_refuse(task, place, status);
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

static void settle(struct wb_task *task, const struct wb_fetched *fetched)
{
    wb_word_store(&task->revive, WB_REVIVE_NOT, WB_RELAXED);
    wb_migration_ops_end(task);
    if (fetched->bytes == 0 || !wb_migration_is_accepted(task))
        return;
    task->migration.bytes = fetched->bytes;
    task->migration.copied_ns = fetched->copied_ns;
}

const struct wb_bringer wb_bringer = {
    .fetch = fetch,
    .bring = bring,
    .unload = unload,
    .settle = settle,
};
