// SPDX-License-Identifier: Apache-2.0
// Kernels that preempt, as an RTOS does: a doorbell, a tick or a timer takes the core from its task
// at any moment that time passes at, in the midst of what it computes or of a call. The kernel then
// has the core in one context, more urgent than all tasks: there it serves, ticks, and finishes
// departures, and from there the most urgent task goes on.

#include "private.h"

void sim_preempt_on(struct sim_core *c)
{
    sim.preempts = sim.careful = c->scheduling.preempts = true;
    // Who is suspended in the midst of anything needs a stack, and a moment to be rung at.
    c->skips.takes_steps = c->skips.takes_all = c->skips.rings_at_once = false;
    c->free &= ~(1u << CHARGE_SWITCH);  // see sim_let_go()
    c->uncounted &= c->free;
}

void sim_preempt(void)
{
    for (uint32_t i = 0; i < sim.system->n_cores; i++)
        sim_preempt_on(&sim.cores[i]);
}

static uint64_t hz_of(const struct sim_core *c)
{
    return c->core->points[wb_word_load(&c->core->point, WB_RELAXED)].hz;
}

// ---- Moments ------------------------------------------------------------------------------------

static uint64_t draw(void)
{
    uint64_t *random = &sim.holdups.random;

    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random;
}

// Within so many moments; for up to so long, of each order of magnitude alike.
static void draw_next(struct holdups *h)
{
    enum { WITHIN = 64, NS_LOG = 14 };

    h->next = h->moments + 1 + draw() % WITHIN;
    h->ps = (draw() >> 8 & ((UINT64_C(1) << draw() % NS_LOG) - 1)) * PS_PER_NS;
}

void sim_hold_up_at(uint64_t next, uint64_t ps)
{
    sim.holdups = (struct holdups){ .next = next, .ps = ps };
    sim_count(UINT64_MAX);
}

void sim_hold_up(uint64_t seed)
{
    sim_hold_up_at(0, 0);
    sim.holdups.random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    draw_next(&sim.holdups);
}

void sim_preempt_by(uint64_t seed)
{
    sim.preempts = seed != 0;
    if (seed > 1)
        sim_hold_up(seed);
}

// The code of a task executes, not that of kernels between tasks, which have the loop's stack.
static bool is_on_its_stack(void)
{
    const unsigned char *sp = __builtin_frame_address(0);
    const struct wb_task *self = sim.self;

    return self != NULL && sp >= (unsigned char *)self->stack &&
           sp < (unsigned char *)self->stack + self->stack_bytes;
}

void sim_moment(void)
{
    struct holdups *h = &sim.holdups;
    const uint64_t ps = h->ps;

    if (h->next == 0 || !is_on_its_stack() || sim.quiet || ++h->moments != h->next)
        return;
    if (h->random != 0)
        draw_next(h);
    h->held = sim.self;
    sim_spend(ps);
    h->held = NULL;
}

static void note(const struct wb_task *preempted)
{
    struct holdups *h = &sim.holdups;

    if (h->held != preempted)
        return;
    h->held = NULL;
    if (h->on_preempted != NULL)
        h->on_preempted(wb_task_core(preempted));
}

// ---- Interrupts ---------------------------------------------------------------------------------

// What it still lets pass it does once it goes on: of a transfer, as long as it was to take by now.
// What the kernel did so far comes first.
static void put_off(struct sim_core *c)
{
    struct kernel_task *kt = kernel_task(c->current);
    const bool computes = c->computing.event != 0;
    const uint64_t until_ps = computes ? c->computing.until_ps : c->hold.until_ps;

    note(c->current);
    sim_take_back(computes ? c->computing.event : c->hold.event, EVENT_RESUME);
    kt->sim.left_ps = until_ps - sim.engine->now_ps;
    kt->sim.left_hz = computes ? hz_of(c) : 0;
    c->computing.event = c->hold.event = 0;
    c->overhead_ps = sim_sum(c->overhead_ps, c->irq_time_ps);
    c->irq_time_ps = 0;
    c->left = c->interrupted = c->current;
    c->after = GO_INTERRUPTED;
    c->current = NULL;
    c->irq.pends = c->transfers = false;
}

// What ends at this instant ends before anything interrupts it.
enum turn sim_interrupt(struct sim_core *c)
{
    c->irq.pends = true;
    if (c->irq.masked || c->switching.starts)
        return TURN_NOTHING;
    if (sim_is_to_wait(c)) {
        sim_choose(c);
        return TURN_NOTHING;
    }
    put_off(c);
    return TURN_WORK;
}

enum turn sim_reconsider(struct sim_core *c)
{
    if (c->current == NULL)
        return TURN_WORK;
    return c->irq.pends || sim_is_outdone(c) ? sim_interrupt(c) : TURN_NOTHING;
}

enum turn sim_reschedule(struct sim_core *c)
{
    return sim_is_outdone(c) ? sim_interrupt(c) : TURN_NOTHING;
}

// One for all that it has at this instant.
void sim_charge_timer(struct sim_core *c)
{
    if (is_free(c, CHARGE_INTERRUPT) || c->timer_ps == sim.engine->now_ps)
        return;
    uint64_t *owed_ps = c->current != NULL ? &c->irq_time_ps : &c->overhead_ps;
    *owed_ps = sim_sum(*owed_ps, engine_interrupt(sim.engine, c->core->index));
    c->timer_ps = sim.engine->now_ps;
}

enum turn sim_timer(struct sim_core *c, struct wb_task *task)
{
    sim_charge_timer(c);
    wb_kernel_unblock(task);
    return sim_reschedule(c);
}

void sim_give_way(void)
{
    struct sim_core *c = sim.here;

    c->irq.pends = c->irq.masked;
    if (c->irq.masked)
        return;
    c->interrupted = sim.self;
    sim_leave(GO_INTERRUPTED);
}

// Where it was interrupted, if it was.
static void go_on(struct sim_core *c)
{
    __extension__ typedef unsigned __int128 wide;
    struct kernel_task *kt = kernel_task(c->current);
    const wide ps =
        kt->sim.left_hz == 0 ? kt->sim.left_ps : (wide)kt->sim.left_ps * kt->sim.left_hz / hz_of(c);

    c->irq_time_ps = sim_sum(c->irq_time_ps, ps < UINT64_MAX ? (uint64_t)ps : UINT64_MAX);
    c->switching.goes_on = kt->sim.left_hz != 0;
    kt->sim.left_ps = kt->sim.left_hz = 0;
}

// Notes that it has put off, or left to itself, it takes in the next interrupt.
uint64_t sim_let_go(struct sim_core *c)
{
    const bool stays = c->interrupted == c->current;

    if (c->interrupted != NULL && !stays)
        wb_counter_add(&c->interrupted->stats.preemptions, 1);
    c->interrupted = NULL;
    c->irq.pends = false;
    go_on(c);
    if (!c->irq.rung && sim_has_pending_bits(c)) {
        c->irq.rung = true;
        sim_push_in(PS_PER_NS, EVENT_RING, c->core->index);
    }
    return stays ? 0 : engine_switch(sim.engine, c->core->index);
}

bool sim_still_starts(struct sim_core *c)
{
    c->irq.pends = false;
    sim_serve(c);
    if (!sim_is_outdone(c))
        return true;
    kernel_task(c->current)->sim.left_ps = c->irq_time_ps;
    kernel_task(c->current)->sim.left_hz = c->switching.goes_on ? hz_of(c) : 0;
    c->irq_time_ps = 0;
    sim_queue_interrupted(c, c->current);
    c->current = NULL;
    return false;
}

// ---- Deadlines ----------------------------------------------------------------------------------

static struct order *order_of(const struct sim_core *c, uint32_t priority)
{
    return &c->fair->rivals[priority].order;
}

static void queue_by_deadline(struct sim_core *c, struct wb_task *task, bool interrupted)
{
    const uint32_t p = wb_sync_priority(&task->sync);
    struct order *order = order_of(c, p);
    const uint64_t deadline_ns = sim_deadline_ns(task);
    struct share *s = &sim.shares[task->id];

    s->task = task;
    s->rank.key = (int64_t)(deadline_ns ^ UINT64_C(1) << 63);  // with a sign, in the same order
    s->rank.number = interrupted ? order_before(order) : order_after(order);
    order_add(order, &s->rank);
    kernel_task(task)->queue = p + 1;
    c->ready.levels |= 1u << p;
}

static struct wb_task *take_queued(struct sim_core *c, struct wb_task *task)
{
    const uint32_t p = kernel_task(task)->queue - 1;
    struct order *order = order_of(c, p);

    order_remove(order, &sim.shares[task->id].rank);
    if (order->root == NULL)
        c->ready.levels &= ~(1u << p);
    kernel_task(task)->queue = 0;
    return task;
}

struct wb_task *sim_first_by_deadline(const struct sim_core *c, uint32_t priority)
{
    return sim.shares[order_of(c, priority)->first->task].task;
}

struct wb_task *sim_pop_by_deadline(struct sim_core *c)
{
    if (c->place != NULL)
        return sim_pop_shared(c);
    if (c->ready.levels == 0)
        return NULL;
    return take_queued(c, sim_first_by_deadline(c, 31 - (uint32_t)__builtin_clz(c->ready.levels)));
}

bool sim_take_ready(struct sim_core *c, struct wb_task *task)
{
    if (!c->scheduling.by_deadline)
        return ready_take(&c->ready, task);
    if (c->place != NULL)
        return sim_take_shared(c, task);
    const bool is_ready = kernel_task(task)->queue != 0;
    if (is_ready)
        (void)take_queued(c, task);
    return is_ready;
}

void sim_queue_by_order(struct sim_core *c, struct wb_task *task, bool interrupted)
{
    if (c->scheduling.is_fair)
        sim_queue_fairly(c, task);
    else if (c->place != NULL)
        sim_queue_shared(c, task, interrupted);
    else
        queue_by_deadline(c, task, interrupted);
}
