// SPDX-License-Identifier: Apache-2.0
// Stacks, packed. A task whose steps are taken in its place (step.c) leaves its stack after a few
// hundred bytes, and comes back at its end: until then they lie here, and its pages are Linux's.

#define _GNU_SOURCE
#include <fenv.h>
#include <sys/mman.h>

#include "private.h"

// Of all tasks the first bytes of their stacks, then the next ones of all: what no task has so deep
// takes no pages.
enum { PIECE = 32 };

static unsigned char *piece_at(const struct wb_task *task, size_t at)
{
    const size_t before = at / PIECE * sim.system->config.tasks;

    return sim.packed_stacks + (before + task->id) * PIECE;
}

static size_t piece_bytes(size_t at, size_t used)
{
    return used - at < PIECE ? used - at : PIECE;
}

static unsigned char *top_of(const struct wb_task *task)
{
    return task->stack + task->stack_bytes;
}

// A task may come back often, as where somebody wants it all the time; as packing takes a system
// call, the stack of such a task stays. So does one that others copy.
static bool may_pack(const struct wb_task *task, size_t used)
{
    enum { TIMES = 4 };

    return sim.packed[task->id].times < TIMES && used <= PACKED_BYTES &&
           task->checkpoint_every == 0 && wb_task_is_handed_off(task) &&
           sim_takes_steps(&sim.cores[wb_task_core(task)], task);
}

// Nobody comes back to the stack of a task that has ended.
static void pack(struct wb_task *task)
{
    struct packed *packed = &sim.packed[task->id];
    struct kernel_task *kt = kernel_task(task);
    const size_t used = (size_t)(top_of(task) - (unsigned char *)kt->sp);
    const uint32_t state = wb_task_state_of(wb_word_load(&task->owner_state, WB_RELAXED));

    if (state == WB_TASK_ENDED && packed->bytes != 0)
        (void)madvise(task->stack, task->stack_bytes, MADV_REMOVE);
    if (kt->sp == NULL || state == WB_TASK_ENDED || !may_pack(task, used))
        return;
    for (size_t at = 0; at < used; at += PIECE)
        sanitizer_copy(piece_at(task, at), (unsigned char *)kt->sp + at, piece_bytes(at, used));
    if (madvise(task->stack, task->stack_bytes, MADV_REMOVE) != 0)
        return;
    packed->bytes = (uint32_t)used;
    packed->times++;
    kt->sp = NULL;
}

// A first context has the flags and the rounding of no task that has run before.
static void begin(struct wb_task *task)
{
    fenv_t environment;

    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    kernel_task(task)->sp = stack_first_context(task);
    fesetenv(&environment);
}

static void unpack(struct wb_task *task)
{
    const struct packed *packed = &sim.packed[task->id];

    if (packed->bytes == 0) {
        begin(task);
        return;
    }
    unsigned char *sp = top_of(task) - packed->bytes;
    for (size_t at = 0; at < packed->bytes; at += PIECE)
        sanitizer_copy(sp + at, piece_at(task, at), piece_bytes(at, packed->bytes));
    kernel_task(task)->sp = sp;
}

void *sim_change_stacks(struct wb_task *from, struct wb_task *to)
{
    if (sim.left != NULL && sim.left != from && sim.left != to)
        pack(sim.left);
    sim.left = from;
    if (to == NULL)
        return sim.loop.sp;
    if (kernel_task(to)->sp == NULL)
        unpack(to);
    return kernel_task(to)->sp;
}
