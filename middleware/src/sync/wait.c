// SPDX-License-Identifier: Apache-2.0
// One wait for everything.
//
// The task says at each of the set that it waits: in `waiting` of each port, and for semaphores in
// one word of its own that has a bit for each of them (wait_queue.h), and in `waited` of each wait
// queue. Then it looks at all of them once more, and blocks. Whoever changes a port or a wait queue
// looks at these after it. Each has a full fence between its stores and its loads, so at least one
// of the two sees the other (see port.c).
//
// A task that waits for a set takes nothing, so nobody is passed over for it: who gives a permit
// wakes all that have the wait queue in their set, and besides the one that is to take it.

#include "wb/wb.h"

#include "../channel/channel.h"
#include "wait_queue.h"

// ---- Looking ------------------------------------------------------------------------------------

// The attempt is taken back. It may have freed what killed senders left before the message: where
// nothing was held, the message is at `committed`.
static bool has_message(struct wb_port *in)
{
    const uint32_t claimed = in->claimed;
    const bool holds = in->committed != claimed;
    void *slot;
    const enum wb_status status = port_attempt_in(in, &slot);

    if (status == WB_OK)
        in->claimed = holds ? claimed : in->committed;
    return !port_must_wait(status);
}

// A claimed slot of a mailbox cannot be given up, so its depth is looked at. That leaves out what a
// sender has claimed and has not come to count: then a claim finds no room, and counts it.
static bool has_room(struct wb_port *out)
{
    struct wb_channel *channel = out->channel;
    void *slot;

    if (out->resend_skipped < out->resend_skip ||
        wb_word_load(&channel->receiver_open, WB_RELAXED) == 0)
        return true;
    if (channel->tickets != NULL)
        return wb_channel_depth(channel) < channel->slots;
    const uint32_t claimed = out->claimed;
    const enum wb_status status = channel_claim(out, &slot);
    out->claimed = claimed;
    return status == WB_OK;
}

static bool is_ready(const struct wb_wait *one)
{
    // Relaxed: whoever takes the permit acquires.
    if (one->port == NULL)
        return wb_word_load(&one->semaphore->value, WB_RELAXED) != 0;
    if (wb_word_load(&one->port->closed, WB_RELAXED) != 0)
        return true;
    return one->port->direction == WB_IN ? has_message(one->port) : has_room(one->port);
}

static enum wb_status status_of(const struct wb_wait *one)
{
    if (one->events != 0)
        return wb_kernel_watch(one->file, one->events, false);
    return is_ready(one) ? WB_OK : WB_ERR_EMPTY;
}

static bool is_error(int status)
{
    return status < 0 && status != WB_ERR_EMPTY;
}

static int look_at_set(struct wb_wait *set, uint32_t n)
{
    int first = WB_ERR_EMPTY;

    for (uint32_t i = n; i-- > 0;) {
        const enum wb_status status = status_of(&set[i]);
        if (is_error(status))
            return status;
        set[i].ready = status == WB_OK;
        if (set[i].ready)
            first = (int)i;
    }
    return first;
}

// ---- Waiting ------------------------------------------------------------------------------------

static void begin_in_wait_queues(struct wb_wait *set, uint32_t n, struct wb_task *self,
                                 uint32_t queues)
{
    wb_wait_queue_begin(&self->system->set, self);
    wb_word_store(&self->sync.set, queues, WB_RELAXED);
    // Release: who finds that it waits for a set finds the set; who is led to this task by `waited`
    // finds that it waits.
    (void)wb_word_swap(&self->sync.waits_for, &self->system->set, WB_RELEASE);
    for (uint32_t i = 0; i < n; i++)
        if (set[i].semaphore != NULL)
            (void)wb_word_or(&set[i].semaphore->queue.waited, WB_WAITED_IN_SET, WB_RELEASE);
}

// Returns: WB_OK, or why a file cannot be waited for.
static enum wb_status begin_set(struct wb_wait *set, uint32_t n, struct wb_task *self)
{
    enum wb_status status = WB_OK;
    uint32_t queues = 0;

    for (uint32_t i = 0; i < n && !is_error(status); i++) {
        if (set[i].port != NULL)
            port_begin_wait(set[i].port);
        else if (set[i].semaphore != NULL)
            queues |= wb_wait_queue_bit(&set[i].semaphore->queue);
        else
            status = wb_kernel_watch(set[i].file, set[i].events, true);
    }
    if (queues != 0)
        begin_in_wait_queues(set, n, self, queues);
    return status;
}

static void end_set(struct wb_wait *set, uint32_t n, struct wb_task *self)
{
    for (uint32_t i = 0; i < n; i++)
        if (set[i].port != NULL)
            port_end_wait(set[i].port);
    // Relaxed: nobody chose this task, so nothing came with that.
    if (wb_word_load(&self->sync.waits_for, WB_RELAXED) == NULL)
        return;
    (void)wb_word_swap(&self->sync.waits_for, NULL, WB_RELAXED);
    wb_wait_queue_end(self);
}

static int poll(struct wb_wait *set, uint32_t n, struct wb_task *self, uint64_t until_ns)
{
    struct wb_spin spin = { 0 };
    int first;

    do {
        first = look_at_set(set, n);
    } while (first == WB_ERR_EMPTY && wb_kernel_spin(&spin, until_ns));
    self->poll_mark_ns += spin.polled_ns;
    return first;
}

static int block(struct wb_wait *set, uint32_t n, struct wb_task *self, uint64_t until_ns)
{
    bool timed_out = false;
    int first = begin_set(set, n, self);

    wb_word_fence(WB_SEQ_CST);
    if (!is_error(first))
        first = look_at_set(set, n);
    if (first == WB_ERR_EMPTY)
        timed_out = wb_kernel_block(until_ns) == WB_ERR_TIMEOUT;
    end_set(set, n, self);
    if (timed_out)
        first = look_at_set(set, n);
    return timed_out && first == WB_ERR_EMPTY ? WB_ERR_TIMEOUT : first;
}

static bool is_valid(const struct wb_wait *one, const struct wb_task *self)
{
    const uint32_t events = WB_FILE_READABLE | WB_FILE_WRITABLE;
    const int what = (one->port != NULL) + (one->semaphore != NULL) + (one->events != 0);

    return what == 1 && (one->events & ~events) == 0 &&
           (one->port == NULL || one->port->task == self);
}

// A file is watched once by a task.
static bool are_good(const struct wb_wait *set, uint32_t n, const struct wb_task *self)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!is_valid(&set[i], self))
            return false;
        for (uint32_t j = 0; j < i && set[i].events != 0; j++)
            if (set[j].events != 0 && set[j].file == set[i].file)
                return false;
    }
    return true;
}

// What a task comes for ends its last firing (see response.h), and costs as much as a message.
static void come(const struct wb_wait *set, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct wb_port *port = set[i].port;
        if (port != NULL && port->stamped && port->direction == WB_IN)
            wb_parts.responses->come(port);
        wb_kernel_charge(WB_ACTION_HOLD, 1);
    }
}

int wb_wait(struct wb_wait *set, uint32_t n, uint64_t timeout_ns)
{
    struct wb_task *self = wb_kernel_self();

    if (!are_good(set, n, self))
        return WB_ERR_INVAL;
    come(set, n);
    int first = look_at_set(set, n);
    if (first != WB_ERR_EMPTY || timeout_ns == 0)
        return first;
    const uint64_t until_ns = wb_end_of(timeout_ns);
    for (;;) {
        first = poll(set, n, self, until_ns);
        if (first != WB_ERR_EMPTY)
            return first;
        first = block(set, n, self, until_ns);
        if (first != WB_ERR_EMPTY)
            return first;
        wb_departure_at_wait(self);
    }
}
