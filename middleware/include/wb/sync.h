// SPDX-License-Identifier: Apache-2.0
// What the system keeps for semaphores and locks: a few words of each task, and a table of names.
//
// A waiter says in a word of its own what it waits for, and nobody else's memory holds a list of
// waiters: there is none that a killed kernel could leave half linked.
#ifndef WB_SYNC_H
#define WB_SYNC_H

#include <stdint.h>

#include "wb/semaphore.h"

enum {
    WB_LOCKS = 256,       // names that wb_lock() can tell apart; a power of two
    WB_HOLDER_BITS = 17,  // of wb_wait_queue.holder name a task, from 1
    WB_HOLDERS_MAX = (1 << WB_HOLDER_BITS) - 1,
    WB_HOLDER_BARRIER = 1 << WB_HOLDER_BITS  // nobody; says that the wait queue is a barrier's
};

enum wb_waited {           // bits of wb_wait_queue.waited
    WB_WAITED_ALONE = 1,   // by a task that waits for this wait queue only
    WB_WAITED_IN_SET = 2,  // by one that waits for several (wb/wait.h)
};

struct wb_sync {  // of a task
    // Set by the task, cleared by it, by whoever wakes it, or by recovery. wb_system.set: it waits
    // for several wait queues, of which `set` has a bit each.
    WB_SWAPPED(struct wb_wait_queue *) waits_for;
    struct wb_word set;       // the task
    struct wb_word priority;  // effective; the kernel that owns the task
    // Any core: counts what may have changed the task's effective priority.
    struct wb_swapped reevaluations;
    uint32_t reevaluations_seen;  // the kernel that owns the task
    uint32_t held;                // locks of wb_lock(); the task, or recovery
    uint32_t owned;               // mutexes, those of wb_lock() among them; the same
    // Of the condition that it waits for, until it returns from there, and of the mutex that it
    // waits with. The task, or recovery.
    WB_STORED(struct wb_wait_queue *) condition;
    WB_STORED(const struct wb_wait_queue *) guard;
    struct wb_word sits;  // 1: it takes part in a barrier; who has it join
};

/// The priority by which the task is to be scheduled: its own, or that of a more urgent task that
/// waits for a mutex it holds.
static inline uint32_t wb_sync_priority(const struct wb_sync *sync)
{
    // Relaxed: it is exact for the kernel that owns the task, which alone writes it, and a hint for
    // the others.
    return wb_word_load(&sync->priority, WB_RELAXED);
}

/// What `floor` of wb_kernel_yield() is once the kernel has served, where the effective priority of
/// the task was `before`. A larger one lets nobody run first, and stays.
static inline uint32_t wb_floor_after(const struct wb_sync *sync, uint32_t before, uint32_t floor)
{
    return floor <= before + 1 ? floor + wb_sync_priority(sync) - before : floor;
}

/// Something has happened since the effective priority was computed that may have changed it.
///
/// Context: the kernel that owns the task.
static inline bool wb_sync_must_reevaluate(const struct wb_sync *sync)
{
    // Acquire: who sees the count sees what was changed before it.
    return wb_word_load(&sync->reevaluations, WB_ACQUIRE) != sync->reevaluations_seen;
}

// The names of wb_lock(), an open hash table that is only ever added to.
struct wb_locks {
    WB_COMPARED(const void *) names[WB_LOCKS];  // whoever comes first with a name
    struct wb_mutex mutexes[WB_LOCKS];
};

#endif
