// SPDX-License-Identifier: Apache-2.0
// Replication: every kernel has private memory for the task at the same address, and one of them
// (`memory_core`) holds its present content (acquaviva2008 section 4.2).
//
// The target copies before it commits. Until its compare-and-swap the replica of the source is
// whole and nobody runs on it, so a withdrawal, or a death of the target, costs nothing. The copy
// covers what is in use: the heap up to its highest block, the stack down to its lowest frame.

#include "replicate.h"

#include "image.h"
#include "pipeline.h"
#include "transfer.h"

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

static enum wb_status copy(const struct wb_task *task, struct wb_fetched *fetched)
{
    struct extent extent[2];
    const void *from[2];

    extents(task, extent);
    for (int i = 0; i < 2; i++) {
        from[i] = wb_kernel_private(task->memory_core, extent[i].at);
        if (from[i] == NULL)
            return WB_ERR_NOMEM;
    }
    for (int i = 0; i < 2; i++)
        wb_kernel_copy(extent[i].at, from[i], extent[i].bytes);
    fetched->bytes = extent[0].bytes + extent[1].bytes;
    fetched->copied_ns = wb_kernel_now_ns();
    return WB_OK;
}

// An image was whole when recovery looked; should it be damaged now, its entry is the last resort.
// A program of its own loads its memory by itself (recreation.c).
static enum wb_status revive(struct wb_task *task)
{
    if (task->mode == WB_RECREATE)
        return wb_kernel_task_init(task);
    if (task->revive == WB_REVIVE_IMAGE && wb_image_load(task) == WB_OK)
        return WB_OK;
    return task->restart ? wb_kernel_task_init(task) : WB_ERR_INVAL;
}

static enum wb_status through_buffer(struct wb_core *core, struct wb_task *task, uint32_t place,
                                     struct wb_fetched *fetched)
{
    const enum wb_status status = wb_pipeline_empty(core, task, place, &fetched->bytes);

    if (status == WB_ERR_GONE)
        return copy(task, fetched);
    fetched->copied_ns = wb_kernel_now_ns();
    return status;
}

enum wb_status wb_replica_fetch(struct wb_core *core, struct wb_task *task, uint32_t place,
                                struct wb_fetched *fetched)
{
    *fetched = (struct wb_fetched){ 0 };
    if (task->revive != WB_REVIVE_NOT)
        return revive(task);
    if (task->mode != WB_REPLICATE || task->memory_core == core->index)
        return WB_OK;
    if (wb_place_state(place) == WB_TASK_OFFERED && wb_transfer_is_of(task))
        return through_buffer(core, task, place, fetched);
    return copy(task, fetched);
}

void wb_replica_settle(const struct wb_core *core, struct wb_task *task,
                       const struct wb_fetched *fetched)
{
    // Should this kernel die before this, the next one fetches again from where it was.
    task->memory_core = core->index;
    task->revive = WB_REVIVE_NOT;
    wb_pipeline_end(task);
    if (fetched->bytes == 0)
        return;
    task->migration.bytes = fetched->bytes;
    task->migration.copied_ns = fetched->copied_ns;
}
