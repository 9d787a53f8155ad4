// SPDX-License-Identifier: Apache-2.0
// Channels: one sender, one receiver, a ring of slots.
//
// Indices run through 0 .. 2 * slots - 1, so that full and empty differ for any number of slots.
// `tail` belongs to the sender, `head` to the receiver; each keeps the other's index as last seen
// and loads it anew only when that makes the channel look full or empty.
//
// Inline, because a message passes through all of it: one attempt each, never blocking, with
// WB_OK, WB_ERR_FULL or WB_ERR_EMPTY, WB_ERR_GONE, or WB_ERR_INVAL.
#ifndef WB_CHANNEL_H
#define WB_CHANNEL_H

#include "../base/base.h"
#include "../move/move.h"
#include "../word/ring.h"
#include "wb/system.h"

enum { MAILBOX_LAPS = 1 << 17 };  // see mailbox.c

// How many steps lead from one index of a channel, or of a mailbox, to another.
static inline uint32_t channel_distance(const struct wb_channel *channel, uint32_t from,
                                        uint32_t to)
{
    return ring_distance(from, to,
                         channel->slots * (channel->tickets != NULL ? MAILBOX_LAPS / 2 : 1));
}

static inline void *channel_slot_at(const struct wb_channel *channel, uint32_t index)
{
    return channel->data + (size_t)ring_slot(index, channel->slots) * channel->stride_bytes;
}

/// Brings a port back to what its channel says, after its task was interrupted anywhere.
void wb_channel_recover(struct wb_port *port);

/// What is not 0 where the receiver of a channel waits by a notify policy.
static inline uint32_t wb_notify_kind(const struct wb_channel *channel)
{
    return wb_word_load(&channel->notify_kind, WB_RELAXED);
}

/// Wakes the other side, if it waits, and unless its channel's notify policy says that it looks by
/// itself in time (notify_policy.c). To be called after a store of what it waits for. Inlined where
/// it is to be quick, and called where code is to be small (port.c).
inline void wb_port_notify(struct wb_port *peer)
{
    // See the head of port.c for what this fence pairs with.
    wb_word_fence(WB_SEQ_CST);
    const uint32_t waiting = peer != NULL ? wb_word_load(&peer->waiting, WB_RELAXED) : 0;
    if (waiting != WB_WAITS_NOT && (waiting == WB_WAITS || wb_parts.notify->rings(peer)) &&
        wb_word_swap(&peer->waiting, WB_WAITS_NOT, WB_RELAXED) != WB_WAITS_NOT)
        wb_task_wake(peer->task);
}

// The most messages at any time and, once it has been full, the fewest. Between two releases the
// depth only grows, so looking before and after each release is exact; once both marks are at their
// limits there is nothing left to look for.
static inline void channel_note_depth(struct wb_port *in)
{
    struct wb_channel *channel = in->channel;
    const uint32_t high = wb_word_load(&in->high, WB_RELAXED);
    const uint32_t low = wb_word_load(&in->low, WB_RELAXED);

    if (high == channel->slots && low == 0)
        return;
    const uint32_t tail = wb_word_load(&channel->tail, WB_RELAXED);
    const uint32_t depth = ring_distance(in->committed, tail, channel->slots);
    if (depth > high)
        wb_word_store(&in->high, depth, WB_RELAXED);
    if ((depth == channel->slots || low <= channel->slots) && depth - 1 < low)
        wb_word_store(&in->low, depth - 1, WB_RELAXED);
}

static inline enum wb_status channel_claim(struct wb_port *out, void **slot)
{
    struct wb_channel *channel = out->channel;

    if (wb_word_load(&channel->receiver_open, WB_RELAXED) == 0)
        return WB_ERR_GONE;
    if (ring_distance(out->cached_peer, out->claimed, channel->slots) == channel->slots) {
        // Acquire: the receiver has done reading the slots it freed.
        out->cached_peer = wb_word_load(&channel->head, WB_ACQUIRE);
        if (ring_distance(out->cached_peer, out->claimed, channel->slots) == channel->slots)
            return WB_ERR_FULL;
    }
    *slot = channel_slot_at(channel, out->claimed);
    out->claimed = ring_next(out->claimed, channel->slots);
    return WB_OK;
}

static inline enum wb_status channel_commit(struct wb_port *out)
{
    struct wb_channel *channel = out->channel;

    if (out->committed == out->claimed)
        return WB_ERR_INVAL;
    out->committed = ring_next(out->committed, channel->slots);
    // Release publishes the slot.
    wb_word_store(&channel->tail, out->committed, WB_RELEASE);
    wb_port_notify(channel->receiver);
    // And the next one's is made ours to write while nobody waits for it.
    wb_word_prefetch(channel_slot_at(channel, out->committed));
    return WB_OK;
}

static inline enum wb_status channel_hold(struct wb_port *in, const void **slot)
{
    struct wb_channel *channel = in->channel;

    if (in->claimed == in->cached_peer) {
        // First whether senders are open, then the tail: a sender that closes has sent before, so
        // who sees it closed sees its last message.
        const uint32_t senders = wb_word_load(&channel->senders_open, WB_ACQUIRE);
        // Acquire makes the slots visible.
        in->cached_peer = wb_word_load(&channel->tail, WB_ACQUIRE);
        // The slot itself is left alone until it is announced: who reads it while it polls takes
        // its line from the sender, which has fetched it to write.
        if (in->claimed == in->cached_peer)
            return senders == 0 ? WB_ERR_GONE : WB_ERR_EMPTY;
    }
    *slot = channel_slot_at(channel, in->claimed);
    in->claimed = ring_next(in->claimed, channel->slots);
    return WB_OK;
}

static inline enum wb_status channel_release(struct wb_port *in)
{
    struct wb_channel *channel = in->channel;

    if (in->committed == in->claimed)
        return WB_ERR_INVAL;
    channel_note_depth(in);
    in->committed = ring_next(in->committed, channel->slots);
    // Given back by the next checkpoint image: until then it may have to come again.
    if (__builtin_expect(in->defer_release, 0))
        return WB_OK;
    // Release: our reads of the slot come before the sender's next writes to it.
    wb_word_store(&channel->head, in->committed, WB_RELEASE);
    if (channel->senders != NULL)
        wb_port_notify(channel->senders);
    return WB_OK;
}

// ---- Ports --------------------------------------------------------------------------------------

// A message's way through a port, step by step: what port.c and firing.c have in common. Inline,
// because every message passes through it; nothing here blocks.

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

/// Sends the oldest claimed slot, with its marks, unless the port has none.
static inline enum wb_status port_pass(struct wb_port *out)
{
    const enum wb_status status =
        out->channel->tickets != NULL ? wb_parts.mailboxes->commit(out) : channel_commit(out);
    if (status == WB_OK)
        port_note(out, WB_EVENT_SEND);
    return status;
}

/// Sends the oldest claimed slot, which is `slot`, unless the port has none or drops it.
static inline enum wb_status port_commit(struct wb_port *out, void *slot)
{
    if (port_drops(out))
        return WB_OK;
    if (out->committed != out->claimed) {
        if (out->timing != WB_TIMED_NOT)
            wb_parts.latency->send(out, slot);
        if (out->stamped)
            wb_parts.responses->send(out, slot);
    }
    return port_pass(out);
}

/// Looks at a message that the task has got.
static inline void port_look(struct wb_port *in, const void *slot)
{
    if (in->timing != WB_TIMED_NOT)
        wb_parts.latency->receive(in, slot);
    if (in->stamped)
        wb_parts.responses->receive(in, slot);
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
