// SPDX-License-Identifier: Apache-2.0
#include "stuck.h"

#include <stdarg.h>
#include <stdio.h>

#include "private.h"

struct text {
    char *at;
    size_t bytes, used;
};

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

// What has no room is left out.
static __attribute__((format(printf, 2, 3))) void say(struct text *text, const char *format, ...)
{
    va_list arguments;

    if (text->used >= text->bytes)
        return;
    va_start(arguments, format);
    text->used +=
        (size_t)vsnprintf(text->at + text->used, text->bytes - text->used, format, arguments);
    va_end(arguments);
}

static void say_gate(struct text *text, const struct wb_task *task)
{
    const struct wb_gate *gate = atomic_load_explicit(&task->sync.waits_for, memory_order_acquire);
    const struct wb_system *system = task->system;

    if (gate == NULL)
        return;
    const uint32_t holder = __atomic_load_n(&gate->holder, __ATOMIC_RELAXED) & WB_HOLDERS_MAX;
    if (holder == 0 || holder > system->n_tasks)
        say(text, " %s for a semaphore;", task->name);
    else
        say(text, " %s for a mutex of %s;", task->name, system->tasks[holder - 1].name);
}

static void describe(const struct wb_system *system, struct text *text)
{
    say(text, "every task waits:");
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_task *task = &system->tasks[i];
        for (const struct wb_port *p = task->ports; p != NULL; p = p->next_of_task)
            if (atomic_load_explicit(&p->waiting, memory_order_relaxed) != 0)
                say(text, " %s for %s in channel %s;", task->name,
                    p->direction == WB_IN ? "a message" : "room", p->channel->name);
        say_gate(text, task);
    }
}

bool stuck_look(struct stuck *stuck, struct wb_system *system, char *text, size_t bytes)
{
    const uint64_t switches = switches_of(system);
    const bool quiet = all_wait(system) && switches == stuck->switches;
    const bool sure = quiet && stuck->suspected;

    stuck->suspected = quiet;
    stuck->switches = switches;
    if (sure)
        describe(system, &(struct text){ .at = text, .bytes = bytes });
    return sure;
}
