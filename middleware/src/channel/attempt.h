// SPDX-License-Identifier: Apache-2.0
// A message's way through a port, step by step: what port.c and firing.c have in common. Inline,
// because every message passes through it; nothing here blocks.
#ifndef WB_ATTEMPT_H
#define WB_ATTEMPT_H

#include "../internal.h"
#include "../measure/latency.h"
#include "../measure/response.h"
#include "channel.h"

// Both by one comparison, in the width of a register: every message passes here.
static inline bool port_must_wait(enum wb_status status)
{
    _Static_assert(WB_ERR_FULL == -1 && WB_ERR_EMPTY == -2, "side by side");
    return (uint32_t)status - (uint32_t)WB_ERR_EMPTY < 2;
}

/// One attempt to get a slot, in either direction.
static inline enum wb_status port_attempt_in(struct wb_port *in, void **slot)
{
    const void **message = (const void **)slot;

    return in->channel->tickets != NULL ? wb_parts.mailboxes->hold(in, message)
                                        : channel_hold(in, message);
}

static inline enum wb_status port_attempt_out(struct wb_port *out, void **slot)
{
    return out->channel->tickets != NULL ? wb_parts.mailboxes->claim(out, slot)
                                         : channel_claim(out, slot);
}

static inline enum wb_status port_attempt(struct wb_port *port, void **slot)
{
    return port->direction == WB_OUT ? port_attempt_out(port, slot) : port_attempt_in(port, slot);
}

/// Says that the port's task waits. A swap, as the other side swaps the word too; relaxed: the
/// fence behind it orders it (see port.c), or that this kernel blocks the task before anybody acts.
static inline void port_begin_wait(struct wb_port *port)
{
    (void)wb_word_swap(&port->waiting, WB_WAITS, WB_RELAXED);
}

/// Says that it waits no longer. Mostly who woke it has done so, and only the task itself sets it.
static inline void port_end_wait(struct wb_port *port)
{
    if (wb_word_load(&port->waiting, WB_RELAXED) != 0)
        (void)wb_word_swap(&port->waiting, 0, WB_RELAXED);
}

/// Polls after an attempt that failed; then says that the task waits, and tries once more (port.c).
/// What must wait still is to block, and says afterwards that it waits no longer.
enum wb_status wb_port_prepare(struct wb_port *port, void **slot, uint64_t until_ns);

/// True, with the slot to write to, if the next message was sent before its task's kernel was
/// killed (see image.c), and is to be dropped.
static inline bool port_echoes(struct wb_port *out, void **slot)
{
    if (__builtin_expect(out->resend_skipped >= out->resend_skip, 1))
        return false;
    out->resend_skipped++;
    *slot = out->scratch;
    return true;
}

static inline void port_note(struct wb_port *port, enum wb_event_kind kind)
{
    struct wb_task *task = port->task;

    wb_counter_add(&port->messages, 1);
    if (__builtin_expect(task->system->config.record_events != 0, 0))
        wb_parts.records->message(port, kind);
    if (__builtin_expect(task->open, 0) && (port->direction == WB_OUT || !task->has_output))
        wb_parts.records->first_output(task);
}

/// The oldest claimed slot is about to be sent. True: it is dropped.
static inline bool port_drops(struct wb_port *out)
{
    wb_kernel_charge(WB_ACTION_COMMIT, 1);
    if (__builtin_expect(out->resend_skipped == 0, 1))
        return false;
    out->resend_skipped--;
    out->resend_skip--;
    return true;
}

/// Sends it as it is.
static inline enum wb_status port_commit_marked(struct wb_port *out)
{
    const enum wb_status status =
        out->channel->tickets != NULL ? wb_parts.mailboxes->commit(out) : channel_commit(out);
    if (status == WB_OK)
        port_note(out, WB_EVENT_SEND);
    return status;
}

/// Marks it, which is `slot` unless the port has none or drops it, and sends it.
static inline enum wb_status port_commit_slot(struct wb_port *out, void *slot)
{
    if (port_drops(out))
        return WB_OK;
    if (out->committed != out->claimed) {
        latency_send(out, slot);
        response_send(out, slot);
    }
    return port_commit_marked(out);
}

/// The same, wherever it is.
static inline enum wb_status port_commit(struct wb_port *out)
{
    return port_commit_slot(out, channel_slot_at(out->channel, out->committed));
}

/// Frees the oldest held slot.
static inline enum wb_status port_release(struct wb_port *in)
{
    wb_kernel_charge(WB_ACTION_RELEASE, 1);
    const enum wb_status status =
        in->channel->tickets != NULL ? wb_parts.mailboxes->release(in) : channel_release(in);
    if (status == WB_OK)
        port_note(in, WB_EVENT_RECEIVE);
    return status;
}

#endif
