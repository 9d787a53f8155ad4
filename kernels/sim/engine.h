// SPDX-License-Identifier: Apache-2.0
// The engine (crates/engine, in Rust): virtual time, the events to come, and what the hardware does
// in it. Times are picoseconds since the start of the simulation.
//
// One thread. Every function but engine_new() takes an engine that it has made.
#ifndef WB_ENGINE_H
#define WB_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A core, as far as it can be told without a call.
struct engine_core {
    uint64_t since_ps;            // up to when its times are complete
    uint64_t active_ps, idle_ps;  // that the engine has not heard of
    uint64_t period_factor;       // a cycle takes so many picoseconds,
    uint32_t period_shift;        // over two to the power of this
    uint32_t active_uw, idle_uw;  // that it draws if it is plain
    bool is_plain;                // no idle states, no cache, no polling: it is added up here
    bool is_idle;
};

// What is behind is the engine's own.
struct engine {
    uint64_t now_ps;   // whoever lets time pass without an event may move it, short of next_ps
    uint64_t next_ps;  // of the next event; UINT64_MAX: there is none
    struct engine_core *cores;
};

#define ENGINE_NOTHING UINT64_MAX  // no event

// ---- engine and events --------------------------------------------------------------------------

/// Makes the platform that `json` describes (crates/hardware, Description), all of it idle.
///
/// Returns: NULL with the reason in `error` when it is no description.
struct engine *engine_new(const char *json, char *error, size_t error_bytes);
void engine_free(struct engine *engine);
uint32_t engine_cores(const struct engine *engine);

/// Lets time begin at `now_ps`: nothing has happened before.
void engine_begin(struct engine *engine, uint64_t now_ps);

/// When the kernel of a core takes it from a task: when that waits, and at its checkpoints; at once
/// for one that is more urgent; the same, where of one priority the earliest deadline goes first;
/// the same, where those of one priority share the core by their weights.
enum scheduling { COOPERATIVE, PREEMPTIVE, EARLIEST_DEADLINE, FAIR };
uint32_t engine_scheduling(const struct engine *engine, uint32_t core);

/// When a task of the group of a core may go on on another of its cores.
enum migration { NO_MIGRATION, RESTRICTED_MIGRATION, FULL_MIGRATION };
uint32_t engine_migration(const struct engine *engine, uint32_t core);

/// Cores of the same group share one scheduler; 0: the core has its own.
uint32_t engine_group(const struct engine *engine, uint32_t core);

/// After how long a task gives way to others that are as urgent; 0: when it waits.
uint64_t engine_slice(const struct engine *engine, uint32_t core);

/// How often the kernel of a core that is fair looks whether a slice is over; 0: when it is.
uint64_t engine_tick(const struct engine *engine, uint32_t core);

/// By how much later than it should the sleep of a task ends.
uint64_t engine_timer_slack(const struct engine *engine, uint32_t core);

/// Adds an event, which is a number of the caller's; returns its handle, never 0. Among those of
/// one time the first that was added comes first.
uint64_t engine_push(struct engine *engine, uint64_t at_ps, uint64_t event);

/// Takes back an event. False: it has happened.
bool engine_cancel(struct engine *engine, uint64_t handle);

/// Takes the next event, and moves time to it. ENGINE_NOTHING: there is none.
uint64_t engine_pop(struct engine *engine);

/// Adds an event that is not to be taken back, and takes the next one: it may be the same.
uint64_t engine_exchange(struct engine *engine, uint64_t at_ps, uint64_t event);

// ---- What things take ---------------------------------------------------------------------------
// Each returns picoseconds from then on when it begins, `at_ps`: that is not before now, or for the
// functions without it, now.

/// `units` of an action (enum wb_action) on a core.
uint64_t engine_action(struct engine *engine, uint64_t at_ps, uint32_t core, uint32_t action,
                       uint32_t units);

/// What takes no time on a core at any operating point: a bit for each action, and for these.
uint32_t engine_free_charges(struct engine *engine, uint32_t core);
enum {
    CHARGE_SWITCH = 15,
    CHARGE_RING = 19,
    CHARGE_RUNG = 20,
    CHARGE_INTERRUPT = 21,
    CHARGE_REFILL = 30,
    CHARGE_NOTICE = 31
};

/// Cycles of a core.
static inline uint64_t engine_compute(const struct engine *engine, uint32_t core, uint64_t cycles)
{
    __extension__ typedef unsigned __int128 wide;
    const struct engine_core *c = &engine->cores[core];
    const wide ps = (wide)cycles * c->period_factor >> c->period_shift;

    return ps < UINT64_MAX ? (uint64_t)ps : UINT64_MAX;
}

/// Bytes to or from globally visible memory, for as long as others are before.
uint64_t engine_transfer(struct engine *engine, uint64_t at_ps, uint32_t core, uint64_t bytes);

/// How much longer the last transfer of a core takes than was told, here or before, because of
/// others that came meanwhile: to be asked once the time of what it is a part of is over.
uint64_t engine_transfer_delay(struct engine *engine, uint32_t core);

/// A switch to another task; the first one after a sleep may take longer.
uint64_t engine_switch(struct engine *engine, uint32_t core);

/// What a task that has been switched to misses in the core's cache, of `working_bytes` of memory
/// that it comes back to, and what it pays as the first one after a sleep.
uint64_t engine_refill(struct engine *engine, uint64_t at_ps, uint32_t core, uint32_t task,
                       uint64_t working_bytes);

/// What bytes of a message take longer to read that another core has written.
uint64_t engine_far(struct engine *engine, uint32_t core, uint64_t bytes);

/// What a task that has left the core has in its cache is of no use any more.
void engine_forget(struct engine *engine, uint32_t core, uint32_t task);

/// A copy of a task's memory; its program, loaded.
uint64_t engine_copy(struct engine *engine, uint64_t at_ps, uint32_t core, uint64_t bytes);
uint64_t engine_load(struct engine *engine, uint32_t core, uint64_t bytes);

/// What ringing costs the core that rings, by how deeply the other sleeps; when the other notices;
/// what that costs it.
uint64_t engine_ring(struct engine *engine, uint32_t from, uint32_t to);
uint64_t engine_notice(struct engine *engine, uint32_t from, uint32_t to);
uint64_t engine_answer(struct engine *engine, uint32_t core);

/// An interrupt of a core's own timer.
uint64_t engine_interrupt(struct engine *engine, uint32_t core);

/// One look at the clock by a task that does nothing else.
uint64_t engine_look(struct engine *engine, uint32_t core);

// ---- Power and heat -----------------------------------------------------------------------------

/// The same as engine_idle() and engine_wake() for cores that are not plain.
void engine_rest(struct engine *engine, uint32_t core);
uint64_t engine_rouse(struct engine *engine, uint32_t core);

/// The core has no work.
static inline __attribute__((always_inline)) void engine_idle(struct engine *engine, uint32_t core)
{
    struct engine_core *c = &engine->cores[core];

    if (!c->is_plain) {
        engine_rest(engine, core);
    } else if (!c->is_idle) {
        c->active_ps += engine->now_ps - c->since_ps;
        c->since_ps = engine->now_ps;
        c->is_idle = true;
    }
}

/// It has some again. Returns the time until it can do it.
static inline __attribute__((always_inline)) uint64_t engine_wake(struct engine *engine,
                                                                  uint32_t core)
{
    struct engine_core *c = &engine->cores[core];

    if (!c->is_plain)
        return engine_rouse(engine, core);
    if (c->is_idle) {
        c->idle_ps += engine->now_ps - c->since_ps;
        c->since_ps = engine->now_ps;
        c->is_idle = false;
    }
    return 0;
}

/// Whether an idle core is switched off: it draws nothing, and loses what its cache has. From the
/// start if the platform says so.
bool engine_is_off(const struct engine *engine, uint32_t core);
void engine_turn_off(struct engine *engine, uint32_t core, bool off);

/// Changes the operating point. Returns for how long the core does nothing.
uint64_t engine_set_point(struct engine *engine, uint32_t core, uint32_t point);

/// The same as engine_power_uw() and engine_next_passage() for cores that are not plain.
uint64_t engine_passage_after(const struct engine *engine, uint32_t core, uint64_t after_ps);
uint32_t engine_draw_uw(const struct engine *engine, uint32_t core, uint64_t at_ps);

/// What the core consumes, now or at a moment since it became idle.
static inline uint32_t engine_power_uw(const struct engine *engine, uint32_t core, uint64_t at_ps)
{
    const struct engine_core *c = &engine->cores[core];

    if (!c->is_plain)
        return engine_draw_uw(engine, core, at_ps);
    return c->is_idle ? c->idle_uw : c->active_uw;
}

/// When that changes next by itself after a moment; UINT64_MAX: never.
static inline uint64_t engine_next_passage(const struct engine *engine, uint32_t core,
                                           uint64_t after_ps)
{
    return engine->cores[core].is_plain ? UINT64_MAX : engine_passage_after(engine, core, after_ps);
}

/// How long the core has been active, in tasks, in its kernel and waking up, and idle at an
/// operating point so far.
uint64_t engine_active_ps(struct engine *engine, uint32_t core, uint32_t point);
uint64_t engine_idle_ps(struct engine *engine, uint32_t core, uint32_t point);

/// What the core has consumed so far.
uint64_t engine_energy_uj(struct engine *engine, uint32_t core);

/// All of it: cores, transfers, transitions.
uint64_t engine_total_uj(struct engine *engine);

/// INT32_MIN: not known.
int32_t engine_temperature_mc(const struct engine *engine, uint32_t core);

/// How many blocks the floorplan has; 0: there is none. The temperature of a block, by its position
/// in the floorplan, and of what carries the heat off.
uint32_t engine_blocks(const struct engine *engine);
int32_t engine_block_mc(const struct engine *engine, uint32_t block);
int32_t engine_sink_mc(const struct engine *engine);

/// Computes temperatures up to now. Returns when to do it again; UINT64_MAX: never.
uint64_t engine_heat(struct engine *engine);

// ---- Islands ------------------------------------------------------------------------------------

/// Takes back all events that `keeps` says no to.
void engine_retain(struct engine *engine, bool (*keeps)(uint64_t event));

/// Takes the states of the cores for which `cores` says so, and the time, from an engine of the
/// same hardware that was saved. False: these are no such bytes.
bool engine_adopt(struct engine *engine, const unsigned char *from, size_t bytes,
                  const bool *cores);

// ---- Saving -------------------------------------------------------------------------------------

/// Everything the engine knows, as bytes: how many, copied to `to` if it has room for them.
size_t engine_save(struct engine *engine, unsigned char *to, size_t room);

/// Makes it the engine that was saved. False: these are no such bytes.
bool engine_restore(struct engine *engine, const unsigned char *from, size_t bytes);

#endif
