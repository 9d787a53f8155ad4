// SPDX-License-Identifier: Apache-2.0
// The ready list of a core in software: a queue for each priority.

#include "own.h"
#include "riscv_board.h"

static struct {
    uint32_t levels;  // bit p: queue p is not empty
    struct wb_task *first[PRIORITIES], *last[PRIORITIES];
} ready WB_PRIVATE;

void ready_add(struct wb_task *task)
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

struct wb_task *ready_take(uint32_t floor)
{
    if (floor >= PRIORITIES || ready.levels >> floor == 0)
        return NULL;
    return take(highest(ready.levels), NULL);
}

bool ready_above(uint32_t priority)
{
    return ready.levels >> priority > 1;
}

void ready_move(struct wb_task *task)
{
    struct wb_task *before = NULL;

    if (of(task)->queue == 0)
        return;
    const uint32_t p = of(task)->queue - 1;
    for (struct wb_task *at = ready.first[p]; at != task; at = of(at)->next)
        before = at;
    ready_add(take(p, before));
}
