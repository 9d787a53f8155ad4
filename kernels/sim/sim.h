// SPDX-License-Identifier: Apache-2.0
// The simulator's kernels: what their files share.
//
// One process, one thread. Every core has a kernel that exists only as the state in struct sim_core
// and as turns of the event loop (loop.c); every task is a context with a stack of its own. What is
// being executed is executed at engine->now_ps. When it lets time pass and nothing else is to
// happen before, time simply moves on; otherwise it is suspended, and the events in between come
// first. So whatever tasks and kernels do to shared memory they do in the order of virtual time.
#ifndef WB_SIM_H
#define WB_SIM_H

#include "common.h"
#include "engine.h"

enum { PS_PER_NS = 1000 };

enum after { GO_READY, GO_CAPTURED, GO_BLOCKED, GO_AWAY, GO_ENDED };

struct sim_core {
    struct wb_core *core;
    struct wb_task *current;  // has the core; NULL: none
    struct wb_task *left;     // has just left it, and its departure is to be finished
    enum after after;         // what becomes of that one
    struct ready ready;
    uint64_t debt_ps;    // what its kernel did in no time, to be spent before a task runs
    uint64_t stolen_ps;  // by interrupts, from the task that runs
    uint64_t tick_ps;    // when the agent's tick is due
    bool idle, rung, dead;
    bool starved;        // has no memory to load programs
    uint32_t attention;  // wb_kernel_attention while its task runs
    uint32_t told_uw;    // the power that its event stream has last,
    uint64_t told_ps;    // and until when it is right
    uint32_t free;       // engine_free_charges()
};

enum sim_event {
    EVENT_RESUME,   // core: the time that its task let pass is over
    EVENT_START,    // core: its kernel is done, and its task begins to run
    EVENT_WAKE,     // core: it is out of its idle state
    EVENT_RING,     // core: its doorbell
    EVENT_TIMER,    // task: its block ends
    EVENT_TICK,     // core: the agent's
    EVENT_SWEEP,    // overdue migrations
    EVENT_HEAT,     // temperatures
    EVENT_COMMAND,  // number of the command that was planned for this time
    EVENT_STOP,     // whoever let the simulation run wants it back
};

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
    struct sim_core *here;  // whose code is executed; NULL: nobody's (the launcher's)
    struct wb_task *self;   // the task that executes; NULL: a kernel, or the launcher
    uint32_t free;          // what takes no time for who executes: engine_free_charges()
    void *loop_sp;          // of the event loop while a task executes
    void *loop_fake_stack;
    uint64_t horizon_ps;  // up to when time may pass without a look at events
    uint64_t events;      // that were not in the engine's queue
    // What happens at once, in order: a ring with room for two events of each core.
    struct engine_event *now_events;
    uint32_t now_first, now_last, now_mask;
    struct engine_event pending;  // taken, but not yet handled
    bool has_pending, running, paused, halted;
    bool patient;           // the launcher may wake tasks that nothing else can
    uint32_t alive;         // events that may let a task run: all but ticks, sweeps and heat
    uint64_t events_left;   // until the loop is left for good, because there were too many
    uint64_t fuel;          // charges until the loop is left, so that records can be written
    uint64_t last_look;     // when a clock was last read,
    uint32_t looks;         // and how often since time passed
    bool odd_clock;         // there is none yet, or a core's differs
    struct faults *faults;  // NULL: none is planned
    void (*command)(uint32_t number);
};

extern struct sim sim;

static inline bool is_free(const struct sim_core *c, uint32_t charge)
{
    return (c->free & 1u << charge) != 0;
}

/// Gives every core its first turn.
void sim_start(void);

/// Runs until one of the ends. Only the launcher calls this.
enum sim_end sim_run(void);

/// Lets `ps` pass for whoever executes: a task is suspended for so long, a kernel owes it.
void sim_spend(uint64_t ps);

/// The same; time of the launcher's own passes as well.
void sim_pass(uint64_t ps);

/// Ends the simulation because of a fault, from within the loop.
_Noreturn void sim_halt(void);

/// Leaves for good what executes on a core that has just been stopped.
_Noreturn void sim_abandon(void);

/// Leaves the loop at the next chance, without anything else being different for it.
void sim_pause(void);

/// Adds an event; returns its handle.
uint64_t sim_push(uint64_t at_ps, enum sim_event kind, uint32_t index);

/// Looks again when the next event is: after the engine was restored.
void sim_renew(void);

/// Adds one that happens at once. At most two of each core at a time.
void sim_push_now(enum sim_event kind, uint32_t index);

/// Takes back one that has not happened yet.
void sim_take_back(uint64_t handle, enum sim_event kind);

/// Takes back the event that ends a task's block, if there is one: while there is, the task's
/// `until_ns` is its handle.
void sim_stop_timer(struct wb_task *task);

/// Leaves the core. Returns when the task runs again, maybe on another.
void sim_leave(enum after after);

// ---- core.c: a kernel's turns -------------------------------------------------------------------

/// Serves what waits for a core without a task, and picks the next one. True: it runs now.
bool sim_work(struct sim_core *c);

/// Something comes to a core. True: its task is to execute.
bool sim_core_event(struct sim_core *c, uint32_t kind);

/// The time that a task blocked for is over.
void sim_end_block(uint32_t task);

/// Takes notes and ticks that wait for this core: it has some.
void sim_take_notes(struct sim_core *c);

/// Gives `task` to the ready queue of its core.
void sim_make_ready(struct sim_core *c, struct wb_task *task);

/// The core has something to do: it leaves its idle state, if it is in one.
void sim_wake(struct sim_core *c);

/// Raises or lowers attention for the task that runs on a core.
void sim_keep_attention(struct sim_core *c);

/// Records what a core starts with: its frequency and its power.
void sim_record_start(struct sim_core *c);

void sim_tell_power(struct sim_core *c);

/// Records how the core's power has changed up to now. To be called before and after whatever may
/// change it, and before anything else is recorded of a core that is idle. Nothing unless the run
/// is recorded.
static inline void sim_record_power(struct sim_core *c)
{
    if (__builtin_expect(c->core->record.events.slots != 0, 0))
        sim_tell_power(c);
}

void sim_record_all_power(void);

/// Stops a core in the midst of whatever it does. The launcher takes its tasks over.
void sim_kill(struct sim_core *c);

/// How many events there have been.
static inline uint64_t sim_events(void)
{
    return engine_events(sim.engine) + sim.events;
}

static inline uint64_t sim_now_ns(void)
{
    return sim.engine->now_ps / PS_PER_NS;
}

static inline bool sim_has_notes(const struct sim_core *c)
{
    return atomic_load_explicit(&c->core->inbox.summary, memory_order_relaxed) != 0;
}

/// Notes, or a tick that is due.
static inline bool sim_is_wanted(const struct sim_core *c)
{
    return sim_has_notes(c) || sim.engine->now_ps >= c->tick_ps;
}

static inline void sim_serve(struct sim_core *c)
{
    if (sim_is_wanted(c))
        sim_take_notes(c);
}

/// From here on the code of a core's task is executed; of its kernel, without a task; of the
/// launcher, without a core.
static inline void sim_execute(struct sim_core *c, struct wb_task *self)
{
    sim.here = c;
    sim.self = self;
    sim.free = c != NULL ? c->free : UINT32_MAX;
}

/// The task of a core has the thread from here on.
static inline void sim_become(struct sim_core *c)
{
    sim_execute(c, c->current);
    wb_kernel_attention = c->attention;
}

#endif
