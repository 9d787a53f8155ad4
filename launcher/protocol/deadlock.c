// SPDX-License-Identifier: Apache-2.0
#include "deadlock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "host.h"
#include "wb/launcher.h"

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

// Every task that is not over waits for ever, and there is one: where all are over, the kernels are
// about to end the run.
static bool all_wait(struct wb_system *system)
{
    bool any = false;

    for (uint32_t i = 0; i < system->n_cores; i++)
        if (wb_word_load(&system->cores[i]->inbox.summary, WB_ACQUIRE) != 0)
            return false;
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);

        if (wb_state_is_over(owner_state))
            continue;
        if (wb_task_state_of(owner_state) != WB_TASK_BLOCKED || !wb_host_waits_for_ever(task))
            return false;
        any = true;
    }
    return any && wb_word_load(&system->live, WB_ACQUIRE) != 0;
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

// The task that holds what this one waits for; NULL: it waits for no mutex, or for one of nobody.
static struct wb_task *holder_for(const struct wb_task *task)
{
    const struct wb_wait_queue *queue = wb_word_load(&task->sync.waits_for, WB_ACQUIRE);
    const struct wb_system *system = task->system;

    if (queue == NULL)
        return NULL;
    const uint32_t holder = wb_word_load(&queue->holder, WB_RELAXED) & WB_HOLDERS_MAX;
    return holder == 0 || holder > system->n_tasks ? NULL : &system->tasks[holder - 1];
}

static bool is_waiting(const struct wb_port *port)
{
    return wb_word_load(&port->waiting, WB_RELAXED) != 0;
}

// ---- Who waits for what, when nothing better can be said ----------------------------------------

static const char *gap(const struct text *text, const char *between)
{
    return text->used == 0 ? "" : between;
}

static const char *kind_of(const struct wb_wait_queue *queue, const struct wb_task *waiter)
{
    if (queue == wb_word_load(&waiter->sync.condition, WB_RELAXED))
        return "a condition";
    return wb_word_load(&queue->holder, WB_RELAXED) == WB_HOLDER_BARRIER ? "others at a barrier"
                                                                         : "a semaphore";
}

// Of a scripted task, also where in its script it waits.
static void say_place(struct text *text, const struct wb_task *task)
{
    if (task->scripted == NULL)
        return;
    const uint32_t at = wb_word_load(&task->scripted->waits_at, WB_RELAXED);
    say(text, " (%s)", task->scripted->script->config.events[at].place);
}

static void say_wait_queue(struct text *text, const struct wb_task *task)
{
    const struct wb_wait_queue *queue = wb_word_load(&task->sync.waits_for, WB_ACQUIRE);
    const struct wb_task *holder = holder_for(task);

    if (queue == NULL)
        return;
    say(text, "%s%s for ", gap(text, "; "), task->name);
    if (holder != NULL)
        say(text, "a mutex of %s", holder->name);
    else
        say(text, "%s", kind_of(queue, task));
    say_place(text, task);
}

static void say_channel(struct text *channels, const struct wb_channel *channel)
{
    say(channels, "%s%s", gap(channels, " "), channel->name);
}

static void list(const struct wb_system *system, struct text *text, struct text *channels)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const struct wb_task *task = &system->tasks[i];
        for (const struct wb_port *p = task->ports; p != NULL; p = p->next_of_task) {
            if (!is_waiting(p))
                continue;
            say(text, "%s%s for %s in channel %s", gap(text, "; "), task->name,
                p->direction == WB_IN ? "a message" : "room", p->channel->name);
            say_place(text, task);
            say_channel(channels, p->channel);
        }
        say_wait_queue(text, task);
    }
}

// ---- A cycle of tasks, each of which waits for the next -----------------------------------------

struct wait {
    const struct wb_port *port;  // where; NULL: at a mutex
    struct wb_task *whom;        // NULL: nobody
};

// The first wait of a task for one of those that are kept.
static struct wait first_wait(const struct wb_task *task, const bool *kept)
{
    for (const struct wb_port *p = task->ports; p != NULL; p = p->next_of_task) {
        if (!is_waiting(p))
            continue;
        const struct wb_port *peer =
            p->direction == WB_IN ? p->channel->senders : p->channel->receiver;
        for (; peer != NULL; peer = peer->next_of_channel)
            if (kept[peer->task->id])
                return (struct wait){ .port = p, .whom = peer->task };
    }
    struct wb_task *holder = holder_for(task);
    return (struct wait){ .whom = holder != NULL && kept[holder->id] ? holder : NULL };
}

// Keeps the tasks that wait for one that is kept: each of them waits in a cycle, or for one.
static struct wb_task *keep_those_that_wait(const struct wb_system *system, bool *kept)
{
    struct wb_task *last = NULL;
    bool changed;

    for (uint32_t i = 0; i < system->n_tasks; i++)
        kept[i] = !wb_state_is_over(wb_word_load(&system->tasks[i].owner_state, WB_ACQUIRE));
    do {
        changed = false;
        last = NULL;
        for (uint32_t i = 0; i < system->n_tasks; i++) {
            if (!kept[i])
                continue;
            kept[i] = first_wait(&system->tasks[i], kept).whom != NULL;
            changed |= !kept[i];
            if (kept[i])
                last = &system->tasks[i];
        }
    } while (changed);
    return last;
}

static const char *role_at(const struct wb_port *port)
{
    if (port == NULL)
        return "holder";
    return port->direction == WB_IN ? "sender" : "receiver";
}

static void say_wait(struct text *text, struct text *channels, const struct wb_port *port)
{
    if (port == NULL) {
        say(text, " waits for a mutex");
        return;
    }
    const struct wb_channel *channel = port->channel;
    if (port->direction == WB_IN)
        say(text, " waits for a message in %s (empty)", channel->name);
    else if (channel->claims_at_start)
        say(text, " waits for room for a firing in %s (%" PRIu32 " of %" PRIu32 ")", channel->name,
            wb_channel_depth(channel), channel->slots);
    else
        say(text, " waits for room in %s (full, %" PRIu32 " of %" PRIu32 ")", channel->name,
            channel->slots, channel->slots);
    say_channel(channels, channel);
}

static bool say_cycle(const struct wb_system *system, struct text *text, struct text *channels)
{
    bool *kept = calloc(system->n_tasks, sizeof *kept);
    struct wb_task *first = kept != NULL ? keep_those_that_wait(system, kept) : NULL;

    // After as many steps as there are tasks, the way is in a cycle.
    for (uint32_t i = 0; first != NULL && i < system->n_tasks; i++)
        first = first_wait(first, kept).whom;
    for (struct wb_task *task = first; task != NULL;) {
        const struct wait wait = first_wait(task, kept);
        if (task == first)
            say(text, "%s", task->name);
        say_wait(text, channels, wait.port);
        say_place(text, task);
        const bool closed = wait.whom == first;
        say(text, ", whose %s %s%s", role_at(wait.port), closed ? "is " : "", wait.whom->name);
        task = closed ? NULL : wait.whom;
    }
    free(kept);
    return first != NULL;
}

void deadlock_describe(const struct wb_system *system, struct deadlock_report *why)
{
    struct text text = { .at = why->text, .bytes = sizeof why->text };
    struct text channels = { .at = why->channels, .bytes = sizeof why->channels };

    *why = (struct deadlock_report){ .text = "" };
    if (!say_cycle(system, &text, &channels))
        list(system, &text, &channels);
}

bool deadlock_check(struct deadlock *deadlock, struct wb_system *system,
                    struct deadlock_report *why)
{
    const uint64_t switches = switches_of(system);
    const bool quiet = all_wait(system) && switches == deadlock->switches;
    const bool sure = quiet && deadlock->suspected;

    deadlock->suspected = quiet;
    deadlock->switches = switches;
    if (sure)
        deadlock_describe(system, why);
    return sure;
}
