// SPDX-License-Identifier: Apache-2.0
#include "stuck.h"

#include <stdio.h>

#include "private.h"

static uint64_t switches_of(const struct wb_system *system)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < system->n_cores; i++)
        n += wb_counter_get(&system->cores[i]->stats.switches);
    return n;
}

static bool waits_for_ever(struct wb_task *task)
{
    const uint32_t place = atomic_load_explicit(&task->place, memory_order_acquire);

    return wb_place_is_over(place) ||
           (wb_place_state(place) == WB_TASK_BLOCKED && linux_task(task)->timer == 0);
}

static bool all_wait(struct wb_system *system)
{
    for (uint32_t i = 0; i < system->n_cores; i++)
        if (atomic_load_explicit(&system->cores[i]->inbox.summary, memory_order_acquire) != 0)
            return false;
    for (uint32_t i = 0; i < system->n_tasks; i++)
        if (!waits_for_ever(&system->tasks[i]))
            return false;
    return atomic_load_explicit(&system->live, memory_order_acquire) != 0;
}

static void describe(const struct wb_system *system, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "every task waits:");

    for (uint32_t i = 0; i < system->n_tasks; i++)
        for (const struct wb_port *p = system->tasks[i].ports; p != NULL; p = p->next_of_task)
            if (atomic_load_explicit(&p->waiting, memory_order_relaxed) != 0 && used < bytes)
                used += (size_t)snprintf(
                    text + used, bytes - used, " %s for %s in channel %s;", p->task->name,
                    p->direction == WB_IN ? "a message" : "room", p->channel->name);
}

bool stuck_look(struct stuck *stuck, struct wb_system *system, char *text, size_t bytes)
{
    const uint64_t switches = switches_of(system);
    const bool quiet = all_wait(system) && switches == stuck->switches;
    const bool sure = quiet && stuck->suspected;

    stuck->suspected = quiet;
    stuck->switches = switches;
    if (sure)
        describe(system, text, bytes);
    return sure;
}
