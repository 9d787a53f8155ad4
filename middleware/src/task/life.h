// SPDX-License-Identifier: Apache-2.0
// The life of a task, for the files that go through it.
#ifndef WB_LIFE_H
#define WB_LIFE_H

#include "../channel/channel.h"

/// Draws the cycles of the calling task's next firing; 0: it has no work.
uint64_t wb_work_cycles(struct wb_task *self);

/// Sets the first release of a task.
void wb_period_begin(struct wb_task *task, uint64_t start_ns);

/// Ends a job as wb_period_wait() does. True: the next is released at `release.ns`, maybe later.
bool wb_period_end(struct wb_task *self, bool *met);

/// Counts a job that was released and due then, and ends now.
void wb_period_count(struct wb_task *self, uint64_t release_ns, uint64_t due_ns, uint64_t now_ns);

// ---- Messages -----------------------------------------------------------------------------------

// Of tasks that say what a message holds by its number (wb/wb.h): one at a time, in steps that do
// not block. What firings and scripts have in common. Inline: every message passes here.

struct passing {
    const struct wb_messages *messages;
    bool late;   // the slot that comes next has been asked for: the task waits
    void *slot;  // that one, if it has been got since
};

// The slot that the task has waited for, or that it may get only now: paid for already.
static inline enum wb_status passing_late(struct passing *p, struct wb_port *port, void **slot)
{
    *slot = p->slot;
    p->slot = NULL;
    const enum wb_status status = *slot != NULL ? WB_OK : port_attempt(port, slot);
    p->late = port_must_wait(status);
    return status;
}

static inline enum wb_status passing_hold(struct passing *p, struct wb_port *in, void **slot)
{
    if (p->late)
        return passing_late(p, in, slot);
    wb_kernel_charge(WB_ACTION_HOLD, 1);
    return port_attempt_in(in, slot);
}

static inline enum wb_status passing_claim(struct passing *p, struct wb_port *out, void **slot)
{
    if (p->late)
        return passing_late(p, out, slot);
    wb_kernel_charge(WB_ACTION_CLAIM, 1);
    return port_echoes(out, slot) ? WB_OK : port_attempt_out(out, slot);
}

/// Reads a message that is held, and came after `position` others: port_look() has looked at it.
static inline void passing_read(struct wb_task *self, const struct passing *p, struct wb_port *in,
                                const void *slot, uint64_t position)
{
    const struct wb_channel *channel = in->channel;
    const uint64_t initial = channel->initial;

    wb_kernel_charge(WB_ACTION_RECEIVE, channel->charged);
    if (!p->messages->read(slot, channel->slot_bytes,
                           position < initial ? 0 : position - initial + 1))
        wb_task_fail(self, "one of its inputs got another message than the next one");
}

/// Writes the message that comes after `position` others into the slot that it claims.
static inline enum wb_status passing_write(struct passing *p, struct wb_port *out, void **slot,
                                           uint64_t position)
{
    const enum wb_status status = passing_claim(p, out, slot);

    if (status != WB_OK)
        return status;
    p->messages->write(*slot, out->channel->slot_bytes, position + 1);
    wb_kernel_charge(WB_ACTION_SEND, out->channel->charged);
    return WB_OK;
}

/// The same, and sends it.
static inline enum wb_status passing_put(struct passing *p, struct wb_port *out, uint64_t position)
{
    void *slot;
    const enum wb_status status = passing_write(p, out, &slot, position);

    if (status == WB_OK)
        (void)port_commit(out, slot);
    return status;
}

/// It has to move before it waits: on its own stack.
static inline bool passing_leaves(const struct wb_task *self)
{
    return self->moves_at_waits && wb_migration_requested(self);
}

/// How it waits is not a matter of one block.
static inline bool passing_has_notify(const struct wb_port *port)
{
    return port->direction == WB_IN && wb_notify_kind(port->channel) != 0;
}

/// Waits on the task's own stack; false: it still has to block, for ever.
static inline bool passing_wait(struct passing *p, struct wb_port *port)
{
    if (!passing_has_notify(port))
        return !port_must_wait(wb_port_prepare(port, &p->slot, WB_FOREVER));
    (void)wb_parts.notify->wait(port, &p->slot, WB_FOREVER);
    return true;
}

#endif
