// SPDX-License-Identifier: Apache-2.0
// An index of who waits where, so that a giver looks at those that may wait at its wait queue, and
// not at all tasks. Small systems have none: there all tasks are few.
//
// It is a hint. That a task waits it says in its own `waits_for`; who is looked at does not have to
// wait, but nobody who waits may be missed. So a task takes a place before it says that it waits,
// and gives it back after it has said that it does not. A task waits at one wait queue at a time
// (for several, at wb_system.set), so it has one place at most, and half of all places stay free.
//
// The places are an array of blocks in blocks: of 8 places, of 64 around these, of 512, and so on
// up to all. The hash of a wait queue names one block of each size. A task takes a place in the
// smallest where it soon finds one free, and counts itself at each smaller block of its wait queue
// first, as one that has gone past it. A giver does the same: it goes past each block that is
// counted at, and looks at all places of the first that is not. Strangers in it cost time only.
//
// Nobody is missed: while a task waits, it is counted at each block that it has gone past, for it
// is counted before it says so and counted off after it has taken that back. Others count off what
// they have counted themselves, so in the order of all changes of a count it is never 0 meanwhile.
// All accesses may be relaxed, because a giver sees what the task did before it said that it waits:
// it has acquired that by `waited`, or by the mutex of a condition, or by the word of a task that
// was chosen before; or a sequentially consistent fence lies between the task's stores and its last
// attempt, another between the giver's store and its look, and the attempt did not see that store
// (see wait_queue.c).
//
// A task may be killed at any step. What it has it notes in its entry, by which recovery does what
// is left of leave(): the place before it is taken (an entry may name a place that another has),
// a count after it is made and no more before it is unmade. So a count may stay one too high for
// good, which costs time, but is never too low.

#include "wait_queue.h"

enum {
    FEW = 64,        // tasks that are looked at without an index
    GROUP_BITS = 3,  // the smallest block has 8 places, each other 8 times as many
    GROUP = 1 << GROUP_BITS,
};

// The task's own, or recovery's.
struct entry {
    uint32_t hash;    // of the wait queue: a place in each block of it
    uint32_t passed;  // how many blocks the task is counted at
    uint32_t place;   // which may be its own
};

struct wb_waiters {
    struct wb_swapped *places;  // any core: the number of a task from 1; 0: free
    struct wb_swapped *passed;  // any core: of each block but the largest, who has gone past it
    struct entry *entries;      // of each task
    uint32_t bits;              // of the number of a place
};

// Two places for each task, at least.
static uint32_t bits_for(uint32_t tasks)
{
    return 33 - (uint32_t)__builtin_clz(tasks - 1);
}

static bool is_wanted(const struct wb_system_config *config)
{
    return config->tasks > FEW;
}

static size_t bytes_of_places(const struct wb_system_config *config)
{
    return sizeof(struct wb_swapped) << bits_for(config->tasks);
}

static size_t bytes(const struct wb_system_config *config)
{
    return is_wanted(config) ? bytes_of_places(config) + bytes_of_places(config) / 4 +
                                   config->tasks * sizeof(struct entry) +
                                   sizeof(struct wb_waiters) + (size_t)4 * WB_LINE_BYTES
                             : 0;
}

static bool init(struct wb_system *system)
{
    const struct wb_system_config *config = &system->config;

    if (!is_wanted(config))
        return true;
    struct wb_waiters *waiters = wb_system_alloc(system, sizeof *waiters, WB_LINE_BYTES);
    if (waiters == NULL)
        return false;
    waiters->bits = bits_for(config->tasks);
    waiters->places = wb_system_alloc(system, bytes_of_places(config), WB_LINE_BYTES);
    waiters->passed = wb_system_alloc(system, bytes_of_places(config) / 4, WB_LINE_BYTES);
    waiters->entries =
        wb_system_alloc(system, config->tasks * sizeof *waiters->entries, WB_LINE_BYTES);
    system->waiters = waiters;
    return waiters->places != NULL && waiters->passed != NULL && waiters->entries != NULL;
}

// ---- Blocks -------------------------------------------------------------------------------------

// Fibonacci hashing, as in lock.c.
static uint32_t spread(uint32_t number, uint32_t bits)
{
    return number * 2654435769u >> (32 - bits);
}

static uint32_t hash_of(const struct wb_waiters *waiters, const struct wb_wait_queue *queue)
{
    return spread((uint32_t)((uintptr_t)queue >> 2), waiters->bits);
}

// Of the block that one comes to who has gone past so many: the bits of a place's number in it.
static uint32_t bits_of(const struct wb_waiters *waiters, uint32_t passed)
{
    const uint32_t bits = (passed + 1) * GROUP_BITS;

    return bits < waiters->bits ? bits : waiters->bits;
}

// NULL: the largest block, which nobody goes past.
static struct wb_swapped *count_of(const struct wb_waiters *waiters, uint32_t hash, uint32_t passed)
{
    const uint32_t bits = bits_of(waiters, passed);

    // Numbered like a heap: all blocks of a size, after the larger ones.
    return bits < waiters->bits ? &waiters->passed[(1u << waiters->bits | hash) >> bits] : NULL;
}

// ---- Places -------------------------------------------------------------------------------------

// In the block that the task has come to: soon, or in the largest anywhere.
static bool take_entry(const struct wb_waiters *waiters, struct entry *entry, uint32_t id)
{
    const uint32_t bits = bits_of(waiters, entry->passed);
    const uint32_t last = (1u << bits) - 1;
    const uint32_t tries = bits < waiters->bits ? GROUP : last + 1;

    for (uint32_t i = 0; i < tries; i++) {
        const uint32_t place = (entry->hash & ~last) | ((spread(id, bits) + i) & last);
        uint32_t nobody = 0;
        if (wb_word_load(&waiters->places[place], WB_RELAXED) != 0)
            continue;
        entry->place = place;
        wb_word_order();
        if (wb_word_compare_swap(&waiters->places[place], &nobody, id + 1, WB_RELAXED, WB_RELAXED))
            return true;
    }
    return false;
}

static void enter(const struct wb_wait_queue *queue, const struct wb_task *task)
{
    const struct wb_waiters *waiters = task->system->waiters;
    struct entry *entry = &waiters->entries[task->id];

    entry->hash = hash_of(waiters, queue);
    while (!take_entry(waiters, entry, task->id)) {
        struct wb_swapped *count = count_of(waiters, entry->hash, entry->passed);
        // Where there is none, a place became free meanwhile that others had: half of all are.
        if (count == NULL)
            continue;
        (void)wb_word_add(count, 1, WB_RELAXED);
        wb_word_order();
        entry->passed++;
    }
}

static void leave(const struct wb_task *task)
{
    const struct wb_waiters *waiters = task->system->waiters;
    struct entry *entry = &waiters->entries[task->id];
    uint32_t own = task->id + 1;

    (void)wb_word_compare_swap(&waiters->places[entry->place], &own, 0, WB_RELAXED, WB_RELAXED);
    while (entry->passed > 0) {
        entry->passed--;
        wb_word_order();
        (void)wb_word_sub(count_of(waiters, entry->hash, entry->passed), 1, WB_RELAXED);
    }
}

// ---- Looking ------------------------------------------------------------------------------------

static uint32_t look_at_entries(const struct wb_wait_queue *queue, struct wb_system *system,
                                wb_waiters_look *look_at, void *with)
{
    const struct wb_waiters *waiters = system->waiters;
    const uint32_t hash = hash_of(waiters, queue);
    const struct wb_swapped *count;
    uint32_t passed = 0;

    while ((count = count_of(waiters, hash, passed)) != NULL &&
           wb_word_load(count, WB_RELAXED) != 0)
        passed++;
    const uint32_t places = 1u << bits_of(waiters, passed);
    const struct wb_swapped *block = &waiters->places[hash & ~(places - 1)];
    for (uint32_t i = 0; i < places; i++) {
        const uint32_t number = wb_word_load(&block[i], WB_RELAXED);
        if (number != 0)
            look_at(&system->tasks[number - 1], with);
    }
    return places;
}

// The first from a number on, and how many there are.
struct next {
    uint32_t from, n;
    struct wb_task *first;
};

static void see(struct wb_task *task, void *with)
{
    struct next *next = with;

    if (task->id < next->from)
        return;
    next->n++;
    if (next->first == NULL || task < next->first)
        next->first = task;
}

// It looks for each of them anew. Where they are too many for that, all tasks are fewer.
static void look_in_order(const struct wb_wait_queue *queue, struct wb_system *system,
                          wb_waiters_look *look_at, void *with)
{
    struct next next = { 0 };

    for (;; next = (struct next){ .from = next.first->id + 1 }) {
        const uint32_t places = look_at_entries(queue, system, see, &next);
        if (next.first == NULL)
            return;
        if (next.n > (system->n_tasks - next.from) / places)
            break;
        look_at(next.first, with);
    }
    for (uint32_t i = next.from; i < system->n_tasks; i++)
        look_at(&system->tasks[i], with);
}

const struct wb_part_waiters wb_part_waiters = {
    .bytes = bytes,
    .init = init,
    .enter = enter,
    .leave = leave,
    .look = look_at_entries,
    .look_in_order = look_in_order,
};
