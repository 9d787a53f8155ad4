// SPDX-License-Identifier: Apache-2.0
// A task that exists only as TOML: the "controllable synthetic benchmark" of acquaviva2008
// (section 6.2).
//
// A firing takes `consume` messages from each input, in the order in which the inputs are bound,
// computes, puts `produce` messages into each output, and passes one checkpoint. A message holds
// its number in the channel, as far as that fits, so that a receiver notices one that is missing,
// repeated or out of order.
//
// What a firing still has to take and to put is told by its ports. So a task whose kernel was
// killed goes on where it was, from its entry as well as from a checkpoint image.
#define _DEFAULT_SOURCE
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "wb/wb.h"

// A port, and what does not change of it.
struct end {
    struct wb_port *port;
    uint64_t rate;     // messages of a firing
    uint64_t initial;  // messages that were there at the start
    uint32_t slot_bytes;
};

struct synthetic {
    uint64_t fired;  // complete firings
    uint32_t n_in, n_ends;
    struct end ends[];  // inputs, in the order in which they are bound, then outputs
};

// More than 0 for a task that was recreated without its state.
static uint64_t firings_by_ports(const struct synthetic *state)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < state->n_ends; i++) {
        const struct end *end = &state->ends[i];
        const uint64_t firings = wb_port_position(end->port) / end->rate;
        least = firings < least ? firings : least;
    }
    return least == UINT64_MAX ? 0 : least;
}

static uint32_t list_ends(struct wb_task *self, bool input, struct end *to)
{
    uint32_t n = 0;

    for (struct wb_port *port = wb_port_next(self, NULL); port; port = wb_port_next(self, port)) {
        if (wb_port_is_input(port) != input)
            continue;
        if (to)
            to[n] = (struct end){ .port = port,
                                  .rate = wb_port_rate(port),
                                  .initial = wb_port_initial(port),
                                  .slot_bytes = wb_port_slot_bytes(port) };
        n++;
    }
    return n;
}

static struct synthetic *state_of(struct wb_task *self)
{
    struct synthetic *state = wb_task_state(self);

    if (state)
        return state;
    const uint32_t n = list_ends(self, true, NULL) + list_ends(self, false, NULL);
    state = wb_calloc(1, sizeof *state + n * sizeof *state->ends);
    if (!state)
        wb_task_fail(self, "its heap has no room for its ports: raise `heap`");
    state->n_in = list_ends(self, true, state->ends);
    state->n_ends = n;
    list_ends(self, false, state->ends + state->n_in);
    state->fired = firings_by_ports(state);
    wb_task_set_state(self, state);
    return state;
}

static bool goes_on(struct wb_task *self, const struct synthetic *state)
{
    const uint64_t firings = wb_task_firings(self);
    return !wb_stopping(self) && (firings == 0 || state->fired < firings);
}

// ---- Messages -----------------------------------------------------------------------------------

// Messages that are there at the start are zeroed; those that are sent count from 1.
static uint64_t number_of(const struct end *in, uint64_t position)
{
    return position < in->initial ? 0 : position - in->initial + 1;
}

// Little-endian, as much of it as fits: the same on every machine.
static void write_number(unsigned char *slot, uint32_t bytes, uint64_t number)
{
    const uint64_t wire = htole64(number);

    if (bytes >= sizeof wire)
        memcpy(slot, &wire, sizeof wire);
    else
        memcpy(slot, &wire, bytes);
}

static bool has_number(const void *slot, uint32_t bytes, uint64_t number)
{
    const uint64_t wire = htole64(number);

    if (bytes >= sizeof wire)
        return memcmp(slot, &wire, sizeof wire) == 0;
    return memcmp(slot, &wire, bytes) == 0;
}

static void complain(struct wb_task *self, const struct wb_port *in, uint64_t number)
{
    char text[96];

    snprintf(text, sizeof text, "its port %s got another message than number %llu",
             wb_port_name(in), (unsigned long long)number);
    wb_task_fail(self, text);
}

// False at the end of the stream.
static bool take(struct wb_task *self, const struct end *in, uint64_t until)
{
    for (uint64_t position = wb_port_position(in->port); position < until; position++) {
        const uint64_t number = number_of(in, position);
        const void *slot;

        if (wb_port_hold(in->port, &slot, WB_FOREVER) != WB_OK)
            return false;
        if (!has_number(slot, in->slot_bytes, number))
            complain(self, in->port, number);
        wb_port_release(in->port);
    }
    return true;
}

// False when the receiver is over.
static bool put(const struct end *out, uint64_t until)
{
    for (uint64_t position = wb_port_position(out->port); position < until; position++) {
        void *slot;

        if (wb_port_claim(out->port, &slot, WB_FOREVER) != WB_OK)
            return false;
        write_number(slot, out->slot_bytes, position + 1);
        wb_port_commit(out->port);
    }
    return true;
}

// ---- Firings ------------------------------------------------------------------------------------

static bool fire(struct wb_task *self, struct synthetic *state)
{
    const uint64_t firings = state->fired + 1;

    for (uint32_t i = 0; i < state->n_in; i++)
        if (!take(self, &state->ends[i], firings * state->ends[i].rate))
            return false;
    wb_compute(self);
    for (uint32_t i = state->n_in; i < state->n_ends; i++)
        if (!put(&state->ends[i], firings * state->ends[i].rate))
            return false;
    state->fired = firings;
    return true;
}

int synthetic(struct wb_task *self)
{
    struct synthetic *state = state_of(self);
    const bool periodic = wb_task_is_periodic(self);

    while ((state->n_in != 0 || goes_on(self, state)) && fire(self, state)) {
        if (periodic)
            wb_period_wait(self);
        wb_checkpoint();
    }
    return 0;
}
