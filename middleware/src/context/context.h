// SPDX-License-Identifier: Apache-2.0
// A task's context, laid out flat in a buffer: what a task that is recreated carries along, and
// what a checkpoint image keeps.
//
// It holds the descriptor's own part (heap lists, state pointer, the current job, the positions of
// its ports, the kernel's part), the heap in use and, for an image, the stack in use. It is made
// while the task does not run, and a checksum tells whether it is whole.
#ifndef WB_CONTEXT_H
#define WB_CONTEXT_H

#include "wb/system.h"

/// How many bytes wb_context_save() needs for the task as it is now.
size_t wb_context_bytes(const struct wb_task *task, bool with_stack);

/// The most that it can ever need.
size_t wb_context_most(const struct wb_task *task, bool with_stack);

/// Lays the context of a task that does not run out in `buffer`, aligned to 64 bytes.
///
/// Context: a kernel that sees the task's memory. Never blocks.
/// Returns: WB_OK; WB_ERR_FULL when `bytes` are too few, and then nothing was written.
WB_MUST_USE enum wb_status wb_context_save(const struct wb_task *task, void *buffer, size_t bytes,
                                           bool with_stack);

/// True when the buffer holds a whole context of this task.
bool wb_context_is_whole(const struct wb_task *task, const void *buffer);

/// Where a port stood when the context was saved.
struct wb_context_port {
    uint32_t claimed, committed, resend_skip;
    uint64_t messages;
};
struct wb_context_port wb_context_port(const struct wb_port *port, const void *buffer);

/// Puts a context back: heap, descriptor and, if it has one, the stack with the kernel's part. What
/// is in the channels and the task's place stay as they are.
///
/// Context: a kernel that sees the task's memory, for a task that runs nowhere. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL when it is not the task's or is damaged, and then nothing was
///          changed.
WB_MUST_USE enum wb_status wb_context_load(struct wb_task *task, const void *buffer);

#endif
