// SPDX-License-Identifier: Apache-2.0
// The transfer buffer, and how a context goes through it.

#include "../word/mem.h"
#include "context.h"

// ---- The buffer ---------------------------------------------------------------------------------

enum wb_status wb_transfer_take(struct wb_task *task)
{
    uint32_t nobody = 0;

    // Acquire: the last owner has done with it.
    return wb_word_compare_swap(&task->system->transfer_owner, &nobody, task->id + 1, WB_ACQUIRE,
                                WB_RELAXED)
               ? WB_OK
               : WB_ERR_FULL;
}

bool wb_transfer_is_of(const struct wb_task *task)
{
    // Acquire: what was saved in it is visible.
    return wb_word_load(&task->system->transfer_owner, WB_ACQUIRE) == task->id + 1;
}

void wb_transfer_release(struct wb_task *task)
{
    struct wb_system *system = task->system;

    if (!wb_transfer_is_of(task))
        return;
    // An owner that is killed before it has saved anything must not leave an older context.
    memset(system->transfer, 0, WB_LINE_BYTES);
    // Release: our use of it comes before the next owner's.
    wb_word_store(&system->transfer_owner, 0, WB_RELEASE);
}

// ---- Through it ---------------------------------------------------------------------------------

// A replicated context through the transfer buffer: the source fills chunk after chunk, and the
// target empties each as soon as it is full. The buffer is as large as the context, so neither ever
// waits for room.
//
// It is for kernels that cannot read each other's private memory, and for contexts so small that
// two cores copying at once are quicker than one that copies from far away. What the target has
// emptied is of use only if its compare-and-swap succeeds: the source's memory stays whole until
// then.

enum {
    CHUNK_BYTES = 32 << 10,
    // A heap in use below this goes through the buffer where either would do. `whimbrel bench
    // migration`: at 64 KiB 1.5 us against 2.0 by alias, at 256 KiB 4.4 against 6.2, at 1 MiB even.
    SMALL_BYTES = 512 << 10,
};

struct announcement {  // the first line of the buffer
    uint32_t use;      // tells this use of the buffer from the others
    size_t heap_bytes, stack_bytes;
    unsigned char *stack_low;
};

_Static_assert(sizeof(struct announcement) <= WB_LINE_BYTES, "the chunks begin on the second line");

static size_t heap_in_use(const struct wb_task *task)
{
    return (size_t)(task->heap.next - task->heap.base);
}

enum wb_status wb_pipeline_begin(struct wb_task *task)
{
    const struct wb_system *system = task->system;
    const enum wb_transport transport = system->config.transport;

    if (transport == WB_TRANSPORT_ALIAS)
        return WB_OK;
    if (transport == WB_TRANSPORT_BUFFER ||
        wb_kernel_private(wb_word_load(&task->memory_core, WB_RELAXED), task->heap.base) == NULL)
        return wb_transfer_take(task);
    // A recreation would be refused while we have it.
    const bool is_for_us = heap_in_use(task) < SMALL_BYTES && !system->transfer_is_needed;
    const enum wb_status taken = is_for_us ? wb_transfer_take(task) : WB_OK;
    (void)taken;  // if another has it, the alias will do
    return WB_OK;
}

void wb_pipeline_announce(struct wb_task *task)
{
    struct wb_system *system = task->system;
    struct announcement *a = (struct announcement *)(void *)system->transfer;

    if (!wb_transfer_is_of(task))
        return;
    a->use = ++system->transfer_uses;
    a->heap_bytes = heap_in_use(task);
    a->stack_low = wb_kernel_stack_low(task);
    a->stack_bytes = (size_t)(task->stack + task->stack_bytes - a->stack_low);
    // Relaxed: the offer publishes it.
    wb_word_store(&system->transfer_filled, 0, WB_RELAXED);
}

// Where byte `at` of the heap and the stack, one behind the other, lies in private memory, and how
// much of it lies there in one piece.
static unsigned char *locate(const struct wb_task *task, const struct announcement *a, size_t at,
                             size_t *bytes)
{
    if (at < a->heap_bytes) {
        *bytes = *bytes < a->heap_bytes - at ? *bytes : a->heap_bytes - at;
        return task->heap.base + at;
    }
    const size_t left = a->heap_bytes + a->stack_bytes - at;
    *bytes = *bytes < left ? *bytes : left;
    return a->stack_low + (at - a->heap_bytes);
}

void wb_pipeline_fill(struct wb_task *task)
{
    struct wb_system *system = task->system;

    if (!wb_transfer_is_of(task))
        return;
    const struct announcement a = *(const struct announcement *)(const void *)system->transfer;
    for (size_t at = 0; at < a.heap_bytes + a.stack_bytes;) {
        size_t bytes = CHUNK_BYTES;
        const unsigned char *from = locate(task, &a, at, &bytes);
        wb_kernel_copy(system->transfer + WB_LINE_BYTES + at, from, bytes);
        at += bytes;
        // Release publishes the chunk.
        wb_word_store(&system->transfer_filled, at, WB_RELEASE);
    }
}

// An offer that was withdrawn leaves the buffer to others, who may write it while we read. What we
// read then is of no use, and is not used; it must only stay within the task's memory.
static bool is_within(const struct wb_task *task, const struct announcement *a)
{
    const uintptr_t above = (uintptr_t)a->stack_low - (uintptr_t)task->stack;

    return a->heap_bytes <= (size_t)(task->heap.end - task->heap.base) &&
           above <= task->stack_bytes && a->stack_bytes == task->stack_bytes - above;
}

// The death of a source rings its target (wb_core_died()), which then reads the memory itself. One
// that has died and returned before its target looks here is like one that is slow: the deadline of
// its offer gives the task back to it, whose memory is whole. The target's other tasks run
// meanwhile.
static enum wb_status more_or_gone(const struct wb_system *system, uint32_t owner_state)
{
    const struct wb_core *source = system->cores[wb_owner_of(owner_state)];

    return wb_word_load(&source->state, WB_ACQUIRE) == WB_CORE_DEAD ? WB_ERR_GONE : WB_ERR_EMPTY;
}

enum wb_status wb_pipeline_empty(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                                 uint64_t *total)
{
    struct wb_system *system = task->system;
    const struct announcement a = *(const struct announcement *)(const void *)system->transfer;

    // A source that was killed when it had taken the buffer has announced nothing in it.
    if (!is_within(task, &a))
        return more_or_gone(system, owner_state);
    *total = a.heap_bytes + a.stack_bytes;
    if (core->emptying != a.use)
        core->emptied = 0;
    core->emptying = a.use;
    // Acquire: what was filled is visible.
    const size_t filled = wb_word_load(&system->transfer_filled, WB_ACQUIRE);
    while (core->emptied < filled && core->emptied < *total) {
        size_t bytes = filled - core->emptied;
        unsigned char *to = locate(task, &a, core->emptied, &bytes);
        wb_kernel_copy(to, system->transfer + WB_LINE_BYTES + core->emptied, bytes);
        core->emptied += bytes;
    }
    return core->emptied == *total ? WB_OK : more_or_gone(system, owner_state);
}
