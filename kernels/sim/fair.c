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
    return virtual_ns(c->slice_ps / PS_PER_NS, s);
}

// ---- Who competes -------------------------------------------------------------------------------

// Of those of one priority.
struct rivals {
    int64_t mean_ns;
    uint64_t weight;  // of all, 0: there is none
    uint32_t number;
};

static struct rivals rivals_of(const struct sim_core *c, uint32_t level)
{
    struct rivals r = { 0 };
    int64_t from_ns = 0;
    wide sum = 0;

    for (const struct share *s = c->fair->first; s != NULL; s = s->next) {
        if (s->level != level)
            continue;
        if (r.number++ == 0)
            from_ns = s->had_ns;
        sum += (wide)(s->had_ns - from_ns) * s->weight;
        r.weight += s->weight;
    }
    if (r.weight != 0)  // rounded down: who is at the mean is eligible, who is past it is not
        r.mean_ns = from_ns + (int64_t)((sum - (sum < 0 ? (wide)r.weight - 1 : 0)) / r.weight);
    return r;
}

static void append(struct sim_core *c, struct share *s)
{
    struct fair *f = c->fair;

    *f->end = s;
    s->back = f->end;
    s->next = NULL;
    f->end = &s->next;
    s->core = c->core->index + 1;
}

static void take_out(struct sim_core *c, struct share *s)
{
    *s->back = s->next;
    if (s->next != NULL)
        s->next->back = s->back;
    else
        c->fair->end = s->back;
    s->core = 0;
}

// The task competes with those of its priority from here on, as far behind them as it was when it
// left them. It moves their mean itself, so it is placed further behind than its lag.
static void place(struct sim_core *c, struct share *s)
{
    s->level = wb_sync_priority(&s->task->sync);
    const struct rivals r = rivals_of(c, s->level);
    if (r.number != 0)
        s->had_ns =
            r.mean_ns - (int64_t)((wide)s->lag_ns[s->level] * (r.weight + s->weight) / r.weight);
    // The others are halfway through their slices, on average, when a new one comes.
    s->deadline_ns = s->had_ns + slice_ns(c, s) / (s->is_known ? 1 : 2);
    s->is_known = true;
    append(c, s);
}

static int64_t lag_of(const struct sim_core *c, const struct share *s)
{
    const uint64_t slices_ps = 2 * c->slice_ps;
    const uint64_t most_ps = slices_ps > c->tick_ps ? slices_ps : c->tick_ps;
    const int64_t most_ns = virtual_ns(most_ps / PS_PER_NS, s);
    const int64_t lag_ns = rivals_of(c, s->level).mean_ns - s->had_ns;

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
    s->sleeps = false;
    take_out(c, s);
    if (c->fair->chosen == s)
        c->fair->chosen = NULL;
}

// If no task of their priority or above is ready, sleepers leave the queue with lag 0.
static void retire_sleepers(struct sim_core *c)
{
    for (struct share *s = c->fair->first, *next; s != NULL; s = next) {
        next = s->next;
        if (s->sleeps && c->ready.levels >> s->level == 0) {
            retire(c, s);
            s->lag_ns[s->level] = 0;
        }
    }
}

// ---- Time ---------------------------------------------------------------------------------------

// What the task of the core has had up to now.
static void count(struct sim_core *c)
{
    struct fair *f = c->fair;
    struct share *s = f->chosen;
    const uint64_t ns = (sim.engine->now_ps - f->since_ps) / PS_PER_NS;

    if (!f->runs || ns == 0)
        return;
    f->since_ps += ns * PS_PER_NS;
    s->had_ns += virtual_ns(ns, s);
    if (s->had_ns >= s->deadline_ns)
        s->deadline_ns = s->had_ns + slice_ns(c, s);
    if (s->had_ns >= s->keeps_ns && sim_has_rivals(c))
        f->is_due = true;
}

bool sim_has_rivals(const struct sim_core *c)
{
    const struct share *chosen = c->fair->chosen, *s = c->fair->first;

    while (s != NULL && (s == chosen || s->level != chosen->level))
        s = s->next;
    return s != NULL;
}

bool sim_look(struct sim_core *c)
{
    count(c);
    return c->fair->is_due;
}

uint64_t sim_next_look(const struct sim_core *c)
{
    const struct share *s = c->fair->chosen;

    if (c->tick_ps != 0)
        return c->tick_ps - (sim.engine->now_ps - sim_ps(sim.system->start_ns)) % c->tick_ps;
    // Up to the nanosecond at which it will have had its slice.
    const wide left_ns = (wide)(s->deadline_ns - s->had_ns) * s->weight;
    const uint64_t until_ps =
        c->fair->since_ps + (uint64_t)((left_ns + WEIGHT - 1) / WEIGHT) * PS_PER_NS;
    return until_ps > sim.engine->now_ps ? until_ps - sim.engine->now_ps : PS_PER_NS;
}

// ---- Who goes first -----------------------------------------------------------------------------

// Who has the core keeps it while it is eligible, up to the deadline that it was chosen by.
static struct share *choose(const struct sim_core *c, uint32_t level)
{
    const int64_t mean_ns = rivals_of(c, level).mean_ns;
    struct share *best = NULL, *chosen = c->fair->chosen;

    if (chosen != NULL && (chosen->level != level || chosen->had_ns > mean_ns))
        chosen = NULL;
    if (chosen != NULL && !chosen->sleeps && chosen->had_ns < chosen->keeps_ns)
        return chosen;
    for (struct share *s = c->fair->first; s != NULL; s = s->next)
        if (s != chosen && s->level == level && s->had_ns <= mean_ns &&
            (best == NULL || s->deadline_ns < best->deadline_ns))
            best = s;
    return chosen != NULL && (best == NULL || chosen->deadline_ns < best->deadline_ns) ? chosen
                                                                                       : best;
}

struct wb_task *sim_pop_fairly(struct sim_core *c)
{
    struct fair *f = c->fair;

    if (c->ready.levels == 0)
        return NULL;
    const uint32_t level = 31 - (uint32_t)__builtin_clz(c->ready.levels);
    struct share *s = choose(c, level);
    for (; s->sleeps; s = choose(c, level))
        retire(c, s);
    const bool was_ready = ready_take(&c->ready, s->task);
    assert(was_ready);
    (void)was_ready;
    if (s != f->chosen)
        s->keeps_ns = s->deadline_ns;
    f->chosen = s;
    f->runs = true;
    f->is_due = false;
    f->since_ps = sim.engine->now_ps;
    return s->task;
}

// ---- What becomes of tasks ----------------------------------------------------------------------

// The task that had the core waits for it from here on. It goes to the end of the list, so that it
// loses ties.
static void put_back(struct sim_core *c, struct share *s)
{
    count(c);
    c->fair->runs = false;
    take_out(c, s);
    append(c, s);
}

// A task wakes that has competed on in its sleep.
static void rouse(struct sim_core *c, struct share *s)
{
    if (lag_of(c, s) > 0) {
        retire(c, s);
        place(c, s);
    }
    s->sleeps = false;
}

static void enter(struct sim_core *c, struct share *s)
{
    const bool is_here = s->core == c->core->index + 1;

    if (is_here && s->sleeps && s->level == wb_sync_priority(&s->task->sync)) {
        rouse(c, s);
        return;
    }
    count(c);
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
    count(c);
    if (choose(c, s->level) == s)
        c->fair->is_due = true;
}

void sim_follow_priority(struct sim_core *c, struct wb_task *task)
{
    struct share *s = share_of(task);

    if (!c->fair->runs || c->fair->chosen != s || s->level == wb_sync_priority(&task->sync))
        return;
    count(c);
    retire(c, s);
    place(c, s);
    c->fair->chosen = s;
    s->keeps_ns = s->deadline_ns;
    if (choose(c, s->level) != s)  // or each change would give it a slice
        c->fair->is_due = true;
}

void sim_stop_sharing(struct sim_core *c, struct wb_task *task, bool sleeps)
{
    struct share *s = share_of(task);

    put_back(c, s);
    c->fair->chosen = NULL;
    s->sleeps = sleeps && s->had_ns > rivals_of(c, s->level).mean_ns;
    if (!s->sleeps)
        retire(c, s);
    retire_sleepers(c);
}

// Its slice begins anew, if it is not past its share anyway.
void sim_forfeit(struct sim_core *c)
{
    struct share *s = c->fair->chosen;

    count(c);
    if (s->had_ns > rivals_of(c, s->level).mean_ns)
        return;
    s->had_ns = s->deadline_ns;
    s->deadline_ns += slice_ns(c, s);
}

void sim_forget_shares(struct sim_core *c)
{
    for (struct share *s = c->fair->first, *next; s != NULL; s = next) {
        next = s->next;
        *s = (struct share){ .weight = s->weight };
    }
    *c->fair = (struct fair){ .end = &c->fair->first };
}

bool sim_share(void)
{
    struct wb_system *system = sim.system;
    const size_t bytes = system->n_cores * sizeof(struct fair);

    sim.shares =
        wb_system_alloc(system, system->n_tasks * sizeof *sim.shares + bytes, WB_LINE_BYTES);
    if (sim.shares == NULL)
        return false;
    for (uint32_t i = 0; i < system->n_tasks; i++)
        sim_weigh(i, WEIGHT);
    for (uint32_t i = 0; i < system->n_cores; i++) {
        struct fair *fair = (struct fair *)(void *)(sim.shares + system->n_tasks) + i;
        fair->end = &fair->first;
        sim.cores[i].fair = fair;
    }
    return true;
}

void sim_weigh(uint32_t task, uint32_t weight)
{
    if (sim.shares != NULL && weight != 0)
        sim.shares[task].weight = weight;
}
