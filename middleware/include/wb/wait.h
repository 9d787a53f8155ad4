// SPDX-License-Identifier: Apache-2.0
// One wait for everything: a set of ports and semaphores, and a time.
//
//     struct wb_wait set[] = { { .port = urgent }, { .port = in }, { .semaphore = &done } };
//
//     switch (wb_wait(set, 3, timeout_ns)) {
//     case 0: ...                  // urgent comes first, whatever else is ready
//     case WB_ERR_TIMEOUT: ...
//
// The set says what may go on, and takes nothing: the call that follows does. A port is its task's
// own, so that call does not wait. A permit, and a slot of a mailbox, may be another's by then:
// with a timeout of 0 that call says so, and the task waits again.
#ifndef WB_WAIT_H
#define WB_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/status.h"

WB_BEGIN_C

struct wb_port;
struct wb_semaphore;

// One of a set: it has either of these, and the other is NULL.
struct wb_wait {
    struct wb_port *port;  // of the calling task; an input: a message is there; an output: room is
    struct wb_semaphore *semaphore;  // a permit is there
    bool ready;                      // written by wb_wait(): this one was ready when it returned
};

/// Waits until one of a set is ready: polls, then blocks, as everything else here does.
///
/// A port that is closed, or whose other end is over, is ready: the call that follows says so.
///
/// Context: a task. Blocks for at most `timeout_ns`; 0 only looks, WB_FOREVER has no end.
/// Memory:  `set`, of `n`, is the caller's; only `ready` of each is written, before every return
/// but
///          WB_ERR_INVAL. With `n` 0 the task only lets the time pass.
/// Returns: the position of the first that is ready, so the set is in the order of its priority;
///          WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT when none is; WB_ERR_INVAL for one that has
///          neither or both, or a port of another task.
WB_MUST_USE int wb_wait(struct wb_wait *set, uint32_t n, uint64_t timeout_ns);

WB_END_C

#endif
