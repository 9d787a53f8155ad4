// SPDX-License-Identifier: Apache-2.0
// A task's context, laid out flat in a buffer: what a task that is recreated carries along, and
// what a checkpoint image keeps.
//
// It holds the descriptor's own part (heap lists, state pointer, the current job, the positions of
// its ports, the kernel's part), the heap in use and, for an image, the stack in use. It is made
// while the task does not run, and a checksum tells whether it is whole.
#ifndef WB_CONTEXT_H
#define WB_CONTEXT_H

#include "../move/move.h"

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

/// The most that wb_context_update() can ever need.
size_t wb_context_most_in_blocks(const struct wb_task *task, bool with_stack);

/// As wb_context_save(), in a buffer of that size that holds an older context of the task or zeros:
/// of blocks that are as they were, nothing is written. Killed in between, it leaves none that is
/// whole, and the next one writes all of it.
///
/// Context: a kernel that sees the task's memory. Never blocks.
void wb_context_update(const struct wb_task *task, void *buffer, bool with_stack);

/// True when the buffer holds a whole context of this task.
bool wb_context_is_whole(const struct wb_task *task, const void *buffer);

/// Where a port stood when the context was saved.
struct wb_context_port {
    uint32_t claimed, committed, resend_skip;
    uint64_t messages;
};
struct wb_context_port wb_context_port(const struct wb_port *port, const void *buffer);

/// Puts a context back: heap, descriptor and, if it has one, the stack with the kernel's part. What
/// is in the channels and the task's owner state stay as they are.
///
/// Context: a kernel that sees the task's memory, for a task that runs nowhere. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL when it is not the task's or is damaged, and then nothing was
///          changed.
WB_MUST_USE enum wb_status wb_context_load(struct wb_task *task, const void *buffer);

// ---- transfer.c ---------------------------------------------------------------------------------

// The transfer buffer: one area of globally visible memory through which the context of a task
// travels whose memory the target does not see.
//
// It is taken by one compare-and-swap on its owner word and given back when the migration is over.
// A kernel that was killed leaves it to its task, whose next life finds the context in it, or
// nothing whole; it is empty whenever nobody owns it.

/// Makes it the task's.
///
/// Context: the task's kernel, or its program. Never blocks.
/// Returns: WB_OK; WB_ERR_FULL while another migration uses it.
WB_MUST_USE enum wb_status wb_transfer_take(struct wb_task *task);

/// True while it is the task's.
bool wb_transfer_is_of(const struct wb_task *task);

/// Gives it back, empty; nothing if it is not the task's.
///
/// Context: whoever owns the task. Never blocks.
void wb_transfer_release(struct wb_task *task);

/// Decides how the context of a task that is about to depart will travel, and takes the transfer
/// buffer if it is to be through that.
///
/// Context: the task, at its checkpoint.
/// Returns: WB_OK; WB_ERR_FULL when it must be the buffer and another migration uses it.
WB_MUST_USE enum wb_status wb_pipeline_begin(struct wb_task *task);

/// Says how much there is to come. Before the task is offered.
void wb_pipeline_announce(struct wb_task *task);

/// Fills the buffer, chunk by chunk. After the task has been offered.
///
/// Context: the source's kernel. Blocks for as long as the copy takes.
void wb_pipeline_fill(struct wb_task *task);

/// Empties what is there by now, for the offer that `owner_state` is.
///
/// Context: the target's kernel. Blocks for as long as that takes, not for the source.
/// Returns: WB_OK with the bytes when all of it is here; WB_ERR_EMPTY when more is to come;
///          WB_ERR_GONE when the source is dead.
WB_MUST_USE enum wb_status wb_pipeline_empty(struct wb_core *core, struct wb_task *task,
                                             uint32_t owner_state, uint64_t *bytes);

// ---- recovery.c ---------------------------------------------------------------------------------

/// The living core after a dead one, so that two deaths in a row spread what they leave; or NULL.
struct wb_core *wb_core_successor(const struct wb_system *system, uint32_t dead);

// ---- revive.c -----------------------------------------------------------------------------------

// What recovery and recreation have in common.

/// Makes a task that was cut short go on from its image, or start again. Its channels are put back
/// here, its memory by the kernel that takes it in.
///
/// Returns: false when it can do neither.
bool wb_task_revive(struct wb_task *task);

/// As wb_part_deaths.revive.
enum wb_status wb_task_fetch_revived(struct wb_core *core, struct wb_task *task,
                                     uint32_t owner_state, uint32_t revival,
                                     struct wb_fetched *fetched);

/// Brings the ports of a task that starts again back to what their channels say.
void wb_task_recover_ports(struct wb_task *task);

/// Makes every task look at its condition and its priority again: somebody who ought to have said
/// that they changed was killed.
void wb_system_wake_all(struct wb_system *system);

#endif
