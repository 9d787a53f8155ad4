// SPDX-License-Identifier: Apache-2.0
// The simulator's kernels: what their files share.
//
// One process, one thread. Every core has a kernel that exists only as the state in struct sim_core
// and as turns of the event loop (loop.c); every task is a context with a stack of its own. What is
// being executed is executed at engine->now_ps. When it lets time pass and nothing else is to
// happen before, time simply moves on; otherwise it is suspended, and the events in between come
// first. So whatever tasks and kernels do to shared memory they do in the order of virtual time.
#ifndef WB_SIM_PRIVATE_H
#define WB_SIM_PRIVATE_H

#include "engine.h"
#include "order.h"
#include "process.h"

enum { PS_PER_NS = 1000, PACKED_BYTES = 512, WOKEN = 7 };

// What becomes of a task that leaves its core. INTERRUPTED: ready, before all of its priority.
enum after { GO_READY, GO_INTERRUPTED, GO_CAPTURED, GO_BLOCKED, GO_AWAY, GO_ENDED };

// A task's share of its core, if the core is fair; its rank, also if the core goes by deadlines.
struct share {
    struct rank rank;
    struct wb_task *task;
    struct share *next, **back;  // in the list of sleepers: the next one, and the link to this one
    int64_t had_ns;              // the task's virtual time
    int64_t deadline_ns;         // virtual time by which the task is to have had its slice
    int64_t keeps_ns;            // virtual time until which the task keeps the core
    uint32_t weight, level;      // level: the priority at which the task competes
    uint32_t core;               // 1 + number of the core for which the task competes; 0: none
    bool sleeps;                 // the task sleeps, and still competes
    bool is_known;               // the task has competed before
    int64_t lag_ns[PRIORITIES];  // by level: how far the task was behind when it left the others
};

// The tasks of one priority that compete for a core.
struct rivals {
    // Of a fair core: all but the chosen one, by deadline, each with its virtual time.
    struct order order;
    struct share *sleepers;
    __extension__ __int128 sum;  // of virtual times, times weights
    uint64_t weight;             // of all; 0: nothing competes
    uint32_t number;
};

// How much of a stack whose pages hold nothing is in `packed_stacks` (packed.c).
struct packed {
    uint32_t bytes;  // 0: none has been written
    uint32_t times;  // that the stack was packed
};

// How a core shares its time, if it is fair or goes by deadlines.
struct fair {
    struct rivals rivals[PRIORITIES];
    uint32_t sleeping;     // bit p: some tasks of priority p sleep
    struct share *chosen;  // the task that was chosen last, while it competes
    bool runs;             // `chosen` has the core
    bool is_due;           // another task is to have the core
    uint64_t since_ps;     // the time of `chosen` is counted up to here
};

// How the kernel of a core schedules. Fixed before the first event.
struct sim_scheduling {
    bool preempts;      // interrupts serve, and a more urgent task takes the core: preempt.c
    bool by_deadline;   // of tasks of one priority, the earliest deadline is the most urgent; or
                        // the core shares its scheduler: group.c
    bool is_fair;       // tasks of one priority share the core by their weights: fair.c
    uint64_t slice_ps;  // the length of a slice; 0: there are no slices
    uint64_t tick_ps;   // how often the kernel looks whether a slice has ended; 0: at its end
    uint64_t slack_ps;  // by how much sleeps of the core's tasks end later
};

// A core and its kernel.
struct sim_core {
    struct wb_core *core;
    struct wb_task *current;  // the task that has the core; NULL: none
    struct wb_task *left;     // the task that has just left, whose departure is to be finished
    enum after after;         // what becomes of `left`
    // Tasks that others have woken, of which the inbox has no notes: in the order in which it would
    // tell of them.
    struct {
        struct wb_task *tasks[WOKEN];
        uint32_t n;
    } woken;
    struct ready ready;
    uint64_t overhead_ps;  // the kernel's work so far, whose time passes before a task runs
    uint64_t irq_time_ps;  // the time that interrupts have taken from `current`
    uint64_t slept_ps;     // when the core last fell asleep
    uint64_t parked_ns;    // when the kernel began to park the task that goes away
    // What `current` computes, on a core that scales or has an agent.
    struct {
        uint64_t event;  // ends it; 0: there is none; UNTOLD: on a core that does not scale
        uint64_t until_ps;
    } computing;
    struct sim_scheduling scheduling;
    struct {
        bool idle;  // the core is in its idle state
        bool off;   // the core draws nothing until it is woken
    } power;
    struct {
        bool rung;    // the doorbell has rung, and the kernel has not seen it
        bool masked;  // interrupts are put off
        bool pends;   // an interrupt came while they were
    } irq;
    struct {
        bool starts;   // the kernel switches to `current`
        bool goes_on;  // `current` continues what it computed
    } switching;
    // What takes no time on this core, so that it needs no event.
    struct {
        bool takes_steps;    // steps of tasks without ports are taken in their place
        bool takes_all;      // and those of all tasks, as messages take no time
        bool rings_at_once;  // a doorbell is neither recorded nor waited for
        bool dozes;          // the core falls asleep and wakes up at one instant
        bool is_quick;       // nothing that the kernel does takes time or is told: core.c
    } skips;
    bool dead;
    // The choice of the next task: after everything else that happens at this instant.
    struct {
        bool is_due;
        bool in_turn;  // the cores whose choice was due earlier have chosen
    } choice;
    struct {
        bool tick_due;
        bool silent;  // no tick is planned, because none would change anything
    } agent;
    bool starved;    // there is no memory to load programs: conform/harness.c
    bool scales;     // what `current` computes may be suspended, or take another time
    bool has_agent;  // an agent reports of the core, also while it computes
    bool transfers;  // transfers of other cores may hold up `current`: resume() in core.c
    struct {
        bool on;            // the core's events are recorded
        uint32_t uw;        // the power that was recorded last
        uint64_t until_ps;  // `uw` is right until then
        uint64_t next_ps;   // and goes on to be until then; 0: something may have changed it
    } recording;
    struct wb_task
        *interrupted;   // the task that was interrupted last: it continues without a switch
    uint64_t timer_ps;  // when the core's own timer interrupted it last
    // The slice of `current`.
    struct {
        bool over;       // it has ended, and tasks that are as urgent wait for that
        uint64_t event;  // ends it, if such tasks wait; 0: there is none
        uint64_t from_ps;
    } slice;
    // The time that `current` lets pass. Only kept where that may be interrupted.
    struct {
        uint64_t event;  // ends it
        uint64_t until_ps;
    } hold;
    uint32_t need_resched;  // wb_kernel_need_resched while `current` runs
    uint32_t free;          // the charges that take no time: engine_free_charges()
    uint32_t uncounted;     // those of `free` that need not be counted
    struct fair *fair;      // NULL: no core is fair or goes by deadlines
    struct place *place;    // in a group of cores that share a scheduler; NULL: in none
};

// What the steps of a task do. They are only taken in its place where that takes no time, as nobody
// could be suspended in the midst of one.
enum {
    STEPS_ARE_FREE = 1 << WB_ACTION_CLAIM | 1 << WB_ACTION_HOLD | 1 << WB_ACTION_COMMIT |
                     1 << WB_ACTION_RELEASE | 1 << WB_ACTION_POST | 1 << WB_ACTION_JOB |
                     1 << CHARGE_RING,
    MESSAGES_ARE_FREE = 1 << WB_ACTION_SEND | 1 << WB_ACTION_RECEIVE
};

// No event's handle.
enum { UNTOLD = 1 };

enum sim_event {
    EVENT_TICK,     // core: the agent's
    EVENT_SLICE,    // core: its task has had its turn
    EVENT_RESUME,   // core: the time that its task let pass is over
    EVENT_START,    // core: its kernel is done, and its task begins to run
    EVENT_WAKE,     // core: it is out of its idle state
    EVENT_RING,     // core: its doorbell
    EVENT_TIMER,    // task: its block ends
    EVENT_COMMAND,  // number of the command that was planned for this time
    EVENT_SWEEP,    // overdue migrations
    EVENT_HEAT,     // temperatures
    EVENT_FAULT,    // the kernel of a core is stopped, as planned
    EVENT_STOP,     // whoever let the simulation run wants it back
};

// An event as a number: what happens, and to which core, task or command.
static inline uint64_t event_of(enum sim_event kind, uint32_t index)
{
    return (uint64_t)index << 32 | kind;
}

static inline uint32_t event_kind(uint64_t event)
{
    return (uint32_t)event;
}

static inline uint32_t event_index(uint64_t event)
{
    return (uint32_t)(event >> 32);
}

enum sim_end {
    SIM_PAUSED,    // by EVENT_STOP or sim_pause()
    SIM_OVER,      // every task is over
    SIM_FAULT,     // see system->fault
    SIM_DEADLOCK,  // tasks wait, and nothing can wake one
};

struct sim {
    struct engine *engine;
    struct wb_system *system;
    struct sim_core *cores;
    // The code that is executed.
    struct sim_core *here;  // its core; NULL: it is the launcher's
    struct wb_task *self;   // its task; NULL: it is a kernel's or the launcher's
    uint32_t free;          // charges that take no time for it and need not be counted
    uint64_t now_ns;        // engine->now_ps, divided once for each time that time moves
    // The event loop, while a task executes.
    struct {
        void *sp;
        void *fake_stack;
    } loop;
    // Since the start.
    struct {
        uint64_t events;
        uint64_t passes;  // how often time passed without an event
        uint64_t steps;   // taken in the place of tasks
    } counted;
    // The loop is left after so many events, or passes.
    struct {
        uint64_t event, pass;
    } pause_at;
    // Cores in order, in rings with room for each: those whose doorbells ring at once, and those
    // that choose their next task after everything else that happens at this instant.
    struct at_once {
        struct sim_core **cores;
        uint32_t first, last;
    } now, choices;
    uint32_t now_mask;   // of positions in a ring
    uint64_t pending;    // an event that is taken, but not yet handled; ENGINE_NOTHING: none
    uint64_t resume_ps;  // see TURN_LATER
    struct {
        bool on;       // the loop runs
        bool paused;   // the loop is to be left
        bool halted;   // a fault has ended the simulation
        bool patient;  // the launcher may wake tasks that nothing else can
    } run;
    bool stepping;   // `self` does not execute on its own stack
    uint32_t alive;  // events that may let a task run: see matters() in loop.c
    struct {
        bool counted;   // also those that take no time
        uint64_t fuel;  // charges left; at 0 a fault is due, or the loop is to be left
    } charges;
    struct polls polls;  // of the launcher
    uint32_t choice;     // the policy for which silent agents have last ticked
    // The cases in which the shortest ways may not be taken.
    bool odd_clock;         // there is no clock yet, or that of a core differs
    bool preempts;          // some kernel preempts
    bool careful;           // faults are planned, or some kernel preempts: next_from_task()
    bool quiet;             // no moment is here, as a task's code is in its kernel
    struct faults *faults;  // NULL: none is planned
    // A task is held up at a moment of its code, as by a handler that takes long. What comes
    // meanwhile preempts it there, and not only where it lets time pass. A moment is a charge, and
    // in tests an access to a word of shared memory (conform/words.h).
    struct holdups {
        uint64_t moments;            // so far
        uint64_t next;               // the moment at which a task is held up; 0: none are counted
        uint64_t ps;                 // for how long
        uint64_t random;             // draws the next moment; 0: there is no other
        const struct wb_task *held;  // the task that is held up now; NULL: none
        void (*on_preempted)(uint32_t core);  // called when `held` has been taken off its core
    } holdups;
    void (*command)(uint32_t number);
    // Of a run whose islands end alone: islands.c.
    struct {
        bool on;            // it has some: its last instant happens to the end
        bool apart;         // this process has only some of them
        uint32_t live;      // tasks of these that are not over
        uint64_t until_ps;  // what happens to idle cores after that, until then
    } islands;
    struct packed *packed;  // of each task
    unsigned char *packed_stacks;
    struct wb_task *left;  // the task whose stack has executed before; NULL: none's
    struct share *shares;  // of each task; NULL: no core is fair or goes by deadlines
};

extern struct sim sim;

// A sum that cannot be told is one that is never reached.
static inline uint64_t sim_sum(uint64_t a, uint64_t b)
{
    return a < UINT64_MAX - b ? a + b : UINT64_MAX;
}

static inline uint64_t sim_ps(uint64_t ns)
{
    return ns < UINT64_MAX / PS_PER_NS ? ns * PS_PER_NS : UINT64_MAX;
}

/// `ps` from now on.
static inline uint64_t sim_in(uint64_t ps)
{
    return sim_sum(sim.engine->now_ps, ps);
}

static inline bool is_free(const struct sim_core *c, uint32_t charge)
{
    return (c->free & 1u << charge) != 0;
}

/// Gives every core its first turn. False: there is no memory for it.
bool sim_start(void);

/// Runs until one of the ends. Only the launcher calls this.
enum sim_end sim_run(void);

/// Lets `ps` pass for whoever executes: a task is suspended for so long, a kernel owes it.
void sim_spend(uint64_t ps);

/// The same; time of the launcher's own passes as well.
void sim_pass(uint64_t ps);

/// Lets the time pass that the running task needs for `cycles`: less or more of it if the core's
/// operating point changes meanwhile.
void sim_compute(uint64_t cycles);

/// The task of a core that scales computes from now on, until an event.
void sim_begin_computing(struct sim_core *c, uint64_t ps);

/// Ends the simulation because of a fault, from within the loop.
_Noreturn void sim_halt(void);

/// Leaves for good what executes on a core that has just been stopped.
_Noreturn void sim_abandon(void);

/// Leaves the loop at the next chance, without anything else being different for it.
void sim_pause(void);

/// Goes on with some of the cores: no other has to do with them. For good. False: there is no
/// memory for it.
bool sim_keep_cores(const bool *cores);

/// From here on `fuel` counts charges down.
void sim_count(uint64_t fuel);

/// Charges are counted, or not any more.
void sim_set_counting(bool counts);

/// Adds an event; returns its handle.
uint64_t sim_push(uint64_t at_ps, enum sim_event kind, uint32_t index);

/// Adds one that happens `ps` from now on.
uint64_t sim_push_in(uint64_t ps, enum sim_event kind, uint32_t index);

/// Rings a core at once.
void sim_ring_now(struct sim_core *c);

/// A core chooses its next task once nothing else happens at this instant: all timers of one
/// instant have fired by then. Cores choose in the order in which they came to do so.
void sim_choose(struct sim_core *c);

/// Takes back one that has not happened yet.
void sim_take_back(uint64_t handle, enum sim_event kind);

/// Takes back the event that ends a task's block, if there is one: while there is, the task's
/// `until_ns` is its handle.
void sim_stop_timer(struct wb_task *task);

/// `from`, or the loop for NULL, is about to give the thread to `to`, or to the loop.
///
/// Returns: the context to switch to.
void *sim_change_stacks(struct wb_task *from, struct wb_task *to);

/// Leaves the core. Returns when the task runs again, maybe on another.
void sim_leave(enum after after);

/// What comes next on a core.
enum turn {
    TURN_NOTHING,  // until an event
    TURN_WORK,     // its kernel looks for work
    TURN_TASK,     // its task goes on,
    TURN_LATER,    // at sim.resume_ps, and something else happens before
    TURN_STACK,    // the same, on its own stack
};

/// By how much the sleeps of a task end later. Real-time tasks, which are more urgent than by
/// default, have no slack, as on Linux.
static inline uint64_t sim_slack_ps(const struct wb_task *task)
{
    enum { DEFAULT_PRIORITY = 8 };

    return wb_own_priority(task) > DEFAULT_PRIORITY ? 0 : sim.here->scheduling.slack_ps;
}

/// A task blocks from here on.
static inline void sim_begin_wait(struct wb_task *task, uint64_t until_ns)
{
    struct kernel_task *kt = kernel_task(task);

    kt->blocked = kt->sim.in_block = true;
    if (until_ns == WB_FOREVER)
        return;
    kt->timer = 1;
    kt->until_ns = sim_push(sim_sum(sim_ps(until_ns), sim_slack_ps(task)), EVENT_TIMER, task->id);
}

/// A task goes on, by a step or on its stack: what it was woken for since it was blocked it looks
/// at now.
static inline void sim_end_wait(struct kernel_task *kt)
{
    if (kt->sim.in_block)
        kt->woken = false;
    kt->sim.in_block = false;
}

/// Takes a step in the place of the task of a core (step.c).
enum turn sim_step(struct sim_core *c);

/// Whether a task's steps are taken in its place on a core.
static inline bool sim_takes_steps(const struct sim_core *c, const struct wb_task *task)
{
    return task->step != NULL &&
           (c->skips.takes_all ||
            (c->skips.takes_steps && task->ports == NULL && task->scripted == NULL));
}

/// Adds the event after which the task of a core goes on.
void sim_hold(struct sim_core *c, uint64_t ps);

// ---- preempt.c: kernels that preempt ------------------------------------------------------------

/// The kernel of a core does. Before the first event.
void sim_preempt_on(struct sim_core *c);

/// All kernels of a simulation do. After wb_host_start(), before the first event.
void sim_preempt(void);

/// From the start on. 0: they do not; 1: they do; a larger number: and tasks are held up at random,
/// by it.
void sim_preempt_by(uint64_t seed);

/// Holds tasks up at random from now on.
void sim_hold_up(uint64_t seed);

/// Tasks' moments are counted from now on, and at the `next` of them one is held up for so long.
void sim_hold_up_at(uint64_t next, uint64_t ps);

/// There is a moment.
void sim_moment(void);

/// An interrupt comes to a core that has a task, which does not execute: the kernel has the core
/// next, or once it is let in.
enum turn sim_interrupt(struct sim_core *c);

/// The same if a task that is ready is more urgent than the one that has the core.
enum turn sim_reschedule(struct sim_core *c);

/// The block of a task of this core is over: an interrupt of its timer.
enum turn sim_timer(struct sim_core *c, struct wb_task *task);

/// Takes the time of an interrupt of its timer.
void sim_charge_timer(struct sim_core *c);

/// Nothing else happens at this instant, in which an interrupt has come: what ends at the same
/// instant has ended.
enum turn sim_reconsider(struct sim_core *c);

/// The task that executes is interrupted, now or once it lets interrupts in.
void sim_give_way(void);

/// The kernel of a core has chosen its task, and lets it have the core. Returns what that takes.
uint64_t sim_let_go(struct sim_core *c);

/// The switch of a core to its task is over. False: something has come meanwhile, so it has none.
bool sim_still_starts(struct sim_core *c);

/// Of a core that is fair, or goes by deadlines: gives a task to its ready queue. By deadlines it
/// is before those of its priority whose deadlines are later, or the same if it was interrupted.
void sim_queue_by_order(struct sim_core *c, struct wb_task *task, bool interrupted);

/// Takes the first of those that it has so; NULL: none is ready.
struct wb_task *sim_pop_by_deadline(struct sim_core *c);

/// The first of a priority that some have which are ready.
struct wb_task *sim_first_by_deadline(const struct sim_core *c, uint32_t priority);

/// Takes a task out of the ready queue of a core. False: it is not there.
bool sim_take_ready(struct sim_core *c, struct wb_task *task);

/// When the deadline of a task's job is; UINT64_MAX: it has none.
static inline uint64_t sim_deadline_ns(const struct wb_task *task)
{
    return task->job_deadline_ns != 0 ? sim_sum(task->release.ns, task->job_deadline_ns)
                                      : UINT64_MAX;
}

static inline void sim_queue(struct sim_core *c, struct wb_task *task)
{
    if (__builtin_expect(c->scheduling.by_deadline | c->scheduling.is_fair, 0))
        sim_queue_by_order(c, task, false);
    else
        ready_push(&c->ready, task);
}

static inline void sim_queue_interrupted(struct sim_core *c, struct wb_task *task)
{
    if (c->scheduling.by_deadline | c->scheduling.is_fair)
        sim_queue_by_order(c, task, true);
    else
        ready_push_first(&c->ready, task);
}

// ---- group.c: cores that share one scheduler ----------------------------------------------------

/// Gives cores that share a scheduler their places. False: there is no memory for it, of which so
/// many bytes are enough.
bool sim_join_groups(void);
size_t sim_group_bytes(uint32_t tasks, uint32_t cores);

/// A task of a core is ready: if it was interrupted, before those that are as urgent.
void sim_queue_shared(struct sim_core *c, struct wb_task *task, bool interrupted);

/// Takes a task that is ready out again. False: it is not.
bool sim_take_shared(struct sim_core *c, struct wb_task *task);

/// Takes the task that a core is to have; NULL: there is none for it.
struct wb_task *sim_pop_shared(struct sim_core *c);

/// Nothing else happens at this instant: the group of a core grants cores to tasks. False: this
/// core sleeps, or has been woken for that and chooses then.
bool sim_grant(struct sim_core *c);

/// Another task is to have the core than the one that has it.
bool sim_is_outdone_shared(const struct sim_core *c);

/// A task of at least this priority waits that the core may have.
bool sim_has_shared(const struct sim_core *c, uint32_t floor);

/// The task that has left the core is not ready.
void sim_leave_shared(struct sim_core *c, struct wb_task *task);

/// The urgency of a task may have changed that is not ready: that of the core.
void sim_follow_shared(struct sim_core *c, struct wb_task *task);

/// A core has been stopped; it starts again.
void sim_kill_shared(struct sim_core *c);
void sim_join_again(struct sim_core *c);

/// Tasks of at least this priority are ready that the core may have.
static inline bool sim_has_ready(const struct sim_core *c, uint32_t floor)
{
    return c->ready.levels >> floor != 0 ||
           (__builtin_expect(c->place != NULL, 0) && sim_has_shared(c, floor));
}

static inline bool sim_is_outdone(const struct sim_core *c)
{
    if (c->current == NULL)
        return false;
    if (c->place != NULL)
        return sim_is_outdone_shared(c);
    const uint32_t p = wb_sync_priority(&c->current->sync);
    const uint32_t levels = c->ready.levels >> p;
    return levels > 1 || (c->scheduling.is_fair && c->fair->is_due) ||
           (c->scheduling.by_deadline && levels == 1 &&
            sim_deadline_ns(sim_first_by_deadline(c, p)) < sim_deadline_ns(c->current));
}

/// The task that executes is of a kernel that preempts.
static inline bool sim_may_be_preempted(void)
{
    return __builtin_expect(sim.preempts, 0) && sim.self != NULL && sim.here->scheduling.preempts;
}

// ---- slice.c: turns of tasks that are equally urgent --------------------------------------------

/// The task of a core begins its slice, or goes on with it.
void sim_begin_slice(struct sim_core *c);

/// Sees to it that the slice of the task of a core ends, if others wait for that.
void sim_time_slice(struct sim_core *c);

/// The task that has left the core has had its slice, or the rest of it later. Returns whether it
/// is over.
bool sim_end_slice(struct sim_core *c);

/// The slice of the task of a core is over.
enum turn sim_slice_is_over(struct sim_core *c);

// ---- fair.c: shares of a core by weight, where it is fair ---------------------------------------

/// Some core is, or goes by deadlines. Before its tasks are ready. False: there is no memory for
/// it.
bool sim_share(void);

/// How large the share of a task is; 0: as usual. Nothing if no core is fair.
void sim_weigh(uint32_t task, uint32_t weight);

/// A task is ready: it comes to the core, or back from having it.
void sim_queue_fairly(struct sim_core *c, struct wb_task *task);

/// Takes the task that goes first; NULL: none is ready.
struct wb_task *sim_pop_fairly(struct sim_core *c);

/// The task that has left the core is not ready any more.
void sim_stop_sharing(struct sim_core *c, struct wb_task *task, bool sleeps);

/// The task that has the core gives up the rest of its slice.
void sim_forfeit(struct sim_core *c);

/// The priority of a task may have changed; of one that is ready sim_queue_fairly() looks itself.
void sim_follow_priority(struct sim_core *c, struct wb_task *task);

/// Others compete with the task that has the core.
bool sim_has_rivals(const struct sim_core *c);

/// Looks at the task that has the core. True: another one is to have it.
bool sim_look(struct sim_core *c);

/// In how long to look next.
uint64_t sim_next_look(const struct sim_core *c);

/// A core has been stopped.
void sim_forget_shares(struct sim_core *c);

// ---- core.c: a kernel's turns -------------------------------------------------------------------

/// Serves what waits for a core without a task, and picks the next one.
enum turn sim_work(struct sim_core *c);

/// Something comes to a core.
enum turn sim_core_event(struct sim_core *c, uint32_t kind);

/// Wakes a task of another core without a note in its inbox. False: nothing is done.
bool sim_wakes(struct wb_task *task);

/// Acts in the place of the task that takes a step on what its core is wanted for. False: the task
/// has to do so, on its stack.
bool sim_serves(void);

/// The task of a core blocks, and the core falls asleep at once. False: nothing is done.
bool sim_falls_asleep(struct sim_core *c, struct wb_task *task);

/// A core chooses without having to wait for that: an event nevertheless.
static inline void sim_count_choice(void)
{
    if (__builtin_expect(++sim.counted.events == sim.pause_at.event, 0))
        sim.run.paused = true;
}

/// Its doorbell.
enum turn sim_rung(struct sim_core *c);

/// Nothing else happens at this instant, so it may choose its next task.
enum turn sim_chooses(struct sim_core *c);

/// The time that a task blocked for is over. `*core`: the task's.
enum turn sim_end_block(uint32_t task, struct sim_core **core);

/// Takes notes and ticks that wait for this core: it has some.
void sim_take_pending_bits(struct sim_core *c);

/// A core that is asleep may be switched off: it is to be, has no tasks, and is not the one of the
/// coordinator.
bool sim_may_be_off(const struct sim_core *c);

/// Switches a core off that has just fallen asleep, if it may be.
void sim_turn_off(struct sim_core *c);

/// It is woken.
void sim_turn_on(struct sim_core *c);

/// A core that the platform has off at the start.
void sim_start_off(struct sim_core *c);

/// Gives `task` to the ready queue of its core.
void sim_make_ready(struct sim_core *c, struct wb_task *task);

/// The core has something to do: it leaves its idle state, if it is in one.
void sim_wake(struct sim_core *c);

/// Lets agents that are silent tick again where they must: another policy decides.
void sim_hear_agents(void);

/// Counts what cores that are idle have not been asked for. To be called before anybody looks.
void sim_account_idle(void);

/// Sets or clears need_resched for the task that runs on a core.
void sim_keep_need_resched(struct sim_core *c);

/// Records what a core starts with: its frequency and its power.
void sim_record_start(struct sim_core *c);

void sim_emit_power(struct sim_core *c);

/// Records how the core's power has changed by itself up to now. To be called before whatever else
/// may change it, and before anything else is recorded of a core that is idle. Nothing unless the
/// run is recorded.
static inline void sim_record_power(struct sim_core *c)
{
    if (__builtin_expect(!c->recording.on, 1))
        return;
    if (sim.engine->now_ps < c->recording.next_ps)
        c->recording.until_ps = sim.engine->now_ps;
    else
        sim_emit_power(c);
}

void sim_record_all_power(void);

/// The same after what may have changed it.
void sim_record_change(struct sim_core *c);

/// Stops a core in the midst of whatever it does. The launcher takes its tasks over.
void sim_kill(struct sim_core *c);

/// Starts its kernel again, with nothing that it had.
void sim_start_again(struct sim_core *c);

/// When what comes next in what is executed begins: a kernel first does what it owes.
static inline uint64_t sim_begins_ps(void)
{
    const bool owes = (sim.self == NULL || sim.stepping) && sim.here != NULL;
    return owes ? sim_in(sim.here->overhead_ps) : sim.engine->now_ps;
}

static inline bool at_once_is_empty(const struct at_once *ring)
{
    return ring->first == ring->last;
}

/// Something happens before time passes, other than by the queue.
static inline bool sim_acts_at_once(void)
{
    return !at_once_is_empty(&sim.now) || !at_once_is_empty(&sim.choices);
}

/// More happens at this instant than choices.
static inline bool sim_instant_goes_on(void)
{
    return !at_once_is_empty(&sim.now) || sim.engine->next_ps == sim.engine->now_ps;
}

/// Before a core chooses, other things happen at this instant, or other cores choose.
static inline bool sim_is_to_wait(const struct sim_core *c)
{
    return sim_instant_goes_on() || (!c->choice.in_turn && !at_once_is_empty(&sim.choices));
}

/// To be called whenever engine->now_ps has changed.
static inline void sim_follow_time(void)
{
    sim.now_ns = sim.engine->now_ps / PS_PER_NS;
}

/// Lets time pass without a look at events, if none comes before.
static inline bool sim_passes(uint64_t ps)
{
    if (sim_acts_at_once() || ps >= sim.engine->next_ps - sim.engine->now_ps || sim.run.paused)
        return false;
    sim.engine->now_ps += ps;
    sim_follow_time();
    if (__builtin_expect(++sim.counted.passes == sim.pause_at.pass, 0))
        sim.run.paused = true;
    return true;
}

static inline uint64_t sim_now_ns(void)
{
    return sim.now_ns;
}

static inline bool sim_has_notes(const struct sim_core *c)
{
    return wb_word_load(&c->core->inbox.summary, WB_RELAXED) != 0;
}

/// In its inbox, or without it.
static inline bool sim_has_pending_bits(const struct sim_core *c)
{
    return c->woken.n != 0 || sim_has_notes(c);
}

/// Notes, or a tick that is due.
static inline bool sim_is_wanted(const struct sim_core *c)
{
    return sim_has_pending_bits(c) || c->agent.tick_due;
}

/// The core is asked for another operating point.
static inline bool sim_is_asked(const struct sim_core *c)
{
    return wb_word_load(&c->core->wanted_point, WB_RELAXED) != c->core->report.obeyed_point;
}

static inline void sim_obey(struct sim_core *c)
{
    if (__builtin_expect(sim_is_asked(c), 0))
        wb_agent_obey(c->core);
}

static inline void sim_serve(struct sim_core *c)
{
    if (sim_is_wanted(c))
        sim_take_pending_bits(c);
}

/// From here on the code of a core's task is executed; of its kernel, without a task.
static inline void sim_execute(struct sim_core *c, struct wb_task *self)
{
    sim.here = c;
    sim.self = self;
    sim.free = c->uncounted;
}

/// The same of the launcher.
static inline void sim_execute_launcher(void)
{
    sim.here = NULL;
    sim.self = NULL;
    sim.free = sim.charges.counted ? 0 : UINT32_MAX;
}

/// The task of a core has the thread from here on.
static inline void sim_become(struct sim_core *c)
{
    sim_execute(c, c->current);
    wb_word_store(&wb_kernel_need_resched, c->need_resched, WB_RELAXED);
}

#endif
