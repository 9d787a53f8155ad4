// SPDX-License-Identifier: Apache-2.0
// Migration by recreation (acquaviva2008 section 4.2): the task ends on its source and its memory
// is given back there; the target loads its program, allocates, and takes its state over.
//
//   source                                          target
//   checkpoint: PENDING -> ACCEPTED
//   saves the context in the transfer buffer
//   ends, its memory is free
//   owner_state = OFFERED, note to the target ...>  starts the program: else it goes back
//                                                   owner_state OFFERED -> READY: the commit
//                                                   loads the context, gives the buffer back
//                                                   starts the entry
//
// Nothing but the two words of every migration decides. Who owns the transfer buffer decides what a
// life of the task begins with: its own context, if it is whole, else its newest checkpoint image,
// or nothing.

#include "../channel/channel.h"
#include "context.h"

enum wb_status wb_recreation_park(struct wb_task *task)
{
    const enum wb_status taken = wb_transfer_take(task);
    if (taken != WB_OK)
        return taken;

    const struct wb_system *system = task->system;
    const enum wb_status saved =
        wb_context_save(task, system->transfer, system->transfer_bytes, false);
    if (saved != WB_OK)
        wb_transfer_release(task);
    else
        task->migration.bytes = wb_context_bytes(task, false);
    return saved;
}

static void forget_memory(struct wb_task *task)
{
    unsigned char *base = task->heap.base;
    const size_t bytes = (size_t)(task->heap.end - base), peak_bytes = task->heap.peak_bytes;

    task->heap = (struct wb_heap){ .peak_bytes = peak_bytes,
                                   .generation = task->heap.generation,
                                   .is_private = task->heap.is_private };
    wb_heap_init(&task->heap, base, bytes);
    task->state = NULL;
}

// The task left in order: what it held comes again, what it had claimed is given up. Slots that are
// kept for the next checkpoint image have been released all the same.
static void rewind_ports(struct wb_task *task)
{
    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task) {
        port->resend_skipped = 0;
        if (port->defer_release)
            port->claimed = port->committed;
        else
            wb_channel_recover(port);
    }
}

void wb_recreation_begin(struct wb_task *task)
{
    // In this order, so that a life that is cut short here is begun in the same way again.
    if (wb_transfer_is_of(task) && wb_context_load(task, task->system->transfer) == WB_OK) {
        rewind_ports(task);
    } else if (wb_parts.images == NULL || !wb_parts.images->resume(task) ||
               wb_parts.images->load(task) != WB_OK) {
        forget_memory(task);
        wb_task_recover_ports(task);
    }
    wb_transfer_release(task);
    if (task->open)
        task->settled.copied_ns = task->settled.running_ns = wb_kernel_now_ns();
}

// It was this core's turn to write them, and its kernel waits for the process while that runs: what
// this core has not written to the end was the killed one's.
static void end_half_written(struct wb_system *system)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        // Acquire: what was written of it.
        const uint32_t request = wb_word_load(&task->request, WB_ACQUIRE);
        if (wb_request_phase(request) == WB_REQUEST_FILLING &&
            wb_request_core(request) == wb_kernel_core())
            wb_migration_finish(task, WB_ERR_GONE);
    }
}

void wb_recreation_killed(struct wb_task *task)
{
    const uint32_t request = wb_word_load(&task->request, WB_RELAXED);

    // It may start again, or it would not be recreated.
    (void)wb_task_revive(task);
    wb_word_store(&task->revive, WB_REVIVE_NOT, WB_RELAXED);
    // Killed between its checkpoint and its departure: nobody else has seen the offer.
    if (wb_request_phase(request) == WB_REQUEST_ACCEPTED) {
        wb_counter_add(&task->stats.refused, 1);
        wb_migration_finish(task, WB_ERR_GONE);
    }
    end_half_written(task->system);
    // Who waits for a mutex that it held, or for what it changed and did not tell.
    wb_system_wake_all(task->system);
}

// Recovery's offers carry no request, and nowhere to go back to: there the task itself will tell.
static bool load_program(struct wb_task *task)
{
    const uint32_t request = wb_word_load(&task->request, WB_RELAXED);

    if (wb_request_phase(request) != WB_REQUEST_ACCEPTED)
        return true;
    const enum wb_status status = wb_kernel_load(task);
    if (status != WB_OK)
        wb_migration_cancel(task, status);
    return status == WB_OK;
}

static size_t room(const struct wb_task *task)
{
    return wb_context_most(task, false);
}

const struct wb_migration_ops wb_recreate = {
    .attach = &wb_attach_ops,
    .needs_buffer = true,
    .room = room,
    .load = load_program,
    .unload = wb_kernel_unload,
    .drop = wb_transfer_release,
};
