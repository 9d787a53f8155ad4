// SPDX-License-Identifier: Apache-2.0
// Replication: every kernel has private memory for the task at the same address, and one of them
// (`memory_core`) holds its present content (acquaviva2008 section 4.2).
//
// The target copies before it commits. Until its compare-and-swap the replica of the source is
// whole and nobody runs on it, so a withdrawal, or a death of the target, costs nothing. The copy
// covers what is in use: the heap up to its highest block, the stack down to its lowest frame.

#include "replicate.h"

#include "image.h"
#include "internal.h"
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

static bool is_elsewhere(const struct wb_core *core, const struct wb_task *task)
{
    // Relaxed: who comes late may read what has changed since; its compare-and-swap fails.
    return task->mode == WB_REPLICATE &&
           atomic_load_explicit(&task->memory_core, memory_order_relaxed) != core->index;
}

// The first `n` extents.
static enum wb_status copy(const struct wb_task *task, int n, struct wb_fetched *fetched)
{
    const uint32_t home = atomic_load_explicit(&task->memory_core, memory_order_relaxed);
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

// Recovery's offer, which nobody withdraws: so if the place is still as it was seen before
// `revival` was read, the task is ours to revive. A target that comes late for a withdrawn offer of
// its source may find a revival that is another's; it looks again.
//
// An image was whole when recovery looked; should it be damaged now, its entry is the last resort.
// There it finds its heap as it left it, for its state lies in it. A program of its own loads its
// memory by itself (recreation.c).
static enum wb_status revive(const struct wb_core *core, struct wb_task *task, uint32_t place,
                             uint32_t revival, struct wb_fetched *fetched)
{
    // Acquire above, when `revival` was read: this load is not done before it.
    if (atomic_load_explicit(&task->place, memory_order_relaxed) != place)
        return WB_ERR_EMPTY;
    if (task->mode == WB_RECREATE)
        return wb_kernel_task_init(task);
    if (revival == WB_REVIVE_IMAGE && wb_image_load(task) == WB_OK)
        return WB_OK;
    if (!task->restart)
        return WB_ERR_INVAL;
    // Recovery has put them back to the image, if there was one.
    wb_task_recover_ports(task);
    const enum wb_status had = is_elsewhere(core, task) ? copy(task, 1, fetched) : WB_OK;
    return had == WB_OK ? wb_kernel_task_init(task) : had;
}

static enum wb_status through_buffer(struct wb_core *core, struct wb_task *task, uint32_t place,
                                     struct wb_fetched *fetched)
{
    const enum wb_status status = wb_pipeline_empty(core, task, place, &fetched->bytes);

    if (status == WB_ERR_GONE) {
        fetched->bytes = 0;
        return copy(task, 2, fetched);
    }
    fetched->copied_ns = wb_kernel_now_ns();
    return status;
}

enum wb_status wb_replica_fetch(struct wb_core *core, struct wb_task *task, uint32_t place,
                                struct wb_fetched *fetched)
{
    *fetched = (struct wb_fetched){ 0 };
    const uint32_t revival = atomic_load_explicit(&task->revive, memory_order_acquire);
    if (revival != WB_REVIVE_NOT)
        return revive(core, task, place, revival, fetched);
    if (!is_elsewhere(core, task))
        return WB_OK;
    if (wb_place_state(place) == WB_TASK_OFFERED && wb_transfer_is_of(task))
        return through_buffer(core, task, place, fetched);
    return copy(task, 2, fetched);
}

void wb_replica_settle(const struct wb_core *core, struct wb_task *task,
                       const struct wb_fetched *fetched)
{
    // Should this kernel die before this, the next one fetches again from where it was. Relaxed:
    // the place publishes it with all the rest when the task leaves here.
    atomic_store_explicit(&task->memory_core, core->index, memory_order_relaxed);
    atomic_store_explicit(&task->revive, WB_REVIVE_NOT, memory_order_relaxed);
    wb_pipeline_end(task);
    // A task that recovery gave away carries no request: its record may be another's to write.
    if (fetched->bytes == 0 || wb_request_phase(atomic_load_explicit(
                                   &task->request, memory_order_relaxed)) != WB_REQUEST_ACCEPTED)
        return;
    task->migration.bytes = fetched->bytes;
    task->migration.copied_ns = fetched->copied_ns;
}
