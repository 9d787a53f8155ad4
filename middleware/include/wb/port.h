// SPDX-License-Identifier: Apache-2.0
// Ports: how a task sends to and receives from channels and mailboxes.
//
// A channel is a bounded first-in first-out queue of fixed-size slots between two tasks; a mailbox
// is one with many senders. Slots lie in globally visible memory: a pointer to one is valid on
// every core, and may be kept across checkpoints. A port belongs to its task: nobody else may use
// it. Every message that WB_OK accepted is delivered once and in order, across any number of
// migrations of either end, as long as a kernel lives to receive it.
#ifndef WB_PORT_H
#define WB_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/status.h"

WB_BEGIN_C

struct wb_port;
struct wb_task;

/// Finds a port of the calling task, element `index` of the port `name`, for messages of so many
/// bytes: `wb_port_find(self, "out", 0, sizeof(struct sample))`.
///
/// Context: the task itself. Never blocks. Look it up once, outside the loop. Where the application
///          binds no such port, or the slots of its channel have another size, this ends the run
///          with an error that says so, and does not return.
/// Returns: the port; never NULL.
struct wb_port *wb_port_find(struct wb_task *self, const char *name, uint32_t index,
                             size_t message_bytes);

/// The same for messages of different sizes, up to so many bytes, which are written and read in
/// place (wb_port_claim(), wb_port_hold()): the slots may be larger.
struct wb_port *wb_port_find_room(struct wb_task *self, const char *name, uint32_t index,
                                  size_t most_bytes);

/// A port of the calling task whose messages have whatever size the application gives them: the
/// task looks at wb_port_slot_bytes().
///
/// Context: the task itself. Never blocks.
/// Returns: the port, or NULL if the application binds none of that name and index.
struct wb_port *wb_port_find_any(const struct wb_task *self, const char *name, uint32_t index);

/// How many channels are bound to the port `name` (a split or a join has several).
uint32_t wb_port_count(const struct wb_task *self, const char *name);

/// Every port of the calling task, one after the other, in the order in which they were bound.
///
/// Context: the task itself. Never blocks.
/// Returns: the port after `last`, the first one for NULL; NULL after the last one.
struct wb_port *wb_port_next(struct wb_task *self, const struct wb_port *last);

/// Context: any. Never blocks.
const char *wb_port_name(const struct wb_port *port);
bool wb_port_is_input(const struct wb_port *port);

/// How many messages pass the port in each firing of its task, as the application says; 1 where it
/// says nothing.
///
/// Context: any. Never blocks.
uint32_t wb_port_rate(const struct wb_port *port);

/// The zeroed messages that were in the port's channel at the start.
///
/// Context: any. Never blocks.
uint32_t wb_port_initial(const struct wb_port *port);

/// The size of one message, in bytes; slots are aligned to 64 bytes.
uint32_t wb_port_slot_bytes(const struct wb_port *port);

/// Messages committed to (output) or released from (input) this port since the start.
uint64_t wb_port_messages(const struct wb_port *port);

/// The same as the task has come by in its present life: what it had sent before its kernel was
/// killed, and sends again from its last checkpoint image on, counts when it is sent again.
///
/// Context: the owning task. Never blocks.
uint64_t wb_port_position(const struct wb_port *port);

/// Copies one message in.
///
/// Context: the owning task. Blocks up to `timeout_ns` while the channel is full; 0 never blocks,
///          WB_FOREVER has no end.
/// Memory:  `msg` (wb_port_slot_bytes of it) is copied; it is free for reuse on return.
/// Returns: WB_OK; WB_ERR_FULL (timeout 0) or WB_ERR_TIMEOUT with the channel unchanged;
///          WB_ERR_GONE when the receiver is over; WB_ERR_INVAL on an input port, or while claimed
///          slots are not committed.
WB_MUST_USE enum wb_status wb_port_send(struct wb_port *out, const void *msg, uint64_t timeout_ns);

/// Copies the oldest message out and frees its slot.
///
/// Context: the owning task. Blocks up to `timeout_ns` while the channel is empty.
/// Returns: WB_OK; WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT with `msg` untouched; WB_ERR_GONE
///          when the channel is empty and every sender is over; WB_ERR_INVAL on an output port, or
///          while held slots are not released.
WB_MUST_USE enum wb_status wb_port_receive(struct wb_port *in, void *msg, uint64_t timeout_ns);

/// Takes the next free slot to be written in place. May be repeated: slots are committed in the
/// order in which they were claimed.
///
/// Context: the owning task. Blocks up to `timeout_ns` while no slot is free.
/// Memory:  `*slot` is the task's until it is committed; its old content is undefined.
/// Returns: WB_OK; WB_ERR_FULL, WB_ERR_TIMEOUT, WB_ERR_GONE, WB_ERR_INVAL as wb_port_send.
WB_MUST_USE enum wb_status wb_port_claim(struct wb_port *out, void **slot, uint64_t timeout_ns);

/// Sends the oldest claimed slot.
///
/// Context: the owning task. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL when none is claimed.
enum wb_status wb_port_commit(struct wb_port *out);

/// Takes the next message to be read in place. May be repeated: slots are released in the order in
/// which they were held.
///
/// Context: the owning task. Blocks up to `timeout_ns` while there is no further message.
/// Memory:  `*slot` stays valid and unchanged until it is released.
/// Returns: WB_OK; WB_ERR_EMPTY, WB_ERR_TIMEOUT, WB_ERR_GONE, WB_ERR_INVAL as wb_port_receive.
WB_MUST_USE enum wb_status wb_port_hold(struct wb_port *in, const void **slot, uint64_t timeout_ns);

/// Frees the oldest held slot for the sender.
///
/// Context: the owning task. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL when none is held.
enum wb_status wb_port_release(struct wb_port *in);

/// Closes a port before its task ends: receivers drain what was sent, then see WB_ERR_GONE.
///
/// Context: the owning task. Never blocks. Claimed slots are given up; closing twice is harmless.
void wb_port_close(struct wb_port *port);

WB_END_C

#endif
