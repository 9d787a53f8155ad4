// SPDX-License-Identifier: Apache-2.0
// A kernel's turns: what it does between tasks, and when something comes to its core.

#include <string.h>

#include "private.h"

static inline void finish_departure(struct sim_core *c)
{
    static const enum wb_task_state states[] = { [GO_READY] = WB_TASK_READY,
                                                 [GO_INTERRUPTED] = WB_TASK_READY,
                                                 [GO_CAPTURED] = WB_TASK_READY,
                                                 [GO_BLOCKED] = WB_TASK_BLOCKED,
                                                 [GO_ENDED] = WB_TASK_ENDED };
    struct wb_task *task = c->left;

    if (__builtin_expect(c->scheduling.slice_ps != 0, 0) && sim_end_slice(c) &&
        c->after == GO_INTERRUPTED)
        c->after = GO_READY;
    c->left = NULL;
    if (__builtin_expect(c->scheduling.is_fair, 0) && c->after >= GO_BLOCKED)
        sim_stop_sharing(c, task, c->after == GO_BLOCKED);
    if (__builtin_expect(c->place != NULL, 0) && c->after >= GO_BLOCKED)
        sim_leave_shared(c, task);
    if (c->after == GO_AWAY) {
        engine_forget(sim.engine, c->core->index, task->id);
        wb_task_departed(task, c->parked_ns, sim_now_ns());
        return;
    }
    if (c->after == GO_CAPTURED)
        wb_task_captured(task);
    wb_task_paused(task, states[c->after], sim_now_ns());
    if (c->after == GO_INTERRUPTED)
        sim_queue_interrupted(c, task);
    else if (states[c->after] == WB_TASK_READY)
        sim_queue(c, task);
}

static inline void fall_asleep(struct sim_core *c)
{
    if (c->power.idle)
        return;
    c->power.idle = true;
    c->slept_ps = sim.engine->now_ps;
    engine_idle(sim.engine, c->core->index);
    if (__builtin_expect(wb_core_is_let_off(c->core), 0))
        sim_turn_off(c);
    wb_counter_add(&c->core->stats.sleeps, 1);
    if (c->recording.on) {
        sim_record_change(c);
        wb_record_event(c->core, WB_EVENT_SLEEP, UINT32_MAX, 0, 0, sim_now_ns());
    }
}

static void rest(struct sim_core *c)
{
    const uint64_t ps = c->overhead_ps;
    const bool has_pending_bits = sim_has_pending_bits(c);

    // What its kernel did takes its time, and its energy, also if no task came of it. With notes it
    // has put off what it cannot do yet.
    c->overhead_ps = 0;
    if (ps != 0 || has_pending_bits)
        sim_push_in(sim_sum(ps, has_pending_bits ? PS_PER_NS : 0), EVENT_WAKE, c->core->index);
    else
        fall_asleep(c);
}

static inline bool wants_resched(const struct sim_core *c, const struct wb_task *task)
{
    return wb_checkpoint_wanted(task) || c->ready.levels >> wb_sync_priority(&task->sync) > 1 ||
           sim_is_wanted(c);
}

// The core's task begins to run, now. What its kernel does on that occasion the task pays for, what
// interrupts took since it was chosen, and what it misses in the cache.
static inline __attribute__((always_inline)) enum turn begin(struct sim_core *c)
{
    struct wb_task *task = c->current;

    wb_task_resumed(task, sim_now_ns());
    uint64_t ps = 0;
    if ((c->irq_time_ps | c->overhead_ps) != 0) {
        ps = sim_sum(c->irq_time_ps, c->overhead_ps);
        c->irq_time_ps = c->overhead_ps = 0;
    }
    c->need_resched = wants_resched(c, task);
    sim_become(c);
    if (__builtin_expect(c->scheduling.slice_ps != 0, 0))
        sim_begin_slice(c);
    if (!is_free(c, CHARGE_REFILL)) {
        const uint64_t fills_ps = engine_refill(sim.engine, sim_in(ps), c->core->index, task->id,
                                                task->work.working_bytes);
        c->transfers |= fills_ps != 0;
        ps = sim_sum(ps, fills_ps);
    }
    if (ps == 0 || sim_passes(ps))
        return TURN_TASK;
    if (c->switching.goes_on)
        sim_begin_computing(c, ps);
    else
        sim_hold(c, ps);
    return TURN_NOTHING;
}

// The time of what a kernel did is over, but others have come in the way of what it copied.
static inline bool lags(struct sim_core *c, enum sim_event ends)
{
    if (__builtin_expect(!c->transfers, 1))
        return false;
    const uint64_t ps = engine_transfer_delay(sim.engine, c->core->index);
    c->transfers = ps != 0;
    if (ps != 0)
        sim_push_in(ps, ends, c->core->index);
    return ps != 0;
}

// Nothing to choose from so far: to fall asleep need not wait for the end of the instant where it
// costs nothing to be woken before that.
static inline bool may_doze(const struct sim_core *c)
{
    return !sim_has_ready(c, 0) && c->skips.dozes && c->overhead_ps == 0 &&
           !sim_has_pending_bits(c);
}

static inline struct wb_task *pop(struct sim_core *c)
{
    if (__builtin_expect(c->scheduling.by_deadline | c->scheduling.is_fair, 0))
        return c->scheduling.is_fair ? sim_pop_fairly(c) : sim_pop_by_deadline(c);
    return ready_pop(&c->ready, 0);
}

enum turn sim_work(struct sim_core *c)
{
    struct engine *engine = sim.engine;

    sim_execute(c, NULL);
    if (c->left != NULL)
        finish_departure(c);
    sim_serve(c);
    if (may_doze(c)) {
        fall_asleep(c);
        return TURN_NOTHING;
    }
    if (sim_is_to_wait(c)) {
        sim_choose(c);
        return TURN_NOTHING;
    }
    struct wb_task *next = pop(c);
    if (next == NULL) {
        rest(c);
        return TURN_NOTHING;
    }
    c->current = next;
    uint64_t ps = c->overhead_ps;
    c->overhead_ps = 0;
    if (!is_free(c, CHARGE_SWITCH))
        ps = sim_sum(ps, c->scheduling.preempts ? sim_let_go(c)
                                                : engine_switch(engine, c->core->index));
    const bool is_over = ps == 0 || sim_passes(ps);
    if (is_over && !lags(c, EVENT_START))
        return begin(c);
    c->switching.starts = true;
    if (!is_over)
        sim_push_in(ps, EVENT_START, c->core->index);
    return TURN_NOTHING;
}

// What ends at the same instant, with the run or before, was no sleep.
static inline void forget_doze(struct sim_core *c)
{
    if (__builtin_expect(c->slept_ps != sim.engine->now_ps, 1))
        return;
    wb_counter_set(&c->core->stats.sleeps, wb_counter_get(&c->core->stats.sleeps) - 1);
    c->slept_ps = 0;
}

// A core that has nothing to do need not wake for the ticks of its agent, if these take no time, no
// energy, and change nothing; nor if it is to be off.
static bool falls_silent(const struct sim_core *c)
{
    enum { TICK_IS_FREE = 1 << WB_ACTION_REPORT | 1 << CHARGE_RUNG };

    if (c->current != NULL || sim_has_ready(c, 0))
        return false;
    if (sim_may_be_off(c))
        return true;
    return c->skips.dozes && (c->free & TICK_IS_FREE) == TICK_IS_FREE && sim.faults == NULL &&
           engine_temperature_mc(sim.engine, c->core->index) == INT32_MIN &&
           wb_agent_is_silent(c->core);
}

static void tick(struct sim_core *c)
{
    c->agent.tick_due = false;
    const uint64_t tick_ns = wb_agent_tick(c->core, sim_now_ns());
    c->agent.silent = tick_ns != WB_FOREVER && falls_silent(c);
    if (tick_ns != WB_FOREVER && !c->agent.silent)
        sim_push(sim_ps(tick_ns), EVENT_TICK, c->core->index);
}

// Each tick that was skipped would have woken it, once.
static uint64_t account(struct sim_core *c)
{
    const uint32_t before = wb_word_load(&c->core->report.periods, WB_RELAXED);
    const uint64_t tick_ns = wb_agent_skip(c->core, sim_now_ns());
    const uint32_t after = wb_word_load(&c->core->report.periods, WB_RELAXED);

    if (!c->power.off)
        wb_counter_add(&c->core->stats.sleeps, after - before);
    return tick_ns;
}

// It ticks again, as if it had all the time.
static __attribute__((noinline)) void end_silence(struct sim_core *c)
{
    c->agent.silent = false;
    sim_push(sim_ps(account(c)), EVENT_TICK, c->core->index);
}

void sim_account_idle(void)
{
    for (uint32_t i = 0; i < sim.system->n_cores; i++) {
        struct sim_core *c = &sim.cores[i];
        if (c->agent.silent && !c->dead)
            (void)account(c);
        if (c->power.idle)
            forget_doze(c);
    }
}

void sim_hear_agents(void)
{
    const uint32_t choice = wb_word_load(&sim.system->control.choice, WB_RELAXED);

    if (choice == sim.choice)
        return;
    sim.choice = choice;
    for (uint32_t i = 0; i < sim.system->n_cores; i++)
        if (sim.cores[i].agent.silent && !sim.cores[i].power.off && !sim.cores[i].dead)
            end_silence(&sim.cores[i]);
}

// The place of a task among those that an inbox tells of.
static inline uint32_t turn_of(const struct wb_task *task)
{
    return task->id / 32 % 32 << 27 | task->id / 1024 << 5 | task->id % 32;
}

// Notes in place of what the core has been told without them.
static void post_woken(struct sim_core *c)
{
    struct wb_inbox *inbox = &c->core->inbox;

    for (uint32_t i = 0; i < c->woken.n; i++) {
        const uint32_t id = c->woken.tasks[i]->id;
        (void)wb_word_or(&inbox->words[id / 32], 1u << id % 32, WB_RELAXED);
        (void)wb_word_or(&inbox->summary, 1u << id / 32 % 32, WB_RELAXED);
    }
    c->woken.n = 0;
}

// Acts on what woken tasks wait for, as wb_agent_serve() does on notes. False: something else has
// to be done as well.
static bool serve_woken(struct sim_core *c)
{
    const uint32_t n = c->woken.n;

    if (!c->skips.is_quick || sim_has_notes(c) || sim_is_asked(c))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct wb_task *task = c->woken.tasks[i];
        if (!wb_owner_state_is_kept(wb_word_load(&task->owner_state, WB_RELAXED), c->core->index) ||
            wb_sync_must_reevaluate(&task->sync))
            return false;
    }
    c->woken.n = 0;
    for (uint32_t i = 0; i < n; i++)
        wb_kernel_unblock(c->woken.tasks[i]);
    wb_counter_add(&c->core->stats.notes, n);
    return true;
}

// Where kernels preempt, only they do, and no task in their place.
void sim_take_pending_bits(struct sim_core *c)
{
    if (c->scheduling.preempts && sim.self != NULL)
        return;
    if (sim_has_pending_bits(c) && !serve_woken(c)) {
        post_woken(c);
        (void)wb_agent_serve(c->core);
    }
    if (c->agent.tick_due)
        tick(c);
}

// As a checkpoint does, or a wait, where that lets nobody else run and takes no time. A task that
// looks at the clock may wait for it (look_at_clock() in kernel.c).
bool sim_serves(void)
{
    struct sim_core *c = sim.here;
    struct wb_task *task = sim.self;

    if (!sim.stepping || c->agent.tick_due || !is_free(c, WB_ACTION_CHECKPOINT) ||
        wb_request_phase(wb_word_load(&task->request, WB_RELAXED)) != WB_REQUEST_NONE ||
        kernel_task(task)->sim.polls.last_ps == sim.engine->now_ps || !serve_woken(c))
        return false;
    sim_keep_need_resched(c);
    return c->need_resched == 0;
}

// Returns for how long it still sleeps.
static inline uint64_t rouse(struct sim_core *c)
{
    c->power.idle = false;
    if (__builtin_expect(c->agent.silent, 0))
        end_silence(c);
    if (__builtin_expect(c->power.off, 0))
        sim_turn_on(c);
    forget_doze(c);
    sim_record_power(c);
    const uint64_t ps = engine_wake(sim.engine, c->core->index);
    if (c->recording.on) {
        sim_record_change(c);
        wb_record_event(c->core, WB_EVENT_AWAKE, UINT32_MAX, 0, 0, sim_now_ns());
    }
    return ps;
}

void sim_wake(struct sim_core *c)
{
    const uint64_t ps = c->power.idle ? rouse(c) : UINT64_MAX;

    if (ps == 0)
        sim_choose(c);
    else if (ps != UINT64_MAX)
        sim_push_in(ps, EVENT_WAKE, c->core->index);
}

void sim_keep_need_resched(struct sim_core *c)
{
    c->need_resched = c->current != NULL && wants_resched(c, c->current);
    if (sim.here == c && sim.self != NULL)
        wb_word_store(&wb_kernel_need_resched, c->need_resched, WB_RELAXED);
}

void sim_make_ready(struct sim_core *c, struct wb_task *task)
{
    sim_queue(c, task);
    if (c->current == NULL) {
        // Another core of its group may get the task; what this one owes takes its time here.
        if (c->place == NULL || c->overhead_ps != 0)
            sim_wake(c);
        return;
    }
    sim_keep_need_resched(c);
    if (__builtin_expect(c->scheduling.slice_ps != 0, 0))
        sim_time_slice(c);
}

// A kernel's timers are its own: on another core they must not wake a task that is just arriving.
static void stop_timers(const struct sim_core *c)
{
    for (uint32_t i = 0; i < sim.system->n_tasks; i++) {
        struct wb_task *task = &sim.system->tasks[i];
        const uint32_t owner_state = wb_word_load(&task->owner_state, WB_RELAXED);
        if (wb_owner_of(owner_state) == c->core->index)
            sim_stop_timer(task);
    }
}

void sim_kill(struct sim_core *c)
{
    stop_timers(c);
    post_woken(c);
    c->dead = true;
    c->skips.rings_at_once = c->skips.is_quick = false;
    c->current = c->left = NULL;
    c->computing.event = c->hold.event = 0;
    c->irq.masked = c->irq.pends = c->switching.starts = c->switching.goes_on = c->choice.in_turn =
        false;
    c->interrupted = NULL;
    c->scheduling.slice_ps = 0;
    c->need_resched = 0;
    memset(&c->ready, 0, sizeof c->ready);
    if (c->fair != NULL)
        sim_forget_shares(c);
    if (c->place != NULL)
        sim_kill_shared(c);
    sim_record_power(c);
    engine_idle(sim.engine, c->core->index);
    sim_record_change(c);
}

// Of what it had begun nothing is under way any more: it was stopped for long enough.
void sim_start_again(struct sim_core *c)
{
    c->dead = false;
    wb_core_starts_again(c->core);
    c->agent.tick_due = true;
    c->agent.silent = c->power.idle = c->irq.rung = c->choice.is_due = false;
    c->overhead_ps = c->irq_time_ps = c->recording.next_ps = 0;
    if (c->place != NULL)
        sim_join_again(c);
    wb_word_store(&c->core->state, WB_CORE_UP, WB_RELAXED);
    sim_push_in(engine_wake(sim.engine, c->core->index), EVENT_WAKE, c->core->index);
}

// ---- Events -------------------------------------------------------------------------------------

static uint32_t point_of(const struct sim_core *c)
{
    return wb_word_load(&c->core->point, WB_RELAXED);
}

// A change of the operating point does not wait for a checkpoint, nor does the agent that may
// decide on one: what the task still has to compute it computes at the new frequency, after the
// transition. Before a task computes, and while its kernel works, the core looks by itself.
static __attribute__((noinline)) void change_point(struct sim_core *c)
{
    __extension__ typedef unsigned __int128 wide;
    const struct wb_point *points = c->core->points;
    const bool stepping = sim.stepping;
    const uint32_t before = point_of(c);

    // The task is interrupted, but its stack does not execute.
    sim_execute(c, c->current);
    sim.stepping = true;
    if (c->agent.tick_due)
        tick(c);
    else
        wb_agent_obey(c->core);
    sim.stepping = stepping;
    c->irq_time_ps = sim_sum(c->irq_time_ps, c->overhead_ps);
    c->overhead_ps = 0;
    if (point_of(c) == before)
        return;
    const uint64_t left_ps = c->computing.until_ps - sim.engine->now_ps;
    const wide ps = (wide)left_ps * points[before].hz / points[point_of(c)].hz;
    sim_take_back(c->computing.event, EVENT_RESUME);
    sim_begin_computing(c, ps < UINT64_MAX ? (uint64_t)ps : UINT64_MAX);
}

// The task's core is told, and the core's interrupt taken: by a task that runs from its time.
static inline __attribute__((always_inline)) enum turn interrupt(struct sim_core *c)
{
    const uint64_t ps = is_free(c, CHARGE_RUNG) ? 0 : engine_answer(sim.engine, c->core->index);

    if (c->current != NULL) {
        c->irq_time_ps = sim_sum(c->irq_time_ps, ps);
        if (__builtin_expect(c->scheduling.preempts, 0))
            return sim_interrupt(c);
        if (c->computing.event != 0)
            change_point(c);
        sim_keep_need_resched(c);
        return TURN_NOTHING;
    }
    c->overhead_ps = sim_sum(c->overhead_ps, ps);
    if (!c->power.idle)
        return TURN_NOTHING;
    const bool dozed = c->slept_ps == sim.engine->now_ps;
    const uint64_t sleeps_ps = rouse(c);
    if (sleeps_ps != 0)
        sim_push_in(sleeps_ps, EVENT_WAKE, c->core->index);
    else if (dozed)
        sim_choose(c);
    return sleeps_ps == 0 && !dozed ? TURN_WORK : TURN_NOTHING;
}

// ---- At once ------------------------------------------------------------------------------------
// Most of what happens to a core that is quick: its task blocks and it falls asleep, or it is woken
// for one task, which then runs. Each is done in one go here, as the turns above would do it. What
// is not as usual takes its turns.

// Nothing but one task is to come, which nobody wants at a checkpoint.
static inline __attribute__((always_inline)) bool is_woken_only(const struct sim_core *c,
                                                                struct wb_task *task)
{
    return c->skips.is_quick && c->power.idle && !c->power.off && !c->agent.silent &&
           !sim_has_notes(c) && !c->agent.tick_due && !c->transfers &&
           (c->overhead_ps | c->irq_time_ps | c->ready.levels) == 0 &&
           c->slept_ps != sim.engine->now_ps && !sim_instant_goes_on() &&
           at_once_is_empty(&sim.choices) && !sim_is_asked(c) && kernel_task(task)->blocked &&
           wb_word_load(&task->owner_state, WB_RELAXED) ==
               wb_owner_state(WB_TASK_BLOCKED, c->core->index) &&
           wb_request_phase(wb_word_load(&task->request, WB_RELAXED)) == WB_REQUEST_NONE &&
           !wb_sync_must_reevaluate(&task->sync);
}

static inline __attribute__((always_inline)) enum turn run_woken(struct sim_core *c,
                                                                 struct wb_task *task)
{
    c->power.idle = false;
    (void)engine_wake(sim.engine, c->core->index);
    kernel_task(task)->blocked = false;
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_RUNNING, c->core->index), WB_RELAXED);
    task->resumed_ns = sim_now_ns();
    wb_counter_add(&task->stats.runs, 1);
    c->current = task;
    c->need_resched = 0;
    sim_become(c);
    return TURN_TASK;
}

// The doorbell has rung for tasks without a note.
static inline enum turn ring_woken(struct sim_core *c)
{
    struct wb_task *task = c->woken.tasks[0];

    if (c->woken.n != 1 || kernel_task(task)->timer != 0 || !is_woken_only(c, task))
        return interrupt(c);
    c->woken.n = 0;
    wb_counter_add(&c->core->stats.notes, 1);
    return run_woken(c, task);
}

// Leaves the task with its core: those before it there come earlier in the inbox. Of too many there
// are notes, as of tasks of cores that are not quick.
bool sim_wakes(struct wb_task *task)
{
    if (sim.self == NULL || !sim.here->skips.is_quick)
        return false;
    struct sim_core *c = &sim.cores[wb_task_core(task)];
    if (!c->skips.is_quick || c == sim.here)
        return false;
    uint32_t at = c->woken.n;
    while (at > 0 && turn_of(c->woken.tasks[at - 1]) > turn_of(task))
        at--;
    if (at == 0 || c->woken.tasks[at - 1] != task) {
        if (c->woken.n == WOKEN) {
            post_woken(c);
            return false;
        }
        for (uint32_t i = c->woken.n++; i > at; i--)
            c->woken.tasks[i] = c->woken.tasks[i - 1];
        c->woken.tasks[at] = task;
    }
    if (!c->irq.rung) {
        c->irq.rung = true;
        sim_ring_now(c);
    }
    return true;
}

bool sim_falls_asleep(struct sim_core *c, struct wb_task *task)
{
    if (!c->skips.is_quick || (c->overhead_ps | c->ready.levels) != 0 ||
        wb_core_is_let_off(c->core) || task->poll_mark_ns != 0 || task->open)
        return false;
    const uint64_t now_ns = sim_now_ns(), busy_ns = now_ns - task->resumed_ns;
    task->resumed_ns = now_ns;
    wb_counter_add(&task->stats.busy_ns, busy_ns);
    wb_counter_add(&c->core->stats.busy_ns, busy_ns);
    wb_counter_add(&c->core->stats.switches, 1);
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_BLOCKED, c->core->index), WB_RELAXED);
    c->current = NULL;
    sim_execute(c, NULL);
    c->power.idle = true;
    c->slept_ps = sim.engine->now_ps;
    engine_idle(sim.engine, c->core->index);
    wb_counter_add(&c->core->stats.sleeps, 1);
    return true;
}

enum turn sim_end_block(uint32_t number, struct sim_core **core)
{
    struct wb_task *task = &sim.system->tasks[number];

    kernel_task(task)->timer = 0;
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_RELAXED);
    struct sim_core *c = *core = &sim.cores[wb_owner_of(owner_state)];
    if (!sim.run.paused && c->woken.n == 0 && is_woken_only(c, task)) {
        sim_count_choice();
        return run_woken(c, task);
    }
    sim_execute(c, NULL);
    if (__builtin_expect(c->scheduling.preempts, 0))
        return sim_timer(c, task);
    wb_kernel_unblock(task);
    return TURN_NOTHING;
}

// The same of a task.
static bool transfers_on(struct sim_core *c)
{
    const uint64_t ps = engine_transfer_delay(sim.engine, c->core->index);

    c->transfers = ps != 0;
    if (ps != 0)
        sim_hold(c, ps);
    return ps != 0;
}

static inline enum turn resume(struct sim_core *c)
{
    c->computing.event = 0;
    if (c->irq_time_ps != 0) {
        sim_hold(c, c->irq_time_ps);
        c->irq_time_ps = 0;
        return TURN_NOTHING;
    }
    if (__builtin_expect(c->transfers, 0) && transfers_on(c))
        return TURN_NOTHING;
    sim_become(c);
    return TURN_TASK;
}

enum turn sim_rung(struct sim_core *c)
{
    if (c->dead)
        return TURN_NOTHING;
    c->irq.rung = false;
    return c->woken.n != 0 ? ring_woken(c) : interrupt(c);
}

enum turn sim_chooses(struct sim_core *c)
{
    c->choice.is_due = false;
    if (c->dead)
        return TURN_NOTHING;
    c->choice.in_turn = true;
    enum turn turn = TURN_WORK;
    if (__builtin_expect(c->scheduling.preempts, 0))
        turn = c->place == NULL || sim_grant(c) ? sim_reconsider(c) : TURN_NOTHING;
    const enum turn next = turn == TURN_WORK ? sim_work(c) : turn;
    c->choice.in_turn = false;
    return next;
}

enum turn sim_core_event(struct sim_core *c, uint32_t kind)
{
    if (c->dead)
        return TURN_NOTHING;
    switch (kind) {
    case EVENT_RESUME:
        return resume(c);
    case EVENT_START:
        if (lags(c, EVENT_START))
            return TURN_NOTHING;
        sim_execute(c, NULL);
        c->switching.starts = false;
        return __builtin_expect(c->irq.pends, 0) && !sim_still_starts(c) ? TURN_WORK : begin(c);
    case EVENT_WAKE:
        return lags(c, EVENT_WAKE) ? TURN_NOTHING : TURN_WORK;
    case EVENT_SLICE:
        return sim_slice_is_over(c);
    case EVENT_RING:
        c->irq.rung = false;
        break;
    default:
        c->agent.tick_due = true;
        break;
    }
    return interrupt(c);
}
