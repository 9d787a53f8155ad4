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

#include "internal.h"
#include "ring.h"
#include "wb/system.h"

static inline void *channel_slot_at(const struct wb_channel *channel, uint32_t index)
{
    return channel->data + (size_t)ring_slot(index, channel->slots) * channel->stride_bytes;
}

// The most messages at any time and, once it has been full, the fewest. Between two releases the
// depth only grows, so looking before and after each release is exact; once both marks are at their
// limits there is nothing left to look for.
static inline void channel_note_depth(struct wb_port *in)
{
    struct wb_channel *channel = in->channel;
    const uint32_t high = atomic_load_explicit(&channel->high, memory_order_relaxed);
    const uint32_t low = atomic_load_explicit(&channel->low, memory_order_relaxed);

    if (high == channel->slots && low == 0)
        return;
    const uint32_t tail = atomic_load_explicit(&channel->tail, memory_order_relaxed);
    const uint32_t depth = ring_distance(in->edge, tail, channel->slots);
    if (depth > high)
        atomic_store_explicit(&channel->high, depth, memory_order_relaxed);
    if ((depth == channel->slots || low <= channel->slots) && depth - 1 < low)
        atomic_store_explicit(&channel->low, depth - 1, memory_order_relaxed);
}

static inline enum wb_status channel_claim(struct wb_port *out, void **slot)
{
    struct wb_channel *channel = out->channel;

    if (atomic_load_explicit(&channel->receiver_open, memory_order_relaxed) == 0)
        return WB_ERR_GONE;
    if (ring_distance(out->seen, out->cursor, channel->slots) == channel->slots) {
        // Acquire: the receiver has done reading the slots it freed.
        out->seen = atomic_load_explicit(&channel->head, memory_order_acquire);
        if (ring_distance(out->seen, out->cursor, channel->slots) == channel->slots)
            return WB_ERR_FULL;
    }
    *slot = channel_slot_at(channel, out->cursor);
    out->cursor = ring_next(out->cursor, channel->slots);
    return WB_OK;
}

static inline enum wb_status channel_commit(struct wb_port *out)
{
    struct wb_channel *channel = out->channel;

    if (out->edge == out->cursor)
        return WB_ERR_INVAL;
    out->edge = ring_next(out->edge, channel->slots);
    // Release publishes the slot.
    atomic_store_explicit(&channel->tail, out->edge, memory_order_release);
    wb_port_notify(channel->receiver);
    // And the next one's is made ours to write while nobody waits for it.
    __builtin_prefetch(channel_slot_at(channel, out->edge), 1);
    return WB_OK;
}

static inline enum wb_status channel_hold(struct wb_port *in, const void **slot)
{
    struct wb_channel *channel = in->channel;

    if (in->cursor == in->seen) {
        // In this order: what was sent before the sender closed is seen after we see it closed.
        const uint32_t senders = atomic_load_explicit(&channel->senders_open, memory_order_acquire);
        // Acquire makes the slots visible.
        in->seen = atomic_load_explicit(&channel->tail, memory_order_acquire);
        if (in->cursor == in->seen) {
            // The message's first line sets out together with the index that announces it.
            __builtin_prefetch(channel_slot_at(channel, in->cursor));
            return senders == 0 ? WB_ERR_GONE : WB_ERR_EMPTY;
        }
    }
    *slot = channel_slot_at(channel, in->cursor);
    in->cursor = ring_next(in->cursor, channel->slots);
    return WB_OK;
}

static inline enum wb_status channel_release(struct wb_port *in)
{
    struct wb_channel *channel = in->channel;

    if (in->edge == in->cursor)
        return WB_ERR_INVAL;
    channel_note_depth(in);
    in->edge = ring_next(in->edge, channel->slots);
    // Given back by the next checkpoint image: until then it may have to come again.
    if (__builtin_expect(in->keeps, 0))
        return WB_OK;
    // Release: our reads of the slot come before the sender's next writes to it.
    atomic_store_explicit(&channel->head, in->edge, memory_order_release);
    if (channel->senders != NULL)
        wb_port_notify(channel->senders);
    return WB_OK;
}

#endif
