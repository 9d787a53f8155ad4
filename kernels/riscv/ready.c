// SPDX-License-Identifier: Apache-2.0
// The ready list of a core in software: a queue for each priority.

#include "own.h"
#include "riscv_board.h"

static struct {
    uint32_t levels;  // bit p: queue p is not empty
    struct wb_task *first[PRIORITIES], *last[PRIORITIES];
} ready WB_PRIVATE;

void ready_begin(void) {}

bool ready_takes(const struct wb_task *task)
{
    (void)task;
    return true;
}

static void add(struct wb_task *task)
{
    const uint32_t p = wb_sync_priority(&task->sync);

    of(task)->next = NULL;
    of(task)->queue = p + 1;
    if ((ready.levels & 1u << p) == 0)
        ready.first[p] = task;
    else
        of(ready.last[p])->next = task;
    ready.last[p] = task;
    ready.levels |= 1u << p;
}

static struct wb_task *take(uint32_t p, struct wb_task *before)
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
        ready.levels &= ~(1u << p);
    of(task)->queue = 0;
    return task;
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

static struct wb_task *take_from(uint32_t floor)
{
    if (floor >= PRIORITIES || ready.levels >> floor == 0)
        return NULL;
    return take(highest(ready.levels), NULL);
}

void ready_attach(struct wb_task *task)
{
    add(task);
}

void ready_wake(struct wb_task *task)
{
    add(task);
}

struct wb_task *ready_block(struct wb_task *self)
{
    (void)self;
    return take_from(0);
}

struct wb_task *ready_leave(struct wb_task *self)
{
    (void)self;
    return take_from(0);
}

struct wb_task *ready_yield(struct wb_task *self, uint32_t floor)
{
    struct wb_task *next = take_from(floor);

    if (next != NULL)
        add(self);
    return next;
}

void ready_stay(struct wb_task *self)
{
    add(self);
}

void ready_saved(void) {}

struct wb_task *ready_first(void)
{
    return take_from(0);
}

void ready_watch(uint32_t priority)
{
    if (ready.levels >> priority > 1)
        wb_word_store(&wb_kernel_attention, 1, WB_RELAXED);
}

void ready_heard(void) {}

void ready_move(struct wb_task *task)
{
    struct wb_task *before = NULL;

    if (of(task)->queue == 0)
        return;
    const uint32_t p = of(task)->queue - 1;
    for (struct wb_task *at = ready.first[p]; at != task; at = of(at)->next)
        before = at;
    add(take(p, before));
}
