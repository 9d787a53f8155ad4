// SPDX-License-Identifier: Apache-2.0
// Cores that share one scheduler: as many tasks as a group has cores, the most urgent ones, have
// them. With full migration a task goes on wherever there is room for it, with restricted migration
// a job ends where it began, and the next one may begin elsewhere.
//
// A task that is ready waits with the group, or, if it is in the midst of a job that may not move,
// for its core alone. At the end of an instant the group grants cores to those that are to have
// them. A core that has another task is then outdone, so all else is as where a core has a
// scheduler of its own: preempt.c.
//
// The middleware knows this of hardware that chooses (wb_task_chosen(), decision 0029).

#include "private.h"

// A task, as far as its group goes.
struct member {
    struct rank rank;
    struct order *waits_in;  // NULL: the task does not wait
    struct sim_core *next;   // the core that it is to have; NULL: none
    uint64_t job_ns;         // the release of the job that had a core last,
    uint64_t begun_ps;       // since this moment
    bool has_begun;
};

struct group {
    struct order ready;   // tasks that any core may have, the most urgent first
    struct order cores;   // free ones, then by their tasks, the least urgent first
    struct order vacant;  // cores in a round of grants, by their numbers
    struct member *members;
    struct wb_task **tasks;     // of a round of grants
    struct sim_core **granted;  // the cores of the last round
    uint32_t n_granted;
    bool by_deadline, restricted;
    bool is_due;  // a round of grants changes something
};

struct place {
    struct group *group;
    struct rank rank;
    struct order own;         // tasks in the midst of a job that has to end here
    struct wb_task *granted;  // the task that is to have the core next; NULL: none
    bool is_placed;           // among the cores of the group, so not dead
};

static const int64_t FREE = INT64_MIN;

static struct member *member_of(const struct group *g, const struct wb_task *task)
{
    return &g->members[task->id];
}

static struct wb_task *first_of(const struct order *order)
{
    return order->root != NULL ? &sim.system->tasks[order->first->task] : NULL;
}

// The less, the more urgent: by priority, then by deadline, in one number.
static int64_t urgency(const struct group *g, const struct wb_task *task)
{
    enum { DEADLINE_BITS = 58 };  // 9 years of nanoseconds
    const uint64_t last_ns = (UINT64_C(1) << DEADLINE_BITS) - 1;
    const uint64_t deadline_ns = g->by_deadline ? sim_deadline_ns(task) : 0;
    const uint64_t level = PRIORITIES - 1 - wb_sync_priority(&task->sync);

    return (int64_t)(level << DEADLINE_BITS | (deadline_ns < last_ns ? deadline_ns : last_ns));
}

// ---- Cores --------------------------------------------------------------------------------------

// The core's place among those of its group, by the most urgent task that has it or is to have it.
static void place_core(struct sim_core *c)
{
    struct place *place = c->place;
    const struct wb_task *tasks[] = { c->current, place->granted, first_of(&place->own) };
    int64_t key = FREE;

    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++)
        if (tasks[i] != NULL && -urgency(place->group, tasks[i]) > key)
            key = -urgency(place->group, tasks[i]);
    if (place->is_placed && place->rank.key == key)
        return;
    if (place->is_placed)
        order_remove(&place->group->cores, &place->rank);
    place->is_placed = true;
    place->rank.key = key;
    order_add(&place->group->cores, &place->rank);
}

// The core for a task: its last one if that is free, or the first. NULL: all are to stay as they
// are.
static struct sim_core *core_for(const struct group *g, const struct wb_task *task)
{
    struct sim_core *last = &sim.cores[wb_task_core(task)];

    if (last->place != NULL && last->place->group == g && last->place->is_placed &&
        last->place->rank.key == FREE)
        return last;
    if (g->cores.root == NULL)
        return NULL;
    const struct rank *first = g->cores.first;
    return first->key == FREE || urgency(g, task) < -first->key ? &sim.cores[first->task] : NULL;
}

// ---- Waiting ------------------------------------------------------------------------------------

// A job that has had a core for some time is to end there.
static bool is_bound(const struct group *g, const struct wb_task *task)
{
    const struct member *m = member_of(g, task);

    return g->restricted && m->has_begun && m->begun_ps < sim.engine->now_ps &&
           (task->job_deadline_ns == 0 || m->job_ns == task->release.ns);
}

static void begin_wait(struct group *g, struct member *m, struct order *order)
{
    m->next = NULL;
    m->waits_in = order;
    order_add(order, &m->rank);
    if (order != &g->ready)
        return;
    if (core_for(g, &sim.system->tasks[m->rank.task]) != NULL)
        g->is_due = true;
}

static void end_wait(struct member *m)
{
    order_remove(m->waits_in, &m->rank);
    m->waits_in = NULL;
}

void sim_queue_shared(struct sim_core *c, struct wb_task *task, bool interrupted)
{
    struct group *g = c->place->group;
    struct member *m = member_of(g, task);
    struct sim_core *home = is_bound(g, task) ? &sim.cores[wb_task_core(task)] : NULL;

    m->rank.key = urgency(g, task);
    m->rank.number = interrupted ? order_before(&g->ready) : order_after(&g->ready);
    place_core(c);
    begin_wait(g, m, home != NULL ? &home->place->own : &g->ready);
    if (home == NULL) {
        if (g->is_due)
            sim_choose(c);
        return;
    }
    place_core(home);
    if (home->current == NULL)
        sim_wake(home);
    else if (sim_is_outdone(home))
        sim_choose(home);
}

bool sim_take_shared(struct sim_core *c, struct wb_task *task)
{
    struct member *m = member_of(c->place->group, task);
    struct sim_core *core = m->next;

    if (m->waits_in != NULL) {
        end_wait(m);
        place_core(&sim.cores[wb_task_core(task)]);
        return true;
    }
    if (core == NULL)
        return false;
    m->next = NULL;
    core->place->granted = NULL;
    place_core(core);
    return true;
}

// ---- Grants -------------------------------------------------------------------------------------

static void take_back(struct group *g, struct sim_core *c)
{
    struct wb_task *task = c->place->granted;

    if (task == NULL)
        return;
    c->place->granted = NULL;
    place_core(c);
    begin_wait(g, member_of(g, task), &g->ready);
}

static void grant(struct group *g, struct sim_core *c, struct wb_task *task)
{
    order_remove(&g->vacant, &c->place->rank);
    c->place->granted = task;
    member_of(g, task)->next = c;
    g->granted[g->n_granted++] = c;
    place_core(c);
    if (c->current == NULL)
        sim_wake(c);
    else if (!c->choice.in_turn)
        sim_choose(c);
}

// The core leaves the order of the group until it is granted.
static void vacate(struct group *g, struct sim_core *c)
{
    order_remove(&g->cores, &c->place->rank);
    c->place->is_placed = false;
    c->place->rank.key = 0;
    order_add(&g->vacant, &c->place->rank);
}

static bool is_vacant(const struct group *g, const struct sim_core *c)
{
    return c->place != NULL && c->place->group == g && !c->place->is_placed && !c->dead;
}

// Grants tasks their last cores. `interrupted`: those that only the kernel has taken them from, to
// serve.
static void grant_last(struct group *g, uint32_t n, bool interrupted)
{
    for (uint32_t i = 0; i < n; i++) {
        struct wb_task *task = g->tasks[i];
        struct sim_core *last = task != NULL ? &sim.cores[wb_task_core(task)] : NULL;
        if (last == NULL || !is_vacant(g, last) || (interrupted && last->interrupted != task))
            continue;
        grant(g, last, task);
        g->tasks[i] = NULL;
    }
}

// First who, then where: a task that has a core keeps it, and another has its last one if it can.
static void grant_all(struct group *g)
{
    uint32_t n = 0;
    struct sim_core *c;

    for (uint32_t i = 0; i < g->n_granted; i++)
        take_back(g, g->granted[i]);
    g->n_granted = 0;
    for (struct wb_task *task; (task = first_of(&g->ready)) != NULL; g->tasks[n++] = task) {
        if ((c = core_for(g, task)) == NULL)
            break;
        end_wait(member_of(g, task));
        vacate(g, c);
    }
    grant_last(g, n, true);
    grant_last(g, n, false);
    for (uint32_t i = 0; i < n; i++)
        if (g->tasks[i] != NULL)
            grant(g, &sim.cores[g->vacant.first->task], g->tasks[i]);
    g->is_due = false;
}

bool sim_grant(struct sim_core *c)
{
    const bool sleeps = c->power.idle;

    if (c->place->group->is_due)
        grant_all(c->place->group);
    return !sleeps;
}

bool sim_is_outdone_shared(const struct sim_core *c)
{
    const struct place *place = c->place;
    const struct wb_task *own = first_of(&place->own);

    return place->granted != NULL ||
           (own != NULL && urgency(place->group, own) < urgency(place->group, c->current));
}

bool sim_has_shared(const struct sim_core *c, uint32_t floor)
{
    const struct place *place = c->place;
    const struct wb_task *tasks[] = { place->granted, first_of(&place->own),
                                      first_of(&place->group->ready) };

    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++)
        if (tasks[i] != NULL && wb_sync_priority(&tasks[i]->sync) >= floor)
            return true;
    return false;
}

// ---- Having a core ------------------------------------------------------------------------------

// False: it has begun already, or the task only goes on to wait for its release.
static bool begin_job(struct member *m, const struct wb_task *task)
{
    if ((m->has_begun && m->job_ns == task->release.ns) ||
        (task->job_deadline_ns != 0 && task->release.ns > sim_now_ns()))
        return false;
    m->has_begun = true;
    m->job_ns = task->release.ns;
    m->begun_ps = sim.engine->now_ps;
    return true;
}

// The task goes on on another core than its last one.
static void take_over(struct sim_core *c, struct wb_task *task)
{
    struct sim_core *from = &sim.cores[wb_task_core(task)];

    if (from->interrupted == task) {
        from->interrupted = NULL;
        wb_counter_add(&task->stats.preemptions, 1);
    }
    engine_forget(sim.engine, from->core->index, task->id);
    wb_task_chosen(task, c->core->index, sim_now_ns());
    wb_kernel_charge(WB_ACTION_ATTACH, 1);
}

struct wb_task *sim_pop_shared(struct sim_core *c)
{
    struct place *place = c->place;
    struct group *g = place->group;

    place_core(c);
    if (place->granted == NULL && g->ready.root != NULL)
        grant_all(g);
    struct wb_task *task = place->granted, *own = first_of(&place->own);
    if (own != NULL && (task == NULL || urgency(g, own) <= urgency(g, task))) {
        take_back(g, c);
        task = own;
        end_wait(member_of(g, task));
    } else if (task == NULL) {
        return NULL;
    }
    place->granted = NULL;
    member_of(g, task)->next = NULL;
    if (wb_task_core(task) != c->core->index)
        take_over(c, task);
    (void)begin_job(member_of(g, task), task);
    return task;
}

void sim_leave_shared(struct sim_core *c, struct wb_task *task)
{
    if (task->job_deadline_ns == 0)
        member_of(c->place->group, task)->has_begun = false;
    place_core(c);
}

void sim_follow_shared(struct sim_core *c, struct wb_task *task)
{
    struct group *g = c->place->group;
    const struct wb_task *first = first_of(&g->ready);

    if (c->current != task)
        return;
    place_core(c);
    // A job that follows a late one may begin elsewhere, if others wait for this core alone.
    if (begin_job(member_of(g, task), task) && c->place->own.root != NULL)
        c->irq.pends = true;
    else if (first != NULL && core_for(g, first) != NULL)
        g->is_due = true;
    else
        return;
    sim_choose(c);
}

// ---- The life of a group ------------------------------------------------------------------------

void sim_kill_shared(struct sim_core *c)
{
    struct group *g = c->place->group;

    take_back(g, c);
    for (uint32_t i = 0; i < sim.system->n_tasks; i++) {
        struct member *m = &g->members[i];
        if (wb_task_core(&sim.system->tasks[i]) != c->core->index)
            continue;
        (void)sim_take_shared(c, &sim.system->tasks[i]);
        m->has_begun = false;
    }
    if (c->place->is_placed)
        order_remove(&g->cores, &c->place->rank);
    c->place->is_placed = false;
    if (g->cores.root != NULL)
        sim_choose(&sim.cores[g->cores.first->task]);
}

void sim_join_again(struct sim_core *c)
{
    place_core(c);
}

size_t sim_group_bytes(uint32_t tasks, uint32_t cores)
{
    return tasks * sizeof(struct member) + WB_LINE_BYTES +
           cores * (sizeof(struct place) + sizeof(struct group) + sizeof(struct wb_task *) +
                    sizeof(struct sim_core *) + (size_t)4 * WB_LINE_BYTES);
}

static void *take(size_t bytes)
{
    return wb_system_alloc(sim.system, bytes, WB_LINE_BYTES);
}

static struct member *members_new(void)
{
    struct member *members = take(sim.system->n_tasks * sizeof *members);

    for (uint32_t i = 0; members != NULL && i < sim.system->n_tasks; i++)
        members[i].rank.task = i;
    return members;
}

// Of the cores from `first` on that have the number of that one.
static struct group *group_new(uint32_t first, struct member *members)
{
    const uint32_t number = engine_group(sim.engine, first);
    struct group *g = take(sizeof *g);
    uint32_t n = 1;

    while (first + n < sim.system->n_cores && engine_group(sim.engine, first + n) == number)
        n++;
    if (g == NULL)
        return NULL;
    g->members = members;
    g->tasks = take(n * sizeof(struct wb_task *));
    g->granted = take(n * sizeof(struct sim_core *));
    g->by_deadline = engine_scheduling(sim.engine, first) == EARLIEST_DEADLINE;
    g->restricted = engine_migration(sim.engine, first) == RESTRICTED_MIGRATION;
    return members != NULL && g->tasks != NULL && g->granted != NULL ? g : NULL;
}

// The cores of a group follow each other.
bool sim_join_groups(void)
{
    struct member *members = NULL;

    for (uint32_t i = 0; i < sim.system->n_cores; i++) {
        struct sim_core *c = &sim.cores[i];
        const uint32_t number = engine_group(sim.engine, i);
        if (number == 0)
            continue;
        if (members == NULL)
            members = members_new();
        const bool is_first = i == 0 || engine_group(sim.engine, i - 1) != number;
        struct group *g = is_first ? group_new(i, members) : sim.cores[i - 1].place->group;
        c->place = take(sizeof *c->place);
        if (c->place == NULL || g == NULL)
            return false;
        c->place->group = g;
        c->place->rank.task = i;
        c->place->rank.number = i;
        // Its tasks go by an order, whatever that is.
        c->scheduling.by_deadline = true;
        place_core(c);
    }
    return true;
}
