// SPDX-License-Identifier: Apache-2.0
// A migration by hand-off, for the floors above (see migration.c).
#ifndef WB_MOVE_H
#define WB_MOVE_H

#include "../base/base.h"

/// The calling task has been woken and has to wait on: it moves here, if it is asked to and its
/// waits are checkpoints.
void wb_departure_at_wait(struct wb_task *self);

/// How a core attaches a task whose memory is elsewhere, or whose context is not complete. NULL:
/// the task is complete wherever its core is.
const struct wb_attach_ops *wb_attach_ops_of(const struct wb_task *task);

/// The target's half of a migration: one compare-and-swap decides against a withdrawal.
void wb_migration_arrive(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                         const struct wb_attach_ops *attach);

/// The source's half of a withdrawn hand-off: makes the task ready again and ends the request,
/// unless its `owner_state` is not what it was when it was looked at.
void wb_migration_returned(struct wb_core *core, struct wb_task *task, uint32_t owner_state);

/// The target cannot take the task that `owner_state` offers it: the source takes it back, or, if
/// it was recovery that offered it, the task is lost.
void wb_migration_refuse(struct wb_task *task, uint32_t owner_state, enum wb_status why);

/// Ends the request of a task that nobody else may touch now.
void wb_migration_finish(struct wb_task *task, enum wb_status outcome);

/// The task carries a request that has been accepted. One that recovery gave away does not: its
/// record may be another's to write.
static inline bool wb_migration_is_accepted(const struct wb_task *task)
{
    return wb_request_phase(wb_word_load(&task->request, WB_RELAXED)) == WB_REQUEST_ACCEPTED;
}

/// The first run on the target: ends the request, and waits for the first output.
void wb_migration_settle(struct wb_task *task, uint64_t now_ns);

/// Hands the record of the last migration to the launcher, with or without an output.
void wb_migration_close(struct wb_task *task);

/// What is to be done before a task that comes can run.
static inline __attribute__((always_inline)) uint32_t wb_revival(const struct wb_task *task)
{
    // Acquire: recovery has written what else is to be done.
    return wb_parts.deaths != NULL ? wb_word_load(&task->revive, WB_ACQUIRE) : WB_REVIVE_NOT;
}

/// As wb_migration_request(), in the name of `by`.
enum wb_status wb_migration_ask(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                                enum wb_by by);

/// Lets this core's kernel attach a task, by its effective priority.
void wb_task_attach(struct wb_core *core, struct wb_task *task);

#endif
