// SPDX-License-Identifier: Apache-2.0
// One wait for everything: a set of ports, semaphores and files, and a time.
//
//     struct wb_wait set[] = { { .port = urgent }, { .port = in }, { .semaphore = &done } };
//
//     switch (wb_wait(set, 3, timeout_ns)) {
//     case 0: ...                  // urgent comes first, whatever else is ready
//     case WB_ERR_TIMEOUT: ...
//     }
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

enum wb_file_event {  // bits
    WB_FILE_READABLE = 1,
    WB_FILE_WRITABLE = 2,
};

// One of a set: a port, a semaphore, or a file with `events`. The others are NULL and 0.
struct wb_wait {
    struct wb_port *port;  // of the calling task; an input: a message is there; an output: room is
    struct wb_semaphore *semaphore;  // a permit is there
    // A descriptor of the kernel's operating system: a socket, a timer, a device. It is ready while
    // it can be read or written without waiting, or is at its end or broken. Once in a set.
    int file;
    uint32_t events;  // any of wb_file_event
    bool ready;       // written by wb_wait(): this one was ready when it returned
};

/// Waits until one of a set is ready: polls, then blocks, as everything else here does.
///
/// A port that is closed, or whose other end is over, is ready: the call that follows says so.
///
/// A descriptor is one of the kernel's process: a task that moves waits for those only that were
/// opened in wb_app_setup(). Make it non-blocking: what is ready may be taken by another.
///
/// Context: a task. Blocks for at most `timeout_ns`; 0 only looks, WB_FOREVER has no end.
/// Memory:  `set`, of `n`, is the caller's; only `ready` of each is written, before all returns but
///          the last three. With `n` 0 the task only lets the time pass.
/// Returns: the position of the first that is ready, so the set is in the order of its priority;
///          WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT when none is; WB_ERR_INVAL for one that has
///          none or several, a port of another task, or a file that comes twice; WB_ERR_UNABLE
///          for files where kernels know none; WB_ERR_NOMEM when one cannot be watched.
WB_MUST_USE int wb_wait(struct wb_wait *set, uint32_t n, uint64_t timeout_ns);

WB_END_C

#endif
