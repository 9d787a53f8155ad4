// SPDX-License-Identifier: Apache-2.0
// Calls: a task asks a service for something, and gets an answer.
//
// A service is a task whose requests come through a mailbox, from many callers, and whose answers
// go back through one channel for each of them. So a call is two messages: either end may move at
// any time, and requests and answers lie in slots that all cores see, where they may be written and
// read in place. A service answers in the order in which it takes; so do the calls of one caller
// end.
//
// A call that a service has begun when its kernel is killed ends with WB_ERR_GONE: its effect is
// not known. What it has not begun is served by its next life, if it is declared `restart`; else
// all end so. Answers to a caller's former life are dropped.
#ifndef WB_CALL_H
#define WB_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/status.h"

WB_BEGIN_C

struct wb_port;
struct wb_task;

enum {
    WB_CALLS_MAX = 32,        // that one caller may have outstanding at a service
    WB_CALL_HEAD_BYTES = 32,  // of each slot of a service's channels, before what the call carries
};

// How a call has ended.
struct wb_answer {
    uint32_t number;        // of the call, from 1
    enum wb_status status;  // WB_OK; WB_ERR_GONE; or what the service has refused it with
    const void *data;       // aligned to 32 bytes; NULL without an answer
    uint32_t bytes;
};

/// What is called at the end of a call, by the task that made it: while it calls, takes or
/// completes another one of the same caller. It cannot wait for one itself.
typedef void wb_call_done(const struct wb_answer *answer, void *arg);

// What a task calls one service through. Its own, and of no other task.
struct wb_caller {
    struct wb_port *requests, *answers;  // to wait at `answers` for several things, see wb/wait.h
    uint32_t most;                       // so many may be outstanding
    // The library's: when it was begun; numbers of calls; how many are to be taken.
    uint32_t life, session, made, ended, gone, to_take;
    void *claimed;      // the slot of a request that is not committed
    const void *held;   // the slot of an answer that is not released
    bool given, empty;  // an answer is not released; it has no slot
    bool completes;
    struct wb_pending {
        wb_call_done *done;
        void *arg;
        bool dropped;
    } pending[WB_CALLS_MAX];
};

// A request that a service has taken.
struct wb_request {
    const void *data;  // aligned to 32 bytes
    uint32_t bytes;
    uint32_t room;  // for the answer
    void *answer;   // to be written there, aligned to 32 bytes
};

// What a task serves through.
struct wb_service {
    struct wb_port *requests;
    // The library's.
    const void *taken;  // the slot of the request that is not answered
    void *answer;       // and that of its answer
};

/// Begins to use a service, before the first call. What this task has called it for before and has
/// not ended is given up.
///
/// Context: the task itself. Never blocks.
/// Memory:  `*caller` is the task's, on its stack or heap.
/// Returns: WB_OK; WB_ERR_INVAL if the application does not let this task call a service of that
///          name.
WB_MUST_USE enum wb_status wb_caller_open(struct wb_task *self, const char *name,
                                          struct wb_caller *caller);

/// Calls, and waits for the answer. Completion functions of calls that end before it are called.
///
/// Context: the calling task. Blocks up to `timeout_ns`.
/// Memory:  `request` (`bytes` of it) and the answer (at most `room` bytes) are copied.
/// Returns: how many bytes the answer has; WB_ERR_TIMEOUT: an answer that comes later is dropped;
///          WB_ERR_GONE: the service is over, or its kernel was killed when it had begun; what the
///          service refused it with; WB_ERR_INVAL for more bytes than a request may have;
///          WB_ERR_FULL, with a timeout of 0: as many calls are outstanding as may be, or the
///          requests of others leave no room; WB_ERR_NOMEM: the answer has more than `room`, and is
///          lost; WB_ERR_BUSY from a completion function, or while an answer is to be taken.
WB_MUST_USE int32_t wb_call(struct wb_caller *caller, const void *request, uint32_t bytes,
                            void *answer, uint32_t room, uint64_t timeout_ns);

/// Calls, and does not wait for the answer. `done` is called with `arg` at the end of the call; if
/// it is NULL, the answer is to be taken by wb_call_take().
///
/// Context: the calling task, or a completion function. Blocks up to `timeout_ns` while there is no
///          room: completion functions are called then, too.
/// Memory:  `request` is copied.
/// Returns: WB_OK; WB_ERR_INVAL, WB_ERR_GONE as wb_call(); WB_ERR_FULL as there, and where there is
///          no room before an answer is taken; WB_ERR_TIMEOUT: it was not called.
WB_MUST_USE enum wb_status wb_call_async(struct wb_caller *caller, const void *request,
                                         uint32_t bytes, wb_call_done *done, void *arg,
                                         uint64_t timeout_ns);

/// Takes the slot of a request, to be written in place.
///
/// Context: as wb_call_async().
/// Memory:  `*request` (wb_call_room() bytes, aligned to 32) is the task's until wb_call_commit().
/// Returns: as wb_call_async(); WB_ERR_INVAL if one has been begun and not committed.
WB_MUST_USE enum wb_status wb_call_begin(struct wb_caller *caller, void **request,
                                         uint64_t timeout_ns);

/// How many bytes a request may have.
///
/// Context: any. Never blocks.
uint32_t wb_call_room(const struct wb_caller *caller);

/// Makes the call that was begun, with `bytes` of its slot; the rest as wb_call_async().
///
/// Context: as wb_call_async(). Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL when none was begun, or for too many bytes: it may be tried again.
WB_MUST_USE enum wb_status wb_call_commit(struct wb_caller *caller, uint32_t bytes,
                                          wb_call_done *done, void *arg);

/// Takes the answer of the oldest call that was made without a completion function, to be read in
/// place. Completion functions of calls that end before it are called.
///
/// Context: the calling task. Blocks up to `timeout_ns` while it has not ended.
/// Memory:  `answer->data` stays valid until wb_call_release().
/// Returns: WB_OK, whatever `answer->status` is; WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT: it has
///          not ended; WB_ERR_INVAL: there is none, or the answer before it is not released;
///          WB_ERR_BUSY from a completion function.
WB_MUST_USE enum wb_status wb_call_take(struct wb_caller *caller, struct wb_answer *answer,
                                        uint64_t timeout_ns);

/// Gives the answer back that was taken, whatever its status.
///
/// Context: the calling task. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL when none is taken.
enum wb_status wb_call_release(struct wb_caller *caller);

/// Calls the completion functions of calls that have ended, up to the next whose answer is to be
/// taken. Waits for the first.
///
/// Context: the calling task. Blocks up to `timeout_ns` while the oldest has not ended.
/// Returns: how many; WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT: none has ended; WB_ERR_INVAL if
///          none is outstanding, or an answer is to be taken before; WB_ERR_BUSY from a completion
///          function.
WB_MUST_USE int32_t wb_call_complete(struct wb_caller *caller, uint64_t timeout_ns);

/// How many calls have not ended.
///
/// Context: the calling task. Never blocks.
uint32_t wb_call_outstanding(const struct wb_caller *caller);

/// Begins to serve.
///
/// Context: the task itself. Never blocks.
/// Memory:  as wb_caller_open().
/// Returns: WB_OK; WB_ERR_INVAL if the application does not let this task serve under that name.
WB_MUST_USE enum wb_status wb_service_open(struct wb_task *self, const char *name,
                                           struct wb_service *service);

/// Takes the next request, to be read in place, with the slot for its answer.
///
/// Context: the service's task. Blocks up to `timeout_ns` while there is none.
/// Memory:  `data` and `answer` are valid until wb_service_answer(), across checkpoints.
/// Returns: WB_OK; WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT: there is none; WB_ERR_GONE when no
///          caller is left; WB_ERR_INVAL while the one before it is not answered.
WB_MUST_USE enum wb_status wb_service_take(struct wb_service *service, struct wb_request *request,
                                           uint64_t timeout_ns);

/// Answers the request that was taken, and frees its slot. `result`: how many bytes of the answer
/// have been written; or a negative enum wb_status, which the caller gets.
///
/// Context: the service's task. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL when none is taken, or for more than there is room for: it may be
///          tried again.
enum wb_status wb_service_answer(struct wb_service *service, int32_t result);

WB_END_C

#endif
