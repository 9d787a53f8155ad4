// SPDX-License-Identifier: Apache-2.0
// Shares of a core by weight, for tasks that are equally urgent, on kernels that preempt: the
// earliest eligible virtual deadline goes first, as Linux has its ordinary threads from 6.6 on.
// I. Stoica, H. Abdel-Wahab, "Earliest Eligible Virtual Deadline First: A Flexible and Accurate
// Mechanism for Proportional Share Resource Allocation", Old Dominion University, TR-95-22, 1995.
//
// What a task has had of the core, over its weight, is its virtual time. The mean of those of all
// that compete, by weight, is where each would be if it had exactly its share. Who is not past it
// is eligible. Each asks for a slice at a time, and is to have had it by its virtual deadline.
//
// How far a task is behind the mean is its lag. It keeps that while it sleeps, and of each priority
// while it has another one, or it would gain by that. A task that sleeps and is ahead competes on
// until the others have caught up.

#include <assert.h>

#include "private.h"

enum { WEIGHT = 1024 };  // of a nice of 0: its virtual time passes as time does

__extension__ typedef __int128 wide;

static struct share *share_of(const struct wb_task *task)
{
    return &sim.shares[task->id];
}

static int64_t virtual_ns(uint64_t ns, const struct share *s)
{
    return (int64_t)(ns * WEIGHT / s->weight);
}

static int64_t slice_ns(const struct sim_core *c, const struct share *s)
{
    return virtual_ns(c->scheduling.slice_ps / PS_PER_NS, s);
}

// ---- Who competes -------------------------------------------------------------------------------

static struct rivals *rivals_of(const struct sim_core *c, uint32_t level)
{
    return &c->fair->rivals[level];
}

// Rounded down: who is at the mean is eligible, who is past it is not.
static int64_t mean_of(const struct sim_core *c, uint32_t level)
{
    const struct rivals *r = rivals_of(c, level);
    const wide weight = (wide)r->weight;

    return r->number == 0 ? 0 : (int64_t)((r->sum - (r->sum < 0 ? weight - 1 : 0)) / weight);
}

// Of those with the same deadline it comes last.
static void append(struct sim_core *c, struct share *s)
{
    s->rank.number = order_after(&rivals_of(c, s->level)->order);
}

// The chosen one is in no order: its time and its deadline change.
static void put_in_order(struct sim_core *c, struct share *s)
{
    s->rank.key = s->deadline_ns;
    s->rank.value = s->had_ns;
    s->rank.task = s->task->id;
    order_add(&rivals_of(c, s->level)->order, &s->rank);
}

static void choose(struct sim_core *c, struct share *s)
{
    struct share *before = c->fair->chosen;

    if (before == s)
        return;
    if (before != NULL && before->core != 0)
        put_in_order(c, before);
    if (s != NULL)
        order_remove(&rivals_of(c, s->level)->order, &s->rank);
    c->fair->chosen = s;
}

static void come(struct sim_core *c, struct share *s)
{
    struct rivals *r = rivals_of(c, s->level);

    r->sum += (wide)s->had_ns * s->weight;
    r->weight += s->weight;
    r->number++;
    s->core = c->core->index + 1;
    append(c, s);
    put_in_order(c, s);
}

static void go(struct sim_core *c, struct share *s)
{
    struct rivals *r = rivals_of(c, s->level);

    r->sum -= (wide)s->had_ns * s->weight;
    r->weight -= s->weight;
    r->number--;
    s->core = 0;
    if (c->fair->chosen == s)
        c->fair->chosen = NULL;
    else
        order_remove(&r->order, &s->rank);
}

static void set_sleep(struct sim_core *c, struct share *s, bool sleeps)
{
    struct rivals *r = rivals_of(c, s->level);

    if (s->sleeps == sleeps)
        return;
    s->sleeps = sleeps;
    if (sleeps) {
        s->next = r->sleepers;
        s->back = &r->sleepers;
        if (s->next != NULL)
            s->next->back = &s->next;
        r->sleepers = s;
    } else {
        *s->back = s->next;
        if (s->next != NULL)
            s->next->back = s->back;
    }
    if (r->sleepers != NULL)
        c->fair->sleeping |= 1u << s->level;
    else
        c->fair->sleeping &= ~(1u << s->level);
}

// The task competes with those of its priority from here on, as far behind them as it was when it
// left them. It moves their mean itself, so it is placed further behind than its lag.
static void place(struct sim_core *c, struct share *s)
{
    s->level = wb_sync_priority(&s->task->sync);
    const struct rivals *r = rivals_of(c, s->level);
    const wide weight = (wide)r->weight;
    if (r->number != 0)
        s->had_ns = mean_of(c, s->level) -
                    (int64_t)((wide)s->lag_ns[s->level] * (weight + s->weight) / weight);
    // The others are halfway through their slices, on average, when a new one comes.
    s->deadline_ns = s->had_ns + slice_ns(c, s) / (s->is_known ? 1 : 2);
    s->is_known = true;
    come(c, s);
}

static int64_t lag_of(const struct sim_core *c, const struct share *s)
{
    const uint64_t slices_ps = 2 * c->scheduling.slice_ps;
    const uint64_t most_ps = slices_ps > c->scheduling.tick_ps ? slices_ps : c->scheduling.tick_ps;
    const int64_t most_ns = virtual_ns(most_ps / PS_PER_NS, s);
    const int64_t lag_ns = mean_of(c, s->level) - s->had_ns;

    return lag_ns < -most_ns ? -most_ns : lag_ns < most_ns ? lag_ns : most_ns;
}

// The task does not compete any more. If it competed on in its sleep it loses a positive lag: it
// did not want the core meanwhile.
static void retire(struct sim_core *c, struct share *s)
{
    int64_t *lag_ns = &s->lag_ns[s->level];

    *lag_ns = lag_of(c, s);
    if (s->sleeps && *lag_ns > 0)
        *lag_ns = 0;
    set_sleep(c, s, false);
    go(c, s);
}

// If no task of their priority or above is ready, sleepers leave the queue with lag 0.
static void retire_sleepers(struct sim_core *c)
{
    for (uint32_t left = c->fair->sleeping; left != 0 && left > c->ready.levels;) {
        const uint32_t level = 31 - (uint32_t)__builtin_clz(left);
        left &= ~(1u << level);
        if (c->ready.levels >> level != 0)
            return;
        for (struct share *s; (s = rivals_of(c, level)->sleepers) != NULL;) {
            retire(c, s);
            s->lag_ns[level] = 0;
        }
    }
}

// ---- Time ---------------------------------------------------------------------------------------

// More of the chosen one.
static void add_to(struct sim_core *c, struct share *s, int64_t ns)
{
    s->had_ns += ns;
    rivals_of(c, s->level)->sum += (wide)ns * s->weight;
}

// What the task of the core has had up to now.
static void count_share(struct sim_core *c)
{
    struct fair *f = c->fair;
    struct share *s = f->chosen;
    const uint64_t ns = (sim.engine->now_ps - f->since_ps) / PS_PER_NS;

    if (!f->runs || ns == 0)
        return;
    f->since_ps += ns * PS_PER_NS;
    add_to(c, s, virtual_ns(ns, s));
    if (s->had_ns >= s->deadline_ns)
        s->deadline_ns = s->had_ns + slice_ns(c, s);
    if (s->had_ns >= s->keeps_ns && sim_has_rivals(c))
        f->is_due = true;
}

bool sim_has_rivals(const struct sim_core *c)
{
    return rivals_of(c, c->fair->chosen->level)->number > 1;
}

bool sim_look(struct sim_core *c)
{
    count_share(c);
    return c->fair->is_due;
}

uint64_t sim_next_look(const struct sim_core *c)
{
    const struct share *s = c->fair->chosen;

    if (c->scheduling.tick_ps != 0)
        return c->scheduling.tick_ps -
               (sim.engine->now_ps - sim_ps(sim.system->start_ns)) % c->scheduling.tick_ps;
    // Up to the nanosecond at which it will have had its slice.
    const wide left_ns = (wide)(s->deadline_ns - s->had_ns) * s->weight;
    const uint64_t until_ps =
        c->fair->since_ps + (uint64_t)((left_ns + WEIGHT - 1) / WEIGHT) * PS_PER_NS;
    return until_ps > sim.engine->now_ps ? until_ps - sim.engine->now_ps : PS_PER_NS;
}

// ---- Who goes first -----------------------------------------------------------------------------

// Who has the core keeps it while it is eligible, up to the deadline that it was chosen by.
static struct share *first_of(const struct sim_core *c, uint32_t level)
{
    const int64_t mean_ns = mean_of(c, level);
    struct share *chosen = c->fair->chosen;

    if (chosen != NULL && (chosen->level != level || chosen->had_ns > mean_ns))
        chosen = NULL;
    if (chosen != NULL && !chosen->sleeps && chosen->had_ns < chosen->keeps_ns)
        return chosen;
    const struct rank *best = order_first_within(&rivals_of(c, level)->order, mean_ns);
    return chosen != NULL && (best == NULL || chosen->deadline_ns < best->key)
               ? chosen
               : &sim.shares[best->task];
}

struct wb_task *sim_pop_fairly(struct sim_core *c)
{
    struct fair *f = c->fair;

    if (c->ready.levels == 0)
        return NULL;
    const uint32_t level = 31 - (uint32_t)__builtin_clz(c->ready.levels);
    struct share *s = first_of(c, level);
    for (; s->sleeps; s = first_of(c, level))
        retire(c, s);
    const bool was_ready = ready_take(&c->ready, s->task);
    assert(was_ready);
    (void)was_ready;
    if (s != f->chosen)
        s->keeps_ns = s->deadline_ns;
    choose(c, s);
    f->runs = true;
    f->is_due = false;
    f->since_ps = sim.engine->now_ps;
    return s->task;
}

// ---- What becomes of tasks ----------------------------------------------------------------------

// The task that had the core waits for it from here on. It loses ties.
static void put_back(struct sim_core *c, struct share *s)
{
    count_share(c);
    c->fair->runs = false;
    append(c, s);
}

// A task wakes that has competed on in its sleep.
static void rouse(struct sim_core *c, struct share *s)
{
    if (lag_of(c, s) > 0) {
        retire(c, s);
        place(c, s);
    }
    set_sleep(c, s, false);
}

static void enter(struct sim_core *c, struct share *s)
{
    const bool is_here = s->core == c->core->index + 1;

    if (is_here && s->sleeps && s->level == wb_sync_priority(&s->task->sync)) {
        rouse(c, s);
        return;
    }
    count_share(c);
    if (s->core != 0)  // of another priority, or it has left another core in its sleep
        retire(&sim.cores[s->core - 1], s);
    place(c, s);
}

void sim_queue_fairly(struct sim_core *c, struct wb_task *task)
{
    struct share *s = share_of(task);

    if (c->fair->runs && c->fair->chosen == s)
        put_back(c, s);
    s->task = task;
    if (s->core != c->core->index + 1 || s->sleeps || s->level != wb_sync_priority(&task->sync))
        enter(c, s);
    ready_push(&c->ready, task);
    if (!c->fair->runs || c->fair->chosen->level != s->level)
        return;
    count_share(c);
    if (first_of(c, s->level) == s)
        c->fair->is_due = true;
}

void sim_follow_priority(struct sim_core *c, struct wb_task *task)
{
    struct share *s = share_of(task);

    if (!c->fair->runs || c->fair->chosen != s || s->level == wb_sync_priority(&task->sync))
        return;
    count_share(c);
    retire(c, s);
    place(c, s);
    choose(c, s);
    s->keeps_ns = s->deadline_ns;
    if (first_of(c, s->level) != s)  // or each change would give it a slice
        c->fair->is_due = true;
}

void sim_stop_sharing(struct sim_core *c, struct wb_task *task, bool sleeps)
{
    struct share *s = share_of(task);

    put_back(c, s);
    choose(c, NULL);
    set_sleep(c, s, sleeps && s->had_ns > mean_of(c, s->level));
    if (!s->sleeps)
        retire(c, s);
    retire_sleepers(c);
}

// Its slice begins anew, if it is not past its share anyway.
void sim_forfeit(struct sim_core *c)
{
    struct share *s = c->fair->chosen;

    count_share(c);
    if (s->had_ns > mean_of(c, s->level))
        return;
    add_to(c, s, s->deadline_ns - s->had_ns);
    s->deadline_ns += slice_ns(c, s);
}

void sim_forget_shares(struct sim_core *c)
{
    for (uint32_t i = 0; i < sim.system->n_tasks; i++)
        if (sim.shares[i].core == c->core->index + 1)
            sim.shares[i] = (struct share){ .weight = sim.shares[i].weight, .rank.task = i };
    *c->fair = (struct fair){ 0 };
}

bool sim_share(void)
{
    struct wb_system *system = sim.system;
    const size_t bytes = system->n_cores * sizeof(struct fair);
    struct fair *fairs = wb_system_alloc(system, bytes, WB_LINE_BYTES);

    sim.shares = wb_system_alloc(system, system->n_tasks * sizeof *sim.shares, WB_LINE_BYTES);
    if (fairs == NULL || sim.shares == NULL)
        return false;
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        sim.shares[i].rank.task = i;
        sim_weigh(i, WEIGHT);
    }
    for (uint32_t i = 0; i < system->n_cores; i++)
        sim.cores[i].fair = &fairs[i];
    return true;
}

void sim_weigh(uint32_t task, uint32_t weight)
{
    if (sim.shares != NULL && weight != 0)
        sim.shares[task].weight = weight;
}
