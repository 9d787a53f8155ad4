// SPDX-License-Identifier: Apache-2.0
// Conditions: tasks of any cores wait until another says that something has changed.
//
//     wb_mutex_lock(&mutex, WB_FOREVER);
//     while (!ready)                                             // guarded by the mutex
//         status = wb_condition_wait(&changed, &mutex, WB_FOREVER);
//     wb_mutex_unlock(&mutex);
//
// As pthread_cond_t: a wait gives the mutex back and begins in one step, a signal without a waiter
// is lost, and by the time that the waiter has the mutex again, what it was told of may be
// otherwise. They lie in globally visible memory, and keep no list of who waits (wb/semaphore.h).
#ifndef WB_CONDITION_H
#define WB_CONDITION_H

#include <stdint.h>

#include "wb/semaphore.h"
#include "wb/status.h"

WB_BEGIN_C

// All zero is a condition that nobody waits for.
struct wb_condition {
    struct wb_wait_queue queue;  // first; nobody ever holds it
    // How many wait, and how many were killed while they did: 0: nobody does. The waiters.
    struct wb_swapped waiters;
};

/// Makes a condition that nobody waits for.
///
/// Context: any, before another task uses it. Never blocks.
void wb_condition_init(struct wb_condition *condition);

/// Gives `mutex` back, waits for a signal by polling, then blocked, and takes the mutex again,
/// which the caller holds whatever is returned but WB_ERR_INVAL. NULL: there is no mutex.
///
/// The task may move while it waits, if its waits are checkpoints. It returns for nothing only
/// after a death: what a task was told that was killed before it returned is told to another, and
/// when one is killed, or ends, with the mutex, all who wait with it return and look again.
///
/// Context: a task. Blocks for at most `timeout_ns`, and then for as long as others hold the mutex.
/// Returns: WB_OK: it was signalled, or is to look again after a death; WB_ERR_TIMEOUT: it was
///          not; WB_ERR_OWNER: one of the two, and the mutex is as after WB_ERR_OWNER of
///          wb_mutex_lock(); WB_ERR_INVAL, at once, if the caller does not hold the mutex.
/// Source:  IEEE Std 1003.1, pthread_cond_timedwait().
WB_MUST_USE enum wb_status wb_condition_wait(struct wb_condition *condition, struct wb_mutex *mutex,
                                             uint64_t timeout_ns);

/// Wakes the most urgent task that waits, on whatever core. Whoever waits for sure is who began to
/// before the caller last took the mutex.
///
/// Context: a task, with the mutex or without. Never blocks.
void wb_condition_signal(struct wb_condition *condition);

/// Wakes all tasks that wait.
///
/// Context: as wb_condition_signal().
void wb_condition_broadcast(struct wb_condition *condition);

WB_END_C

#endif
