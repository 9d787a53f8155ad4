// SPDX-License-Identifier: Apache-2.0
// Mailboxes: many senders, one receiver, no lock.
//
// Each slot has a ticket: a state, the sender that claimed it, and the lap it is for. A sender
// claims a slot by one compare-and-swap on its ticket, so a claim always names its owner: if that
// owner is killed, recovery makes the slot void and the receiver passes over it. `tail` is only a
// hint that anybody may advance. Positions run through 0 .. slots * 2^17 - 1.

#include "channel.h"

enum ticket_state { FREE, BUSY, FULL, VOID };

// State in bits 0-1, sender in bits 2-14, lap in bits 15-31.
static uint32_t ticket(enum ticket_state state, uint32_t sender, uint32_t lap)
{
    return (uint32_t)state | sender << 2 | lap << 15;
}

static enum ticket_state state_of(uint32_t word)
{
    return (enum ticket_state)(word & 3);
}

static uint32_t sender_of(uint32_t word)
{
    return word >> 2 & 0x1fff;
}

static uint32_t next(const struct wb_channel *mb, uint32_t position)
{
    return position + 1 == mb->slots * MAILBOX_LAPS ? 0 : position + 1;
}

static struct wb_compared *ticket_at(const struct wb_channel *mb, uint32_t position)
{
    return &mb->tickets[position % mb->slots];
}

static unsigned char *slot_at(const struct wb_channel *mb, uint32_t position)
{
    return mb->data + (size_t)(position % mb->slots) * mb->stride_bytes;
}

static void advance_tail(struct wb_channel *mb, uint32_t position)
{
    wb_word_compare_swap(&mb->tail, &position, next(mb, position), WB_RELEASE, WB_RELAXED);
}

static enum wb_status claim(struct wb_port *out, void **slot)
{
    struct wb_channel *mb = out->channel;

    if (wb_word_load(&mb->receiver_open, WB_RELAXED) == 0)
        return WB_ERR_GONE;
    for (;;) {
        const uint32_t position = wb_word_load(&mb->tail, WB_ACQUIRE);
        const uint32_t lap = position / mb->slots;
        // Acquire: the receiver has done reading.
        uint32_t word = wb_word_load(ticket_at(mb, position), WB_ACQUIRE);

        if (word == ticket(FREE, 0, lap)) {
            if (!wb_word_compare_swap(ticket_at(mb, position), &word,
                                      ticket(BUSY, out->number, lap), WB_ACQUIRE, WB_RELAXED))
                continue;
            advance_tail(mb, position);
            if (out->committed == out->claimed)
                out->committed = position;
            out->claimed = next(mb, position);
            *slot = slot_at(mb, position);
            return WB_OK;
        }
        if (word >> 15 == lap)
            advance_tail(mb, position);  // claimed by a sender that has not come so far
        else if (position == wb_word_load(&mb->tail, WB_ACQUIRE))
            return WB_ERR_FULL;
    }
}

// The oldest slot that this port has claimed and not committed, from `position` on.
static uint32_t next_claimed(const struct wb_port *out, uint32_t position)
{
    const struct wb_channel *mb = out->channel;

    for (; position != out->claimed; position = next(mb, position))
        if (wb_word_load(ticket_at(mb, position), WB_RELAXED) ==
            ticket(BUSY, out->number, position / mb->slots))
            break;
    return position;
}

static enum wb_status commit(struct wb_port *out)
{
    struct wb_channel *mb = out->channel;

    if (out->committed == out->claimed)
        return WB_ERR_INVAL;
    // Release publishes the slot.
    wb_word_store(ticket_at(mb, out->committed),
                  ticket(FULL, out->number, out->committed / mb->slots), WB_RELEASE);
    out->committed = next_claimed(out, next(mb, out->committed));
    wb_port_notify(mb->receiver);
    return WB_OK;
}

static void set_free(struct wb_channel *mb, uint32_t position)
{
    const uint32_t lap = (position / mb->slots + 1) % MAILBOX_LAPS;

    // Release: our reads of the slot come before the next sender's writes.
    wb_word_store(ticket_at(mb, position), ticket(FREE, 0, lap), WB_RELEASE);
    wb_word_store(&mb->head, next(mb, position), WB_RELEASE);
}

// Frees void slots at `committed`: those of senders that were killed between claim and commit.
// Their senders may not have come to advance the tail: nobody could claim past it then.
static void pass_over_void(struct wb_port *in)
{
    struct wb_channel *mb = in->channel;

    while (in->committed != in->claimed &&
           state_of(wb_word_load(ticket_at(mb, in->committed), WB_ACQUIRE)) == VOID) {
        advance_tail(mb, in->committed);
        set_free(mb, in->committed);
        in->committed = next(mb, in->committed);
    }
}

// Those after the sender of the slot that was freed come first: senders on one core run in the
// order in which they are woken, and the first may take every slot.
static void notify_senders(const struct wb_channel *mb, uint32_t freed)
{
    for (struct wb_port *out = mb->senders; out != NULL; out = out->next_of_channel)
        if (out->number < sender_of(freed))
            wb_port_notify(out);
    for (struct wb_port *out = mb->senders; out != NULL; out = out->next_of_channel)
        if (out->number >= sender_of(freed))
            wb_port_notify(out);
}

static enum wb_status hold(struct wb_port *in, const void **slot)
{
    struct wb_channel *mb = in->channel;

    for (;;) {
        const uint32_t senders = wb_word_load(&mb->senders_open, WB_ACQUIRE);
        // Acquire makes the slot visible.
        const uint32_t word = wb_word_load(ticket_at(mb, in->claimed), WB_ACQUIRE);

        if (word >> 15 != in->claimed / mb->slots || state_of(word) < FULL)
            return senders == 0 ? WB_ERR_GONE : WB_ERR_EMPTY;
        const uint32_t position = in->claimed;
        in->claimed = next(mb, position);
        if (state_of(word) == FULL) {
            *slot = slot_at(mb, position);
            return WB_OK;
        }
        pass_over_void(in);
        notify_senders(mb, word);
    }
}

static bool is_claimed(const struct wb_channel *mb, uint32_t position)
{
    const uint32_t word = wb_word_load(ticket_at(mb, position), WB_RELAXED);

    return word >> 15 == position / mb->slots && state_of(word) != FREE;
}

// The most messages at any time, as those of a channel (channel.h). The tickets say whether there
// are more: the line of `tail` stays with the senders.
static void note_depth(struct wb_port *in)
{
    const struct wb_channel *mb = in->channel;
    const uint32_t end = mb->slots * MAILBOX_LAPS, was = wb_word_load(&in->high, WB_RELAXED);
    uint32_t high = was, position = in->committed + high;

    // `end` may be 2^32: then positions wrap by themselves.
    for (position -= position >= end ? end : 0; high < mb->slots && is_claimed(mb, position);
         high++)
        position = next(mb, position);
    if (high != was)
        wb_word_store(&in->high, high, WB_RELAXED);
}

static enum wb_status release(struct wb_port *in)
{
    struct wb_channel *mb = in->channel;

    if (in->committed == in->claimed)
        return WB_ERR_INVAL;
    note_depth(in);
    const uint32_t freed = wb_word_load(ticket_at(mb, in->committed), WB_RELAXED);
    set_free(mb, in->committed);
    in->committed = next(mb, in->committed);
    pass_over_void(in);
    notify_senders(mb, freed);
    return WB_OK;
}

static void recover(struct wb_port *port)
{
    struct wb_channel *mb = port->channel;

    if (port->direction == WB_IN) {
        uint32_t head = wb_word_load(&mb->head, WB_ACQUIRE);
        const uint32_t word = wb_word_load(ticket_at(mb, head), WB_ACQUIRE);
        // A slot may have been freed and `head` not be advanced: its ticket is a lap ahead then.
        if (word >> 15 == (head / mb->slots + 1) % MAILBOX_LAPS) {
            head = next(mb, head);
            wb_word_store(&mb->head, head, WB_RELEASE);
        }
        port->committed = port->claimed = head;
        return;
    }
    for (uint32_t i = 0; i < mb->slots; i++) {
        uint32_t word = wb_word_load(&mb->tickets[i], WB_ACQUIRE);
        if (state_of(word) == BUSY && sender_of(word) == port->number)
            wb_word_store(&mb->tickets[i], word | VOID, WB_RELEASE);
    }
    port->committed = port->claimed = 0;
}

const struct wb_part_mailboxes wb_part_mailboxes = {
    .claim = claim,
    .commit = commit,
    .hold = hold,
    .release = release,
    .recover = recover,
};
