// SPDX-License-Identifier: Apache-2.0
// The event loop: takes events in the order of virtual time and lets cores act on them.

#define _GNU_SOURCE
#include "private.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "faults.h"

void context_switch(void **save, void *load);

struct sim sim;

_Alignas(PAGE_BYTES) struct wb_word wb_kernel_need_resched;

// From a fault of a kernel, or of the launcher; from the midst of a kernel that has been stopped.
static jmp_buf out_of_loop;

enum { BY_FAULT = 1, BY_DEATH };

// It may let a task run.
static inline bool matters(uint32_t kind)
{
    return kind - EVENT_RESUME <= EVENT_COMMAND - EVENT_RESUME;
}

uint64_t sim_push(uint64_t at_ps, enum sim_event kind, uint32_t index)
{
    sim.alive += matters(kind);
    return engine_push(sim.engine, at_ps, event_of(kind, index));
}

uint64_t sim_push_in(uint64_t ps, enum sim_event kind, uint32_t index)
{
    return sim_push(sim_in(ps), kind, index);
}

void sim_hold(struct sim_core *c, uint64_t ps)
{
    c->hold.until_ps = sim_in(ps);
    c->hold.event = sim_push(c->hold.until_ps, EVENT_RESUME, c->core->index);
}

// What happens at once has no need of the queue.
static void put_at_once(struct at_once *ring, struct sim_core *c)
{
    sim.alive++;
    ring->cores[ring->last++ & sim.now_mask] = c;
}

void sim_ring_now(struct sim_core *c)
{
    put_at_once(&sim.now, c);
}

void sim_choose(struct sim_core *c)
{
    if (c->choice.is_due)
        return;
    c->choice.is_due = true;
    put_at_once(&sim.choices, c);
}

void sim_take_back(uint64_t handle, enum sim_event kind)
{
    sim.alive -= engine_cancel(sim.engine, handle) && matters(kind);
}

void sim_stop_timer(struct wb_task *task)
{
    struct kernel_task *kt = kernel_task(task);

    if (kt->timer != 0)
        sim_take_back(kt->until_ns, EVENT_TIMER);
    kt->timer = 0;
}

// Counts an event that the loop is about to handle. `mattered`: it is one of sim.alive.
static inline void count_event(bool mattered)
{
    sim.alive -= mattered;
    if (__builtin_expect(++sim.counted.events == sim.pause_at.event, 0))
        sim.run.paused = true;
}

static inline struct sim_core *take_from(struct at_once *ring)
{
    count_event(true);
    return ring->cores[ring->first++ & sim.now_mask];
}

// Takes the next event of the queue. ENGINE_NOTHING: there is none.
static inline uint64_t take_event(void)
{
    const uint64_t event = engine_pop(sim.engine);

    sim_follow_time();
    if (event != ENGINE_NOTHING)
        count_event(matters(event_kind(event)));
    return event;
}

// Lets the task of a core go on later, and takes what happens before: not at once.
static inline uint64_t exchange(uint64_t resume_ps, const struct sim_core *c)
{
    sim.alive++;
    const uint64_t event =
        engine_exchange(sim.engine, resume_ps, event_of(EVENT_RESUME, c->core->index));
    sim_follow_time();
    count_event(matters(event_kind(event)));
    return event;
}

static struct sim_core *next_core(uint64_t event);

// The same for a task that leaves the thread. While a fault is planned the loop finds out, on its
// own stack: a kernel that is stopped in the midst of its turn would leave a borrowed one unusable.
// Also where kernels preempt: whose context a kernel gives to others has left its stack.
static struct sim_core *next_from_task(void)
{
    return __builtin_expect(!sim.careful, 1) ? next_core(ENGINE_NOTHING) : NULL;
}

// The same for one that lets time pass until later than the next event.
static struct sim_core *next_before(uint64_t until_ps)
{
    if (sim_acts_at_once() || sim.careful || sim.run.paused) {
        sim_hold(sim.here, until_ps - sim.engine->now_ps);
        return next_from_task();
    }
    return next_core(exchange(until_ps, sim.here));
}

// ---- A task that executes -----------------------------------------------------------------------

// Gives the thread to the task of a core, or to the loop for NULL; returns when this task has it
// again. `c` may have it already: then nothing has to be switched.
static void give_thread(struct wb_task *self, const struct sim_core *c)
{
    struct kernel_task *kt = kernel_task(self);

    if (c != NULL && c->current == self)
        return;
    void *const sp = sim_change_stacks(self, c != NULL ? c->current : NULL);
    if (c != NULL)
        sanitizer_leave(&kt->fake_stack, c->current->stack, c->current->stack_bytes);
    else
        sanitizer_leave(&kt->fake_stack, NULL, 0);
    context_switch(&kt->sp, sp);
    sanitizer_enter(kt->fake_stack);
}

void sim_spend(uint64_t ps)
{
    if (sim.self == NULL || sim.stepping) {
        if (sim.here != NULL)
            sim.here->overhead_ps = sim_sum(sim.here->overhead_ps, ps);
        return;
    }
    if (ps == 0 || sim_passes(ps))
        return;
    struct wb_task *self = sim.self;
    libc_state_save(&kernel_task(self)->libc);
    give_thread(self, next_before(sim_in(ps)));
    libc_state_restore(&kernel_task(self)->libc);
}

void sim_begin_computing(struct sim_core *c, uint64_t ps)
{
    c->computing.until_ps = sim_in(ps);
    c->computing.event = sim_push(c->computing.until_ps, EVENT_RESUME, c->core->index);
}

void sim_compute(uint64_t cycles)
{
    struct sim_core *c = sim.here;
    struct wb_task *self = sim.self;

    if (!c->scales) {
        if (c->has_agent)
            sim_obey(c);
        c->computing.event = c->has_agent ? UNTOLD : 0;
        sim_spend(engine_compute(sim.engine, c->core->index, cycles));
        c->computing.event = 0;
        return;
    }
    if (!c->scheduling.preempts)
        wb_agent_obey(c->core);
    const uint64_t ps = engine_compute(sim.engine, c->core->index, cycles);
    if (ps == 0 || sim_passes(ps))
        return;
    libc_state_save(&kernel_task(self)->libc);
    sim_begin_computing(c, ps);
    give_thread(self, next_from_task());
    libc_state_restore(&kernel_task(self)->libc);
}

static bool has_images(void)
{
    for (uint32_t i = 0; i < sim.system->n_tasks; i++)
        if (sim.system->tasks[i].checkpoint_every != 0)
            return true;
    return false;
}

// What their kernels do takes no time, and nobody is told.
static void find_quick_cores(void)
{
    const uint32_t costs =
        1u << WB_ACTION_SERVE | 1u << CHARGE_SWITCH | 1u << CHARGE_RUNG | 1u << CHARGE_REFILL;
    const bool may_be = !sim.charges.counted && sim.faults == NULL && !has_images();

    for (uint32_t i = 0; i < sim.system->n_cores; i++) {
        struct sim_core *c = &sim.cores[i];
        const struct sim_scheduling *scheduling = &c->scheduling;
        c->skips.is_quick = may_be && c->skips.takes_steps && c->skips.rings_at_once &&
                            c->skips.dozes && (c->free & costs) == costs && !c->dead &&
                            !scheduling->preempts && !scheduling->by_deadline &&
                            !scheduling->is_fair && scheduling->slice_ps == 0;
    }
}

void sim_set_counting(bool counts)
{
    sim.charges.counted = counts;
    for (uint32_t i = 0; i < sim.system->n_cores; i++)
        sim.cores[i].uncounted = counts ? 0 : sim.cores[i].free;
    find_quick_cores();
    if (sim.here != NULL)
        sim_execute(sim.here, sim.self);
    else
        sim_execute_launcher();
}

void sim_count(uint64_t fuel)
{
    sim.charges.fuel = fuel;
    if (!sim.charges.counted)
        sim_set_counting(true);
}

void sim_pause(void)
{
    sim.run.paused = true;
    if (sim.self == NULL || sim.stepping)
        return;
    struct wb_task *self = sim.self;
    sim.pending = event_of(EVENT_RESUME, sim.here->core->index);
    libc_state_save(&kernel_task(self)->libc);
    give_thread(self, NULL);
    libc_state_restore(&kernel_task(self)->libc);
}

static void drop(struct at_once *ring)
{
    while (!at_once_is_empty(ring))
        (void)take_from(ring);
}

void sim_pass(uint64_t ps)
{
    if (sim.run.on || sim.engine == NULL) {
        sim_spend(ps);
        return;
    }
    const uint64_t until_ps = sim_in(ps), stop = sim_push(until_ps, EVENT_STOP, 0);
    sim.run.patient = true;
    (void)sim_run();
    sim_take_back(stop, EVENT_STOP);
    if (sim.engine->now_ps == until_ps)
        return;
    // It ended before: whatever would still happen happens to nobody.
    drop(&sim.now);
    drop(&sim.choices);
    while (sim.engine->now_ps < until_ps)
        if (until_ps < sim.engine->next_ps)
            sim.engine->now_ps = until_ps;
        else
            (void)take_event();
    sim_follow_time();
}

void sim_halt(void)
{
    sigset_t none;
    void *nowhere;

    // Out of a signal handler, too.
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    sim.run.halted = true;
    if (sim.self == NULL || sim.stepping)
        longjmp(out_of_loop, BY_FAULT);
    sanitizer_leave(NULL, NULL, 0);
    context_switch(&nowhere, sim.loop.sp);
    __builtin_unreachable();
}

void sim_abandon(void)
{
    void *nowhere;

    if (sim.self == NULL)
        longjmp(out_of_loop, BY_DEATH);
    sanitizer_leave(NULL, NULL, 0);
    context_switch(&nowhere, sim.loop.sp);
    __builtin_unreachable();
}

// Kernels take their turns on the stack of the task that has just lost the thread: one switch from
// it to the next task, not two. But for a task that goes elsewhere, is captured, or ends: others
// look at its context, or have no more use for its stack, so that is left first.
void sim_leave(enum after after)
{
    struct sim_core *c = sim.here;
    struct wb_task *self = sim.self;

    libc_state_save(&kernel_task(self)->libc);
    c->left = self;
    c->after = after;
    c->current = NULL;
    give_thread(self, after <= GO_INTERRUPTED || after == GO_BLOCKED ? next_from_task() : NULL);
    libc_state_restore(&kernel_task(self)->libc);
}

// ---- Events -------------------------------------------------------------------------------------

// How often the launcher of real kernels looks for overdue migrations, too.
static void sweep(void)
{
    enum { SWEEP_PS_LOG = 34 };  // 17 ms

    wb_system_sweep(sim.system, sim_now_ns());
    if (sim.faults != NULL)
        faults_look();
    sim_push_in(UINT64_C(1) << SWEEP_PS_LOG, EVENT_SWEEP, 0);
}

static void heat(void)
{
    sim_record_all_power();
    const uint64_t next_ps = engine_heat(sim.engine);
    for (uint32_t i = 0; i < sim.system->n_cores; i++) {
        sim_record_change(&sim.cores[i]);
        const int32_t mc = engine_temperature_mc(sim.engine, i);
        if (mc != INT32_MIN)
            wb_record_event(sim.cores[i].core, WB_EVENT_TEMPERATURE, UINT32_MAX, 0, (uint32_t)mc,
                            sim_now_ns());
    }
    if (next_ps != UINT64_MAX)
        sim_push(next_ps, EVENT_HEAT, 0);
}

static __attribute__((noinline)) void act_for_launcher(uint64_t event)
{
    sim_execute_launcher();
    switch (event_kind(event)) {
    case EVENT_SWEEP:
        sweep();
        break;
    case EVENT_HEAT:
        heat();
        break;
    case EVENT_COMMAND:
        sim.command(event_index(event));
        sim_hear_agents();
        break;
    case EVENT_FAULT:
        faults_stop(event_index(event));
        break;
    default:
        sim.run.paused = true;
        break;
    }
}

// What comes of it on a core, which is set then.
static inline enum turn act(uint64_t event, struct sim_core **core)
{
    const uint32_t kind = event_kind(event);

    if (kind < EVENT_TIMER) {
        *core = &sim.cores[event_index(event)];
        return sim_core_event(*core, kind);
    }
    if (kind == EVENT_TIMER)
        return sim_end_block(event_index(event), core);
    act_for_launcher(event);
    return TURN_NOTHING;
}

static bool have_all_ended(void)
{
    return wb_word_load(&sim.system->live, WB_RELAXED) == 0 ||
           (sim.islands.apart && sim.islands.live == 0);
}

// A run with islands is over once its last instant is: which of them was the last in it only the
// order of things that have nothing to do with each other could tell.
static bool is_over(void)
{
    if (!have_all_ended() || !sim.islands.on)
        return have_all_ended();
    return !sim_acts_at_once() && sim.engine->next_ps > sim.engine->now_ps &&
           sim.engine->next_ps > sim.islands.until_ps;
}

static inline bool is_to_be_left(void)
{
    const bool is_deadlocked = sim.alive == 0 && !sim.run.patient;

    return sim.run.paused || is_over() || (is_deadlocked && !have_all_ended());
}

// What happens without the queue comes first. False: nothing does.
static inline bool acts_at_once(struct sim_core **core, enum turn *turn)
{
    if (!at_once_is_empty(&sim.now)) {
        *core = take_from(&sim.now);
        *turn = sim_rung(*core);
        return true;
    }
    if (at_once_is_empty(&sim.choices) || sim_instant_goes_on())
        return false;
    *core = take_from(&sim.choices);
    *turn = sim_chooses(*core);
    return true;
}

// The core whose task executes next, after an event that has been taken if there is one; NULL: the
// loop is to be left, or nothing happens any more.
static struct sim_core *next_core(uint64_t event)
{
    struct sim_core *c = sim.here;
    enum turn turn =
        event == ENGINE_NOTHING && c != NULL && c->left != NULL ? TURN_WORK : TURN_NOTHING;

    for (;; event = ENGINE_NOTHING) {
        while (turn == TURN_WORK || turn == TURN_TASK)
            turn = turn == TURN_WORK ? sim_work(c) : sim_step(c);
        if (turn == TURN_STACK)
            return c;
        if (turn == TURN_LATER) {
            event = exchange(sim.resume_ps, c);
        } else if (event == ENGINE_NOTHING) {
            if (is_to_be_left())
                return NULL;
            if (acts_at_once(&c, &turn))
                continue;
            event = take_event();
            if (event == ENGINE_NOTHING)
                return NULL;
        }
        turn = act(event, &c);
    }
}

static enum sim_end run(void)
{
    const uint64_t pending = sim.pending;

    sim.pending = ENGINE_NOTHING;
    struct sim_core *c = next_core(pending);
    while (c != NULL) {
        const struct wb_task *task = c->current;
        void *const sp = sim_change_stacks(NULL, c->current);
        sanitizer_leave(&sim.loop.fake_stack, task->stack, task->stack_bytes);
        context_switch(&sim.loop.sp, sp);
        sanitizer_enter(sim.loop.fake_stack);
        c = sim.run.halted ? NULL : next_core(ENGINE_NOTHING);
    }
    return sim.run.halted   ? SIM_FAULT
           : is_over()      ? SIM_OVER
           : sim.run.paused ? SIM_PAUSED
                            : SIM_DEADLOCK;
}

enum sim_end sim_run(void)
{
    sim.run.on = true;
    sim.run.paused = sim.stepping = false;
    sim_hear_agents();
    const enum sim_end end = setjmp(out_of_loop) != BY_FAULT ? run() : SIM_FAULT;
    sim.run.on = false;
    sim_execute_launcher();
    return end;
}

// ---- Some of the cores --------------------------------------------------------------------------

static const bool *kept;

static bool keep_event(uint64_t event)
{
    const uint32_t kind = event_kind(event), index = event_index(event);

    if (kind > EVENT_TIMER)
        return true;
    const bool is_kept =
        kept[kind == EVENT_TIMER ? wb_task_core(&sim.system->tasks[index]) : index];
    sim.alive -= !is_kept && matters(kind);
    return is_kept;
}

// The ring was in memory that all share.
static bool keep_at_once(struct at_once *ring)
{
    struct at_once own = { calloc(sim.now_mask + 1, sizeof *own.cores), 0, 0 };

    for (uint32_t i = ring->first; own.cores != NULL && i != ring->last; i++) {
        struct sim_core *c = ring->cores[i & sim.now_mask];
        if (kept[c->core->index])
            own.cores[own.last++] = c;
        else
            sim.alive--;
    }
    *ring = own;
    return own.cores != NULL;
}

bool sim_keep_cores(const bool *cores)
{
    kept = cores;
    sim.islands.apart = true;
    sim.islands.live = 0;
    for (uint32_t i = 0; i < sim.system->n_tasks; i++) {
        const struct wb_task *task = &sim.system->tasks[i];
        sim.islands.live += cores[wb_task_core(task)] &&
                            !wb_state_is_over(wb_word_load(&task->owner_state, WB_RELAXED));
    }
    engine_retain(sim.engine, keep_event);
    return keep_at_once(&sim.now) && keep_at_once(&sim.choices);
}

void kernel_task_start(struct wb_task *task)
{
    sanitizer_enter(NULL);
    libc_state_restore(&kernel_task(task)->libc);
    if (task->mode == WB_RECREATE)
        wb_recreation_begin(task);
    wb_task_main(task);
}

// As the platform says; where tests have all kernels preempt, also of those that do not by it.
static bool choose_scheduling(void)
{
    const bool all = sim.preempts;
    bool has_order = false;

    for (uint32_t i = 0; i < sim.system->n_cores; i++) {
        struct sim_core *c = &sim.cores[i];
        const uint32_t scheduling = engine_scheduling(sim.engine, i);
        c->scheduling.by_deadline = scheduling == EARLIEST_DEADLINE;
        c->scheduling.is_fair = scheduling == FAIR;
        c->scheduling.slice_ps = engine_slice(sim.engine, i);
        c->scheduling.tick_ps = engine_tick(sim.engine, i);
        c->scheduling.slack_ps = engine_timer_slack(sim.engine, i);
        has_order |= c->scheduling.is_fair ||
                     (c->scheduling.by_deadline && engine_group(sim.engine, i) == 0);
        if (all || scheduling != COOPERATIVE)
            sim_preempt_on(c);
    }
    return (!has_order || sim_share()) && sim_join_groups();
}

bool sim_start(void)
{
    for (uint32_t i = 0; i < sim.system->n_cores; i++) {
        struct sim_core *c = &sim.cores[i];
        c->free = engine_free_charges(sim.engine, i);
        c->uncounted = sim.charges.counted ? 0 : c->free;
        c->agent.tick_due = true;
        c->recording.on = c->core->record.events.slots != 0;
        c->skips.rings_at_once = !c->recording.on && is_free(c, CHARGE_NOTICE);
        c->skips.dozes = sim.engine->cores[i].is_plain;
        c->skips.takes_steps = (c->free & STEPS_ARE_FREE) == STEPS_ARE_FREE;
        c->skips.takes_all =
            c->skips.takes_steps && (c->free & MESSAGES_ARE_FREE) == MESSAGES_ARE_FREE;
        wb_word_store(&c->core->state, WB_CORE_UP, WB_RELAXED);
        if (engine_is_off(sim.engine, i)) {
            sim_start_off(c);
            continue;
        }
        // The engine has them idle so far; a task that never rests would draw idle power for ever.
        sim_push_in(engine_wake(sim.engine, i), EVENT_WAKE, i);
        sim_record_start(c);
    }
    sim_push_in(0, EVENT_HEAT, 0);
    sim_push_in(0, EVENT_SWEEP, 0);
    const bool has_memory = choose_scheduling();
    find_quick_cores();
    for (uint32_t i = 0; i < sim.system->n_cores; i++) {
        struct sim_core *c = &sim.cores[i];
        c->has_agent = sim.system->reports;
        c->scales = c->core->n_points > 1 || (c->has_agent && c->scheduling.preempts);
    }
    return has_memory;
}

void kernel_set_system(struct wb_system *system)
{
    sim.system = system;
}

struct wb_system *kernel_system(void)
{
    return sim.system;
}
