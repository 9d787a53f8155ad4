// SPDX-License-Identifier: Apache-2.0
// Ports: the blocking forms of the channels' single attempts.
//
// Waiting is polling, then sleeping. Before it sleeps a task sets `waiting` and tries once more;
// the other side changes its index and then looks at `waiting`. Each has a full fence between its
// store and its load, so at least one of the two sees the other: no wake-up is lost. (A fence
// rather than a seq_cst store: the lines of the message and of the index may then travel at the
// same time.)
//
// Where the other side is a task of the same core that does not run, nobody can come between the
// attempt and the block, and there is neither a fence nor another attempt. Should that task move
// while this one waits, it takes along what this core has stored, `waiting` too.

#include "wb/wb.h"

#include "../word/mem.h"
#include "channel.h"
#include "wb/system.h"

struct wb_port *wb_port_find_any(const struct wb_task *self, const char *name, uint32_t index)
{
    for (struct wb_port *port = self->ports; port != NULL; port = port->next_of_task)
        if (port->index == index && wb_text_equal(port->name, name))
            return port;
    return NULL;
}

uint32_t wb_port_count(const struct wb_task *self, const char *name)
{
    uint32_t n = 0;

    for (const struct wb_port *port = self->ports; port != NULL; port = port->next_of_task)
        n += wb_text_equal(port->name, name);
    return n;
}

struct wb_port *wb_port_next(struct wb_task *self, const struct wb_port *last)
{
    return last == NULL ? self->ports : last->next_of_task;
}

const char *wb_port_name(const struct wb_port *port)
{
    return port->name;
}

bool wb_port_is_input(const struct wb_port *port)
{
    return port->direction == WB_IN;
}

uint32_t wb_port_rate(const struct wb_port *port)
{
    return port->rate;
}

uint32_t wb_port_initial(const struct wb_port *port)
{
    return port->channel->initial;
}

uint32_t wb_port_slot_bytes(const struct wb_port *port)
{
    return port->channel->slot_bytes;
}

uint64_t wb_port_messages(const struct wb_port *port)
{
    return wb_counter_get(&port->messages);
}

uint64_t wb_port_position(const struct wb_port *port)
{
    return wb_port_messages(port) - port->resend_skip;
}

static bool is_closed(const struct wb_port *port)
{
    return wb_word_load(&port->closed, WB_RELAXED) != 0;
}

static bool is_without_senders(const struct wb_channel *channel)
{
    for (const struct wb_port *out = channel->senders; out != NULL; out = out->next_of_channel)
        if (wb_word_load(&out->closed, WB_SEQ_CST) == 0)
            return false;
    return true;
}

// Closes a port, whether or not it is closed already, or half closed by a kernel that was killed.
// No step is a step from what was there before, so all may be taken again: a kernel may have been
// killed after any of them.
static void shut(struct wb_port *port)
{
    struct wb_channel *channel = port->channel;

    if (port->direction == WB_IN) {
        wb_word_store(&port->closed, 1, WB_RELAXED);
        wb_word_store(&channel->receiver_open, 0, WB_RELAXED);
        for (struct wb_port *out = channel->senders; out != NULL; out = out->next_of_channel)
            wb_port_notify(out);
        return;
    }
    if (channel->tickets != NULL)
        wb_parts.mailboxes->recover(port);
    // seq_cst among senders that close at once: the last of them sees that all are closed.
    wb_word_store(&port->closed, 1, WB_SEQ_CST);
    if (is_without_senders(channel))
        // Release: who sees the last sender gone also sees all that any of them sent.
        wb_word_store(&channel->senders_open, 0, WB_RELEASE);
    wb_port_notify(channel->receiver);
}

static void close_all(struct wb_task *task)
{
    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task)
        shut(port);
}

const struct wb_part_channels wb_part_channels = { .close = close_all };

void wb_port_close(struct wb_port *port)
{
    if (!is_closed(port))
        shut(port);
}

extern inline void wb_port_notify(struct wb_port *peer);

// ---- Waiting ------------------------------------------------------------------------------------

// Tries again and again after a first attempt that failed.
static enum wb_status poll(struct wb_port *port, void **slot, uint64_t until_ns)
{
    struct wb_spin spin = { 0 };
    enum wb_status status = WB_ERR_EMPTY;

    while (port_must_wait(status) && wb_kernel_spin(&spin, until_ns))
        status = port_attempt(port, slot);
    if (spin.polled_ns != 0)
        port->task->poll_mark_ns += spin.polled_ns;
    return status;
}

// The other side of a channel is a task that only this core's kernel can let run: none that others
// may choose. It is not in the
// midst of a send or a receive that began before it came here: it came, if ever, at a checkpoint.
static inline bool other_is_here(const struct wb_port *port)
{
    const struct wb_channel *channel = port->channel;
    const struct wb_port *other = port->direction == WB_IN ? channel->senders : channel->receiver;

    if (channel->tickets != NULL || other == NULL || !wb_task_stays(other->task))
        return false;
    // Relaxed: of a task that is here this core has written it.
    const uint32_t owner_state = wb_word_load(&other->task->owner_state, WB_RELAXED);
    const uint32_t core = wb_owner_of(wb_word_load(&port->task->owner_state, WB_RELAXED));
    return owner_state == wb_owner_state(WB_TASK_BLOCKED, core) ||
           owner_state == wb_owner_state(WB_TASK_READY, core);
}

// The last attempt has failed. If the next one does as well the task waits. False: the other side
// is not here.
static inline bool attempt_here(struct wb_port *port, void **slot, enum wb_status *status)
{
    // One step: on a preemptive kernel the other side might run in between, or may have.
    wb_kernel_enter();
    const bool here = other_is_here(port);
    if (here && !WB_COOPERATIVE)
        *status = port_attempt(port, slot);
    if (here && port_must_wait(*status))
        // Only the other side swaps it, once it has found it set.
        wb_word_alone(&port->waiting, WB_WAITS);
    wb_kernel_leave();
    return here;
}

// The same wherever the other side is.
static __attribute__((noinline)) enum wb_status attempt_anywhere(struct wb_port *port, void **slot)
{
    port_begin_wait(port);
    wb_word_fence(WB_SEQ_CST);
    const enum wb_status status = port_attempt(port, slot);
    if (!port_must_wait(status))
        port_end_wait(port);
    return status;
}

__attribute__((noinline, hot)) enum wb_status wb_port_prepare(struct wb_port *port, void **slot,
                                                              uint64_t until_ns)
{
    enum wb_status status = poll(port, slot, until_ns);

    if (!port_must_wait(status) || attempt_here(port, slot, &status))
        return status;
    return attempt_anywhere(port, slot);
}

// An attempt has failed.
static __attribute__((noinline, hot)) enum wb_status wait(struct wb_port *port, void **slot,
                                                          uint64_t timeout_ns)
{
    const uint64_t until_ns = wb_end_of(timeout_ns);

    for (;;) {
        enum wb_status status = wb_port_prepare(port, slot, until_ns);
        if (!port_must_wait(status))
            return status;
        // The task has said that it waits.
        const bool over = wb_kernel_block(until_ns) == WB_ERR_TIMEOUT;
        status = port_attempt(port, slot);
        port_end_wait(port);
        if (!port_must_wait(status))
            return status;
        if (over)
            return WB_ERR_TIMEOUT;
        wb_departure_at_wait(port->task);
    }
}

static inline enum wb_status check_port(const struct wb_port *port, enum wb_direction direction)
{
    if (port->direction != direction)
        return WB_ERR_INVAL;
    return is_closed(port) ? WB_ERR_GONE : WB_OK;
}

// ---- Slots --------------------------------------------------------------------------------------

enum wb_status wb_port_claim(struct wb_port *out, void **slot, uint64_t timeout_ns)
{
    wb_kernel_charge(WB_ACTION_CLAIM, 1);
    if (port_echoes(out, slot))
        return WB_OK;
    enum wb_status status = check_port(out, WB_OUT);
    if (status == WB_OK)
        status = port_attempt_out(out, slot);
    return port_must_wait(status) && timeout_ns != 0 ? wait(out, slot, timeout_ns) : status;
}

enum wb_status wb_port_hold(struct wb_port *in, const void **slot, uint64_t timeout_ns)
{
    void *message = NULL;

    if (in->stamped && in->direction == WB_IN)
        wb_parts.responses->come(in);
    wb_kernel_charge(WB_ACTION_HOLD, 1);
    enum wb_status status = check_port(in, WB_IN);
    if (status == WB_OK)
        status = port_attempt_in(in, &message);
    if (port_must_wait(status) && timeout_ns != 0)
        status = wb_notify_kind(in->channel) == 0 ? wait(in, &message, timeout_ns)
                                                  : wb_parts.notify->wait(in, &message, timeout_ns);
    if (status != WB_OK)
        return status;
    port_look(in, message);
    *slot = message;
    return WB_OK;
}

static inline enum wb_status commit(struct wb_port *out)
{
    const enum wb_status status = port_commit(out, channel_slot_at(out->channel, out->committed));

    if (status == WB_OK && out->task->response != NULL)
        wb_parts.responses->committed(out);
    return status;
}

enum wb_status wb_port_commit(struct wb_port *out)
{
    return check_port(out, WB_OUT) == WB_OK ? commit(out) : WB_ERR_INVAL;
}

enum wb_status wb_port_release(struct wb_port *in)
{
    return check_port(in, WB_IN) == WB_OK ? port_release(in) : WB_ERR_INVAL;
}

// ---- Copies -------------------------------------------------------------------------------------

// Many messages are one word, and a call would take longer.
static inline void copy_message(void *to, const void *from, uint32_t bytes)
{
    enum { WORD = sizeof(uint32_t) };

    if (bytes == WORD && ((uintptr_t)to | (uintptr_t)from) % WORD == 0)
        memcpy(__builtin_assume_aligned(to, WORD), __builtin_assume_aligned(from, WORD), WORD);
    else
        memcpy(to, from, bytes);
}

__attribute__((hot)) enum wb_status wb_port_send(struct wb_port *out, const void *msg,
                                                 uint64_t timeout_ns)
{
    void *slot = NULL;

    if (out->committed != out->claimed)
        return WB_ERR_INVAL;
    const enum wb_status status = wb_port_claim(out, &slot, timeout_ns);
    if (status != WB_OK)
        return status;
    wb_kernel_charge(WB_ACTION_SEND, out->channel->charged);
    copy_message(slot, msg, out->channel->slot_bytes);
    return commit(out);
}

__attribute__((hot)) enum wb_status wb_port_receive(struct wb_port *in, void *msg,
                                                    uint64_t timeout_ns)
{
    const void *slot = NULL;

    if (in->committed != in->claimed)
        return WB_ERR_INVAL;
    const enum wb_status status = wb_port_hold(in, &slot, timeout_ns);
    if (status != WB_OK)
        return status;
    wb_kernel_charge(WB_ACTION_RECEIVE, in->channel->charged);
    copy_message(msg, slot, in->channel->slot_bytes);
    return port_release(in);
}

// ---- What a death leaves ------------------------------------------------------------------------

void wb_channel_recover(struct wb_port *port)
{
    struct wb_channel *channel = port->channel;

    if (channel->tickets != NULL) {
        wb_parts.mailboxes->recover(port);
        return;
    }
    const uint32_t head = wb_word_load(&channel->head, WB_ACQUIRE);
    const uint32_t tail = wb_word_load(&channel->tail, WB_ACQUIRE);
    const uint32_t committed = port->direction == WB_IN ? head : tail;
    const uint64_t before = port->direction == WB_IN ? 0 : channel->initial;

    // The last message may have passed without being counted. (Of messages that are kept for an
    // image, those that come again stay counted; where there is one, that has the count.)
    if (!port->defer_release &&
        (before + wb_counter_get(&port->messages)) % (2 * channel->slots) != committed)
        wb_counter_add(&port->messages, 1);
    // Claims that were not committed are given up; messages that were not released come again.
    port->committed = port->claimed = committed;
    port->cached_peer = port->direction == WB_IN ? tail : head;
}

uint32_t wb_channel_depth(const struct wb_channel *channel)
{
    const uint32_t head = wb_word_load(&channel->head, WB_ACQUIRE);
    const uint32_t tail = wb_word_load(&channel->tail, WB_ACQUIRE);
    // Two loads at two instants: between them the depth may seem to pass the number of slots.
    const uint32_t depth = channel_distance(channel, head, tail);
    return depth <= channel->slots ? depth : channel->slots;
}
