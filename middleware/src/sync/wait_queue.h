// SPDX-License-Identifier: Apache-2.0
// Wait queues: what semaphores, mutexes, conditions and barriers have in common. Waiting is in
// wait_queue.c, inheritance of priorities in inherit.c.
#ifndef WB_WAIT_QUEUE_H
#define WB_WAIT_QUEUE_H

#include "../channel/channel.h"

/// One attempt by `self`: WB_ERR_EMPTY says that it has to wait.
typedef enum wb_status wb_wait_queue_attempt(struct wb_wait_queue *queue, struct wb_task *self);

/// Attempts until that is over: polls, then blocks.
///
/// Returns: what the attempt says; WB_ERR_EMPTY only if `timeout_ns` is 0; else WB_ERR_TIMEOUT.
enum wb_status wb_wait_queue_enter(struct wb_wait_queue *queue, wb_wait_queue_attempt *attempt,
                                   uint64_t timeout_ns);

/// Attempts for as long as the kernel polls, at most until `until_ns`.
enum wb_status wb_wait_queue_poll(struct wb_wait_queue *queue, wb_wait_queue_attempt *attempt,
                                  struct wb_task *self, uint64_t until_ns);

/// There is an index of who waits (waiters.c).
static inline bool wb_waiters_are_indexed(const struct wb_system *system)
{
    return wb_parts.waiters != NULL && system->waiters != NULL;
}

/// Before the task says that it waits at the wait queue; one stands for several (wb_system.set).
static inline void wb_wait_queue_begin(const struct wb_wait_queue *queue,
                                       const struct wb_task *task)
{
    if (wb_waiters_are_indexed(task->system))
        wb_parts.waiters->enter(queue, task);
}

/// After it has said that it does not, or recovery has for it.
static inline void wb_wait_queue_end(const struct wb_task *task)
{
    if (wb_waiters_are_indexed(task->system))
        wb_parts.waiters->leave(task);
}

/// Chooses the most urgent task that waits at the wait queue, if one does, and wakes it.
void wb_wait_queue_choose(struct wb_wait_queue *queue, struct wb_system *system);

/// The same of all that wait there: all are ready before one of them runs. To be called after a
/// store of what they wait for.
void wb_wait_queue_choose_all(struct wb_wait_queue *queue, struct wb_system *system);

/// The same of all that wait for a condition with this mutex.
void wb_wait_queue_choose_guarded(struct wb_wait_queue *mutex, struct wb_system *system);

/// Wakes the most urgent task that waits at the wait queue, and all that have it in a set, before
/// one of them runs. To be called after a store of what they wait for.
void wb_wait_queue_open(struct wb_wait_queue *queue, struct wb_system *system);

/// The wait queue's bit in wb_sync.set, by its address: another may have the same, and wake for
/// nothing those that wait for this one.
static inline uint32_t wb_wait_queue_bit(const struct wb_wait_queue *queue)
{
    // Fibonacci hashing, as in lock.c.
    return 1u << ((uint32_t)((uintptr_t)queue >> 2) * 2654435769u >> 27);
}

/// What `holder` of a wait queue is while the task holds it: its number from 1 in the lower bits,
/// and how many lives it has had in the upper ones, in which a task that was cut short differs.
static inline uint32_t wb_wait_queue_holder(const struct wb_task *task)
{
    return (task->id + 1) | wb_word_load(&task->incarnation, WB_RELAXED) << WB_HOLDER_BITS;
}

static inline bool wb_wait_queue_is_held_by(const struct wb_wait_queue *queue,
                                            const struct wb_task *task)
{
    // Only the task itself makes it its own, and while it lives only the task gives it back.
    return wb_word_load(&queue->holder, WB_RELAXED) == wb_wait_queue_holder(task);
}

// ---- inherit.c ----------------------------------------------------------------------------------

/// The task that holds a wait queue; NULL when nobody does, or when that task is over or has been
/// started again since.
struct wb_task *wb_wait_queue_living(struct wb_system *system, uint32_t holder);

/// Makes the holder of a wait queue at least as urgent as `self`, which waits there.
void wb_inherit_boost(const struct wb_wait_queue *queue, const struct wb_task *self);

/// Makes it no more urgent than need be, once `self` waits no more.
void wb_inherit_release(const struct wb_wait_queue *queue, const struct wb_task *self);

/// Computes the effective priority of a task anew.
///
/// Context: the kernel that owns the task.
/// Returns: true when it has changed: the kernel is to be told.
bool wb_inherit(struct wb_task *task);

#endif
