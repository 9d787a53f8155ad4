// SPDX-License-Identifier: Apache-2.0
// Turns of tasks that are equally urgent, on kernels that preempt: each has the core for a slice,
// then the others are before it. Who is interrupted by a more urgent one has the rest of its slice
// later. Nobody ends the slice of a task that is alone: when one is over the next begins, and there
// is an event only if others wait for it. Where the core is fair (fair.c), its ticks take the place
// of the ends of slices.

#include "private.h"

static bool has_equals(const struct sim_core *c)
{
    return c->scheduling.is_fair ? sim_has_rivals(c)
                                 : c->ready.levels >> wb_sync_priority(&c->current->sync) & 1;
}

static uint64_t had_ps(const struct sim_core *c)
{
    return (sim.engine->now_ps - c->slice.from_ps) % c->scheduling.slice_ps;
}

void sim_begin_slice(struct sim_core *c)
{
    c->slice.from_ps = sim.engine->now_ps - kernel_task(c->current)->sim.slice_ps;
    sim_time_slice(c);
}

void sim_time_slice(struct sim_core *c)
{
    if (c->slice.event != 0 || c->slice.over || c->current == NULL || c->switching.starts ||
        !has_equals(c))
        return;
    const uint64_t ps =
        c->scheduling.is_fair ? sim_next_look(c) : c->scheduling.slice_ps - had_ps(c);
    c->slice.event = sim_push_in(ps, EVENT_SLICE, c->core->index);
}

bool sim_end_slice(struct sim_core *c)
{
    const bool is_over = c->slice.over;
    const bool has_rest = c->after == GO_INTERRUPTED && !is_over;

    kernel_task(c->left)->sim.slice_ps = has_rest ? had_ps(c) : 0;
    if (c->slice.event != 0)
        sim_take_back(c->slice.event, EVENT_SLICE);
    c->slice.event = 0;
    c->slice.over = false;
    return is_over;
}

enum turn sim_slice_is_over(struct sim_core *c)
{
    c->slice.event = 0;
    if (!has_equals(c))
        return TURN_NOTHING;
    if (c->scheduling.is_fair && !sim_look(c)) {
        sim_time_slice(c);
        return TURN_NOTHING;
    }
    c->slice.over = true;
    sim_charge_timer(c);
    return sim_interrupt(c);
}
