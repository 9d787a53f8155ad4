// SPDX-License-Identifier: Apache-2.0
// Replication: every kernel has private memory for the task at the same address, and one of them
// (`memory_core`) holds its present content (acquaviva2008 section 4.2).
//
// The target copies before it commits. Until its compare-and-swap the replica of the source is
// whole and nobody runs on it, so a withdrawal, or a death of the target, costs nothing. The copy
// covers what is in use: the heap up to its highest block, the stack down to its lowest frame.

#include "context.h"

struct extent {
    unsigned char *at;
    size_t bytes;
};

// A withdrawal may give the task back to its source while we copy. What we then read is of no use,
// and is not used: the compare-and-swap that follows fails. It must only stay within bounds.
static void extents(const struct wb_task *task, struct extent extent[2])
{
    unsigned char *low = wb_kernel_stack_low(task);
    unsigned char *top = task->stack + task->stack_bytes;

    if (low < task->stack || low > top)
        low = task->stack;
    extent[0] = (struct extent){ task->heap.base, (size_t)(task->heap.next - task->heap.base) };
    extent[1] = (struct extent){ low, (size_t)(top - low) };
}

static bool is_elsewhere(const struct wb_core *core, const struct wb_task *task)
{
    // Relaxed: who comes late may read what has changed since; its compare-and-swap fails.
    return wb_word_load(&task->memory_core, WB_RELAXED) != core->index;
}

// The first `n` extents.
static enum wb_status copy(const struct wb_task *task, int n, struct wb_fetched *fetched)
{
    const uint32_t home = wb_word_load(&task->memory_core, WB_RELAXED);
    struct extent extent[2];
    const void *from[2];

    extents(task, extent);
    for (int i = 0; i < n; i++) {
        from[i] = wb_kernel_private(home, extent[i].at);
        if (from[i] == NULL)
            return WB_ERR_NOMEM;
    }
    for (int i = 0; i < n; i++) {
        wb_kernel_copy(extent[i].at, from[i], extent[i].bytes);
        fetched->bytes += extent[i].bytes;
    }
    fetched->copied_ns = wb_kernel_now_ns();
    return WB_OK;
}

static enum wb_status through_buffer(struct wb_core *core, struct wb_task *task,
                                     uint32_t owner_state, struct wb_fetched *fetched)
{
    const enum wb_status status = wb_pipeline_empty(core, task, owner_state, &fetched->bytes);

    if (status == WB_ERR_GONE) {
        fetched->bytes = 0;
        return copy(task, 2, fetched);
    }
    fetched->copied_ns = wb_kernel_now_ns();
    return status;
}

static enum wb_status fetch(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                            struct wb_fetched *fetched)
{
    if (!is_elsewhere(core, task))
        return WB_OK;
    // Recovery's offer carries no accepted request. The source may have died before it filled the
    // buffer that it had taken, and may have returned since, so its state does not tell.
    if (wb_task_state_of(owner_state) == WB_TASK_OFFERED && wb_migration_is_accepted(task) &&
        wb_transfer_is_of(task))
        return through_buffer(core, task, owner_state, fetched);
    return copy(task, 2, fetched);
}

static enum wb_status fetch_heap(struct wb_core *core, struct wb_task *task,
                                 struct wb_fetched *fetched)
{
    return is_elsewhere(core, task) ? copy(task, 1, fetched) : WB_OK;
}

static size_t room(const struct wb_task *task)
{
    return wb_context_most(task, true);
}

const struct wb_migration_ops wb_replicate = {
    .attach = &wb_attach_ops,
    .room = room,
    .begin = wb_pipeline_begin,
    .announce = wb_pipeline_announce,
    .fill = wb_pipeline_fill,
    .fetch = fetch,
    .fetch_heap = fetch_heap,
    .end = wb_transfer_release,
    .drop = wb_transfer_release,
};
