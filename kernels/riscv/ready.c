// SPDX-License-Identifier: Apache-2.0
// The ready list of a core in software: a queue for each priority.

#include "internal.h"
#include "riscv_board.h"

static struct {
    uint32_t levels;  // bit p: queue p is not empty
    uint32_t top;     // the highest of these
    struct wb_task *first[PRIORITIES], *last[PRIORITIES];
} ready WB_PRIVATE;

void ready_begin(void) {}

void ready_killed(void) {}

uint32_t ready_can(void)
{
    return 0;
}

bool ready_takes(const struct wb_task *task)
{
    (void)task;
    return true;
}

static inline void add_ready(struct wb_task *task)
{
    const uint32_t p = wb_sync_priority(&task->sync);

    of(task)->next = NULL;
    of(task)->queue = p + 1;
    if ((ready.levels & 1u << p) == 0)
        ready.first[p] = task;
    else
        of(ready.last[p])->next = task;
    ready.last[p] = task;
    if (p > ready.top || ready.levels == 0)
        ready.top = p;
    ready.levels |= 1u << p;
}

// There is no instruction that counts zeros: by halves.
static uint32_t highest(uint32_t levels)
{
    uint32_t p = 0;

    for (uint32_t half = PRIORITIES / 2; half != 0; half /= 2)
        if (levels >> (p + half) != 0)
            p += half;
    return p;
}

static inline void empty(uint32_t p)
{
    ready.levels &= ~(1u << p);
    if (p == ready.top && ready.levels != 0)
        ready.top = highest(ready.levels);
}

static inline struct wb_task *take_ready(uint32_t p, struct wb_task *before)
{
    struct wb_task *task = before == NULL ? ready.first[p] : of(before)->next;
    struct wb_task *after = of(task)->next;

    if (before == NULL)
        ready.first[p] = after;
    else
        of(before)->next = after;
    if (after == NULL)
        ready.last[p] = before;
    if (ready.first[p] == NULL)
        empty(p);
    of(task)->queue = 0;
    return task;
}

static inline struct wb_task *take_first(void)
{
    return ready.levels != 0 ? take_ready(ready.top, NULL) : NULL;
}

void ready_attach(struct wb_task *task)
{
    of(task)->blocked = false;
    of(task)->woken = true;
    add_ready(task);
}

void ready_wake(struct wb_task *task)
{
    of(task)->woken = !of(task)->blocked;
    if (!of(task)->blocked)
        return;
    of(task)->blocked = false;
    add_ready(task);
}

struct wb_task *ready_block(struct wb_task *self)
{
    if (of(self)->woken)
        return self;
    of(self)->blocked = true;
    return take_first();
}

void ready_looks(struct wb_task *self)
{
    if (of(self)->woken)
        of(self)->woken = false;
}

struct wb_task *ready_leave(struct wb_task *self)
{
    (void)self;
    return take_first();
}

struct wb_task *ready_yield(struct wb_task *self, uint32_t floor)
{
    if (floor >= PRIORITIES || ready.levels >> floor == 0)
        return NULL;
    struct wb_task *next = take_first();
    add_ready(self);
    return next;
}

void ready_stay(struct wb_task *self)
{
    add_ready(self);
}

void ready_saved(struct wb_task *task, bool yields)
{
    (void)task;
    (void)yields;
}

struct wb_task *ready_first(void)
{
    return take_first();
}

void ready_watch(uint32_t priority)
{
    if (ready.levels >> priority > 1)
        kernel_set_need_resched();
}

void ready_heard(void) {}

void ready_reprioritise(struct wb_task *task)
{
    struct wb_task *before = NULL;

    if (of(task)->queue == 0)
        return;
    const uint32_t p = of(task)->queue - 1;
    for (struct wb_task *at = ready.first[p]; at != task; at = of(at)->next)
        before = at;
    add_ready(take_ready(p, before));
}
