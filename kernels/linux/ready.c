// SPDX-License-Identifier: Apache-2.0
// Who runs next on this core (../template/ready.h), also where it is emulated to be slower than
// this machine: then a task is due only once the core would be done with what has run, but for one
// that leaves.

#include "clock.h"
#include "private.h"

// Private memory: every kernel has its own at this address.
static struct {
    struct ready queues;
    // To completion, a more urgent task waits until the running one does: then this is the highest
    // priority, else 0.
    uint32_t to_completion;
} r;

void ready_run_to_completion(void)
{
    r.to_completion = PRIORITIES - 1;
}

bool ready_any(void)
{
    return r.queues.levels != 0;
}

bool ready_gives_way(uint32_t levels, uint32_t priority)
{
    return levels >> (priority | r.to_completion) > 1;
}

static __attribute__((noinline)) struct wb_task *next_of_emulated(uint32_t floor)
{
    return frequency_owes(clock_now_ns()) ? ready_pop_leaving(&r.queues)
                                          : ready_pop(&r.queues, floor);
}

static inline struct wb_task *next_ready(uint32_t floor)
{
    return frequency_slows() ? next_of_emulated(floor) : ready_pop(&r.queues, floor);
}

// Of a task that has come: its saved context, and the frames up to its own code.
enum { STACK_LINES = 6 };

void ready_attach(struct wb_task *task)
{
    struct kernel_task *lt = kernel_task(task);

    for (uint32_t i = 0; i < STACK_LINES; i++)
        wb_word_prefetch((unsigned char *)lt->sp + (size_t)i * WB_LINE_BYTES);
    // Below its stack pointer there may be frames of a kernel that was killed.
    sanitizer_clean(task->stack, (size_t)((unsigned char *)lt->sp - task->stack));
    lt->blocked = false;
    lt->woken = true;
    lt->timer = 0;
    ready_push(&r.queues, task);
}

void ready_wake(struct wb_task *task)
{
    struct kernel_task *lt = kernel_task(task);

    lt->woken = true;
    if (!lt->blocked)
        return;
    lt->blocked = false;
    ready_push(&r.queues, task);
}

struct wb_task *ready_block(struct wb_task *self)
{
    if (kernel_task(self)->woken)
        return self;
    kernel_task(self)->blocked = true;
    return next_ready(0);
}

void ready_looks(struct wb_task *self)
{
    kernel_task(self)->woken = false;
    kernel_task(self)->watches = false;
}

struct wb_task *ready_leave(struct wb_task *self)
{
    (void)self;
    if (frequency_slows())
        frequency_count_run(clock_now_ns());
    return next_ready(0);
}

struct wb_task *ready_yield(struct wb_task *self, uint32_t floor)
{
    return r.to_completion != 0 && floor > wb_sync_priority(&self->sync) ? NULL : next_ready(floor);
}

void ready_stay(struct wb_task *self)
{
    ready_push(&r.queues, self);
}

void ready_saved(struct wb_task *task, bool yields)
{
    if (yields)
        ready_push(&r.queues, task);
}

struct wb_task *ready_first(void)
{
    struct wb_task *next = next_ready(0);

    if (next != NULL)
        frequency_begin_run();
    return next;
}

void ready_watch(uint32_t priority)
{
    if (ready_gives_way(r.queues.levels, priority))
        kernel_set_need_resched();
}

void ready_reprioritise(struct wb_task *task)
{
    ready_move(&r.queues, task);
    timers_move(task);
}
