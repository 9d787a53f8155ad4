// SPDX-License-Identifier: Apache-2.0
// Firings, as steps: where one is stands in `struct firing`, nothing of it on the stack. So a
// kernel may take the next step in a task's place, without a switch to its stack (wb_task.step).

#include "wb/wb.h"

#include "../measure/marks.h"
#include "../measure/response.h"
#include "life.h"

enum phase {
    BEGIN,  // a firing, if there is another
    TAKE,   // messages, and what room is claimed at the start, from end `at` on
    PUT,    // messages, from end `at` on
    SLEEP,  // until the next job is released
    CHECK,  // whether somebody wants the task at a checkpoint
    OVER,
};

struct firing {              // in the task's heap
    struct passing passing;  // at end `at`
    uint64_t fired;          // complete firings
    enum phase phase;
    uint32_t at;
    bool is_periodic;  // its firings are jobs, whatever becomes of the rate
    bool has_room;     // has ends whose slots are the firing's from its start to its end
    bool is_plain;     // at most one message comes in and one goes out, by channels of one sender
    uint32_t n_in, n_ends;
    struct wb_port *ends[];  // inputs, in the order in which they are bound, then outputs
};

// What keeps a task from going on.
enum stop { TO_COMPUTE, TO_WAIT, TO_SLEEP, TO_CHECKPOINT, TO_END };

// ---- Beginning ----------------------------------------------------------------------------------

// More than 0 for a task that was recreated without its state.
static uint64_t firings_by_ports(const struct firing *f)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < f->n_ends; i++) {
        const uint64_t firings = wb_port_position(f->ends[i]) / f->ends[i]->rate;
        least = firings < least ? firings : least;
    }
    return least == UINT64_MAX ? 0 : least;
}

static uint32_t list_ends(const struct wb_task *self, enum wb_direction direction,
                          struct wb_port **to)
{
    uint32_t n = 0;

    for (struct wb_port *port = self->ports; port != NULL; port = port->next_of_task) {
        if (port->direction != direction)
            continue;
        if (to != NULL)
            to[n] = port;
        n++;
    }
    return n;
}

static struct firing *firing_of(struct wb_task *self, const struct wb_messages *messages)
{
    struct firing *f = self->state;

    if (f == NULL) {
        const uint32_t n = list_ends(self, WB_IN, NULL) + list_ends(self, WB_OUT, NULL);
        f = wb_calloc(1, sizeof *f + n * sizeof *f->ends);
        if (f == NULL)
            wb_task_fail(self, "its heap has no room for its ports: raise `heap`");
        f->n_in = list_ends(self, WB_IN, f->ends);
        f->n_ends = n;
        list_ends(self, WB_OUT, f->ends + f->n_in);
        f->is_plain = f->n_in <= 1 && n - f->n_in <= 1;
        for (uint32_t i = 0; i < n; i++) {
            f->has_room |= f->ends[i]->channel->claims_at_start;
            f->is_plain &= f->ends[i]->rate == 1 && f->ends[i]->channel->tickets == NULL;
        }
        f->is_plain &= !f->has_room;
        f->fired = firings_by_ports(f);
        self->state = f;
    }
    // Wherever an earlier life was: its ports know what of the firing is done.
    f->passing = (struct passing){ .messages = messages };
    f->is_periodic = wb_task_is_periodic(self);
    f->phase = BEGIN;
    f->at = 0;
    return f;
}

// ---- Messages -----------------------------------------------------------------------------------

// Up to where a firing has come at an end, with what it has there until its end. A slot that it got
// while it waited it has not looked at yet.
static inline uint64_t reached(const struct firing *f, const struct wb_port *port)
{
    const struct wb_channel *channel = port->channel;
    const uint64_t position = wb_port_position(port);

    if (__builtin_expect(!channel->claims_at_start, 1))
        return position;
    const uint32_t open = ring_distance(port->committed, port->claimed, channel->slots);
    return position + port->resend_skipped + open - (f->passing.slot != NULL);
}

// At this end a firing cannot go on.
static enum wb_status stop_at(struct firing *f, uint32_t at, enum wb_status status)
{
    f->at = at;
    f->passing.late = port_must_wait(status);
    return status;
}

// The compiler knows of the ends of a plain firing what is_plain says.
static inline __attribute__((always_inline)) void assume_plain(const struct wb_port *port)
{
    if (port->rate != 1 || port->channel->tickets != NULL || port->channel->claims_at_start)
        __builtin_unreachable();
}

static inline __attribute__((always_inline)) void look_plainly(struct wb_port *in, const void *slot)
{
    if (in->timing == WB_TIMED_WAY)
        frame_on_way(in, mark_get(in, slot, WB_MARK_FRAME));
    else if (in->timing != WB_TIMED_NOT)
        wb_parts.latency->receive(in, slot);
    if (in->stamped)
        response_came(in, mark_get(in, slot, WB_MARK_SENT));
}

static inline __attribute__((always_inline)) void mark_plainly(const struct wb_port *out,
                                                               void *slot)
{
    if (out->timing == WB_TIMED_WAY)
        mark_put(out, slot, WB_MARK_FRAME, out->task->frame.mark);
    else if (out->timing != WB_TIMED_NOT)
        wb_parts.latency->send(out, slot);
    if (out->stamped)
        mark_put(out, slot, WB_MARK_SENT, wb_kernel_stamp_ns());
}

// The same as take() and put() below.
static inline __attribute__((always_inline)) enum wb_status take_one(struct wb_task *self,
                                                                     struct firing *f)
{
    void *slot;

    if (f->n_in == 0)
        return WB_OK;
    struct wb_port *in = f->ends[0];
    assume_plain(in);
    const uint64_t position = wb_port_position(in);
    if (position > f->fired)
        return WB_OK;
    const enum wb_status status = passing_hold(&f->passing, in, &slot);
    if (status != WB_OK)
        return stop_at(f, 0, status);
    look_plainly(in, slot);
    passing_read(self, &f->passing, in, slot, position);
    assume_plain(in);
    port_release(in);
    return WB_OK;
}

static inline __attribute__((always_inline)) enum wb_status put_one(struct firing *f)
{
    if (f->n_in == f->n_ends)
        return WB_OK;
    struct wb_port *out = f->ends[f->n_in];
    assume_plain(out);
    const uint64_t position = wb_port_position(out);
    if (position > f->fired)
        return WB_OK;
    void *slot;
    const enum wb_status status = passing_write(&f->passing, out, &slot, position);
    if (status != WB_OK)
        return stop_at(f, f->n_in, status);
    if (port_drops(out))
        return WB_OK;
    mark_plainly(out, slot);
    assume_plain(out);
    (void)port_pass(out);
    return WB_OK;
}

// Takes the messages of a firing, from end `at` on.
static inline __attribute__((always_inline)) enum wb_status take(struct wb_task *self,
                                                                 struct firing *f)
{
    for (uint32_t at = f->at; at < f->n_in; at++) {
        struct wb_port *in = f->ends[at];
        const struct wb_channel *channel = in->channel;
        const uint64_t until = (f->fired + 1) * in->rate;
        for (uint64_t position = reached(f, in); position < until; position++) {
            void *slot;
            const enum wb_status status = passing_hold(&f->passing, in, &slot);
            if (status != WB_OK)
                return stop_at(f, at, status);
            port_look(in, slot);
            passing_read(self, &f->passing, in, slot, position);
            if (!channel->claims_at_start)
                port_release(in);
        }
    }
    return WB_OK;
}

// Claims the room that a firing needs from its start on. What a message holds is known already; it
// is sent, and paid for, at the end.
static enum wb_status claim_room(struct firing *f)
{
    for (uint32_t at = f->at < f->n_in ? f->n_in : f->at; at < f->n_ends; at++) {
        struct wb_port *out = f->ends[at];
        const uint64_t until = (f->fired + 1) * out->rate;
        if (!out->channel->claims_at_start)
            continue;
        for (uint64_t position = reached(f, out); position < until; position++) {
            void *slot;
            const enum wb_status status = passing_claim(&f->passing, out, &slot);
            if (status != WB_OK)
                return stop_at(f, at, status);
            f->passing.messages->write(slot, out->channel->slot_bytes, position + 1);
        }
    }
    f->at = f->n_in;
    return WB_OK;
}

static inline enum wb_status put_next(struct firing *f, struct wb_port *out, uint64_t position)
{
    if (!out->channel->claims_at_start)
        return passing_put(&f->passing, out, position);
    wb_kernel_charge(WB_ACTION_SEND, out->channel->charged);
    (void)port_commit(out, channel_slot_at(out->channel, out->committed));
    return WB_OK;
}

static inline __attribute__((always_inline)) enum wb_status put(struct firing *f)
{
    for (uint32_t at = f->at; at < f->n_ends; at++) {
        struct wb_port *out = f->ends[at];
        const uint64_t until = (f->fired + 1) * out->rate;
        for (uint64_t position = wb_port_position(out); position < until; position++) {
            const enum wb_status status = put_next(f, out, position);
            if (status != WB_OK)
                return stop_at(f, at, status);
        }
    }
    return WB_OK;
}

// Frees the messages of a firing that were kept until its end.
static void give_back(const struct firing *f)
{
    for (uint32_t at = 0; at < f->n_in; at++) {
        struct wb_port *in = f->ends[at];
        const uint64_t until = (f->fired + 1) * in->rate;
        if (!in->channel->claims_at_start)
            continue;
        for (uint64_t position = wb_port_position(in); position < until; position++)
            port_release(in);
    }
}

// ---- Steps --------------------------------------------------------------------------------------

static bool goes_on(const struct wb_task *self, const struct firing *f)
{
    const uint64_t firings = self->work.firings;
    return f->n_in != 0 || (!wb_stopping(self) && (firings == 0 || f->fired < firings));
}

static enum stop stopped(struct firing *f, enum wb_status status)
{
    if (port_must_wait(status))
        return TO_WAIT;
    f->phase = OVER;
    return TO_END;
}

// True if the task has to sleep until the next job.
static inline __attribute__((always_inline)) bool complete(struct wb_task *self, struct firing *f)
{
    bool met;

    f->fired++;
    f->at = 0;
    wb_counter_add(&self->stats.firings, 1);
    response_fired(self);
    return f->is_periodic && wb_period_end(self, &met);
}

static inline __attribute__((always_inline)) enum stop advance(struct wb_task *self,
                                                               struct firing *f, bool is_plain)
{
    enum wb_status status;

    if (f->passing.late)
        port_end_wait(f->ends[f->at]);
    switch (f->phase) {
    case PUT:
        status = is_plain ? put_one(f) : put(f);
        if (status != WB_OK)
            return stopped(f, status);
        if (!is_plain && f->has_room)
            give_back(f);
        f->phase = complete(self, f) ? SLEEP : CHECK;
        // fall through
    case SLEEP:
        if (f->phase == SLEEP && wb_kernel_now_ns() < self->arrival.ready_ns)
            return TO_SLEEP;
        f->phase = CHECK;
        // fall through
    case CHECK:
        if (wb_word_load(&wb_kernel_need_resched, WB_RELAXED) != 0 && !WB_KERNEL_SERVES())
            return TO_CHECKPOINT;
        // fall through
    case BEGIN:
        if (!goes_on(self, f)) {
            f->phase = OVER;
            return TO_END;
        }
        f->phase = TAKE;
        // fall through
    case TAKE:
        status = is_plain ? take_one(self, f) : take(self, f);
        if (!is_plain && status == WB_OK && f->has_room)
            status = claim_room(f);
        if (status != WB_OK)
            return stopped(f, status);
        f->at = f->n_in;
        f->phase = PUT;
        return TO_COMPUTE;
    case OVER:
        break;
    }
    return TO_END;
}

// By the kernel. Nobody acts between an attempt that fails and the block, so one attempt is enough.
static inline __attribute__((always_inline)) enum wb_step step_by(struct wb_task *self,
                                                                  uint64_t *value, bool is_plain)
{
    struct firing *f = self->state;

    switch (advance(self, f, is_plain)) {
    case TO_COMPUTE:
        *value = wb_work_cycles(self);
        return WB_STEP_COMPUTE;
    case TO_WAIT:
        if (passing_leaves(self) || passing_has_notify(f->ends[f->at]))
            break;
        port_begin_wait(f->ends[f->at]);
        *value = WB_FOREVER;
        return WB_STEP_BLOCK;
    case TO_SLEEP:
        if (passing_leaves(self))
            break;
        *value = self->arrival.ready_ns;
        return WB_STEP_BLOCK;
    case TO_CHECKPOINT:
    case TO_END:
        break;
    }
    return WB_STEP_STACK;
}

static enum wb_step step(struct wb_task *self, uint64_t *value)
{
    return step_by(self, value, false);
}

static enum wb_step step_plainly(struct wb_task *self, uint64_t *value)
{
    return step_by(self, value, true);
}

// ---- The task -----------------------------------------------------------------------------------
// Whatever returns here after a block or a computation, the kernel may have taken steps meanwhile.

// None for a task with traffic, which goes along with its cycles in parts.
static wb_task_step *step_of(const struct wb_task *self)
{
    const struct firing *f = self->state;

    return self->work.traffic_bytes != 0 ? NULL : f->is_plain ? step_plainly : step;
}

static void block(struct wb_task *self, uint64_t until_ns)
{
    self->step = step_of(self);
    (void)wb_kernel_block(until_ns);
    self->step = NULL;
    wb_departure_at_wait(self);
}

static void compute(struct wb_task *self)
{
    self->step = step_of(self);
    wb_kernel_compute(wb_work_cycles(self));
    self->step = NULL;
}

int wb_fire(struct wb_task *self, const struct wb_messages *messages)
{
    struct firing *f = firing_of(self, messages);

    for (;;) {
        switch (advance(self, f, false)) {
        case TO_COMPUTE:
            compute(self);
            break;
        case TO_WAIT:
            if (!passing_wait(&f->passing, f->ends[f->at]))
                block(self, WB_FOREVER);
            break;
        case TO_SLEEP:
            block(self, self->arrival.ready_ns);
            break;
        case TO_CHECKPOINT:
            f->phase = BEGIN;
            wb_checkpoint_enter();
            break;
        case TO_END:
            return 0;
        }
    }
}
