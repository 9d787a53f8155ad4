// SPDX-License-Identifier: Apache-2.0
// Barriers: so many tasks, on any cores, wait for each other, again and again.
//
//     static struct wb_barrier barrier;
//     static struct wb_participant participants[3];
//
//     wb_barrier_init(&barrier, participants, 3);        // in wb_app_setup()
//     wb_barrier_wait(&barrier, WB_FOREVER);      // each of three tasks
//
// Each of the tasks has an entry, so the others know when one of them cannot come any more. It
// takes it when it first waits there, or is given it before (wb_barrier_join()), and keeps it.
#ifndef WB_BARRIER_H
#define WB_BARRIER_H

#include <stdint.h>

#include "wb/semaphore.h"
#include "wb/status.h"

WB_BEGIN_C

struct wb_task;

// One of the tasks of a barrier.
struct wb_participant {
    // As wb_wait_queue.holder, when the task took the entry; whoever has it join.
    struct wb_compared task;
    struct wb_word arrived;  // for which round (see barrier.c); the task
};

struct wb_barrier {
    struct wb_wait_queue queue;  // first; nobody ever holds it
    struct wb_compared state;    // round and deaths (see barrier.c); who lets the others through
    uint32_t n_participants;     // fixed
    struct wb_participant *participants;  // fixed
};

/// Makes a barrier of `tasks` tasks.
///
/// Context: any, before another task uses it. Never blocks.
/// Memory:  `participants`, as many, lie in globally visible memory, like the barrier, and are the
///          barrier's from now on.
/// Returns: WB_OK, or WB_ERR_INVAL if `tasks` is 0.
WB_MUST_USE enum wb_status wb_barrier_init(struct wb_barrier *barrier,
                                           struct wb_participant *participants, uint32_t tasks);

/// Gives a task its entry before it comes, so that the others know also of one that never does.
///
/// Context: any, before a task waits there. Never blocks.
/// Returns: WB_OK, also if it has one; WB_ERR_FULL if others have all of them.
WB_MUST_USE enum wb_status wb_barrier_join(struct wb_barrier *barrier, struct wb_task *task);

/// Waits until all tasks of the barrier have come, by polling, then blocked.
///
/// A task that has waited in vain has come nevertheless: it need not wait, and when it calls again
/// it waits on, for the same round.
///
/// Context: a task. Blocks for at most `timeout_ns`.
/// Returns: WB_OK when all have come, but 1 to one of them, unless a kernel was killed meanwhile;
///          WB_ERR_OWNER to each if one of them was cut short by a death since the last time, and
///          started again;
///          WB_ERR_GONE if one of them has ended, or was lost, and will never come;
///          WB_ERR_FULL if others have all entries; WB_ERR_EMPTY if somebody is missing and
///          `timeout_ns` is 0; WB_ERR_TIMEOUT.
/// Source:  IEEE Std 1003.1, pthread_barrier_wait().
WB_MUST_USE int wb_barrier_wait(struct wb_barrier *barrier, uint64_t timeout_ns);

/// The same, of a task that comes once for each round in all its lives, because it notes where it
/// is: `*round`, which is 0 before it comes, is set before it has come. Its next life calls again
/// with what is noted, and goes on at once if that round is over. 0 again: the next round.
///
/// Context: as wb_barrier_wait().
/// Memory:  `round` lies where the next life finds it.
/// Returns: as wb_barrier_wait().
WB_MUST_USE int wb_barrier_pass(struct wb_barrier *barrier, uint32_t *round, uint64_t timeout_ns);

WB_END_C

#endif
