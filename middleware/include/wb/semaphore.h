// SPDX-License-Identifier: Apache-2.0
// Semaphores and locks among tasks of any cores.
//
// They lie in globally visible memory: globals of the module, wb_app_alloc(), the heap of a task
// that is handed off. Who waits polls first and then blocks. There is no queue of waiters: who
// gives wakes the most urgent task that waits, and that one tries again. A semaphore belongs to
// nobody, so any task may give; a mutex and a lock belong to the task that took them, wherever it
// runs.
//
// Timeouts: 0 tries once, WB_FOREVER has no end.
#ifndef WB_SEMAPHORE_H
#define WB_SEMAPHORE_H

#include <stdint.h>

#include "wb/status.h"
#include "wb/word.h"

WB_BEGIN_C

// What tasks wait at.
struct wb_wait_queue {
    struct wb_compared
        holder;  // a task and its restarts (see wait_queue.h); 0: none. Whoever takes, or unlocks
    // Who may wait here (enum wb_waited): set by waiters and wakers, taken by wakers.
    struct wb_swapped waited;
};

struct wb_semaphore {
    struct wb_wait_queue queue;  // first; nobody ever holds it
    struct wb_compared value;    // permits; any task
    uint32_t most;               // fixed
};

// All zero is a mutex that nobody holds.
struct wb_mutex {
    struct wb_wait_queue queue;  // first
};

/// Makes a semaphore of `value` permits that never has more than `most`; 1 makes it a binary one.
///
/// Context: any, before another task uses it. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL if `most` is 0 or less than `value`.
/// Source:  acquaviva2008 section 4.1.
WB_MUST_USE enum wb_status wb_semaphore_init(struct wb_semaphore *semaphore, uint32_t value,
                                             uint32_t most);

/// Takes a permit; waits for one by polling, then blocked.
///
/// A permit is nobody's: if the task that took it ends or dies, it is not given back.
///
/// Context: a task. Blocks for at most `timeout_ns`.
/// Returns: WB_OK; WB_ERR_EMPTY if there is none and `timeout_ns` is 0; WB_ERR_TIMEOUT.
/// Source:  acquaviva2008 section 4.1.
WB_MUST_USE enum wb_status wb_semaphore_take(struct wb_semaphore *semaphore, uint64_t timeout_ns);

/// The same, but only polls: for a permit that another core gives soon.
///
/// Context: a task. Never blocks, and no other task of its core runs before it returns.
/// Returns: as wb_semaphore_take().
/// Source:  acquaviva2008 section 4.1.
WB_MUST_USE enum wb_status wb_semaphore_spin(struct wb_semaphore *semaphore, uint64_t timeout_ns);

/// Gives a permit, and wakes the most urgent task that waits for one, on whatever core.
///
/// Context: a task. Never blocks.
/// Returns: WB_OK; WB_ERR_FULL if there are as many as there may be.
WB_MUST_USE enum wb_status wb_semaphore_give(struct wb_semaphore *semaphore);

/// Makes a mutex that nobody holds.
///
/// Context: any, before another task uses it. Never blocks.
void wb_mutex_init(struct wb_mutex *mutex);

/// Takes a mutex. While it waits, the task that holds it is as urgent as the caller, on whatever
/// core, and so is the task that one waits for.
///
/// The holder may move to another core with it.
///
/// Context: a task. Blocks for at most `timeout_ns`.
/// Returns: WB_OK; WB_ERR_OWNER: taken, but its holder ended, or was killed, with it, so what it
///          guards may be half changed; WB_ERR_INVAL if the caller holds it already; WB_ERR_EMPTY
///          if another does and `timeout_ns` is 0; WB_ERR_TIMEOUT.
/// Source:  Sha, Rajkumar and Lehoczky, "Priority inheritance protocols", 1990.
WB_MUST_USE enum wb_status wb_mutex_lock(struct wb_mutex *mutex, uint64_t timeout_ns);

/// Takes a mutex if that needs no waiting.
///
/// Context: a task. Never blocks.
/// Returns: as wb_mutex_lock() with a timeout of 0.
WB_MUST_USE enum wb_status wb_mutex_try(struct wb_mutex *mutex);

/// Gives a mutex back, and wakes the most urgent task that waits for it.
///
/// Context: a task. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL if the caller does not hold it.
enum wb_status wb_mutex_unlock(struct wb_mutex *mutex);

/// Locks an address. Only its name is locked: what lies there need not be a lock, and is not
/// touched. A task that holds one is not moved: WB_ERR_HELD at its checkpoint.
///
/// A name is never forgotten, so lock a few addresses often, not many once.
///
/// Context: a task. Blocks for at most `timeout_ns`.
/// Returns: as wb_mutex_lock(); WB_ERR_INVAL for NULL; WB_ERR_NOMEM after WB_LOCKS names.
/// Source:  nacul2007, "Shared memory lock unit" and "Locking API primitives".
WB_MUST_USE enum wb_status wb_lock(const void *address, uint64_t timeout_ns);

/// Unlocks an address.
///
/// Context: a task. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL if the caller has not locked it.
/// Source:  as wb_lock().
enum wb_status wb_unlock(const void *address);

WB_END_C

#endif
