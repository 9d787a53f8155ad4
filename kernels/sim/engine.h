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

// What is behind is the engine's own.
struct engine {
    uint64_t now_ps;   // whoever lets time pass without an event may move it, short of next_ps
    uint64_t next_ps;  // of the next event; UINT64_MAX: there is none
};

struct engine_event {
    uint32_t kind, index;  // what the caller gave it
};

// ---- engine and events --------------------------------------------------------------------------

/// Makes the platform that `json` describes (crates/hardware, Description), all of it idle.
///
/// Returns: NULL with the reason in `error` when it is no description.
struct engine *engine_new(const char *json, char *error, size_t error_bytes);
void engine_free(struct engine *engine);
uint32_t engine_cores(const struct engine *engine);

/// Adds an event; returns its handle, never 0. Among those of one time the first that was added
/// comes first.
uint64_t engine_push(struct engine *engine, uint64_t at_ps, struct engine_event event);

/// Takes back an event. False: it has happened.
bool engine_cancel(struct engine *engine, uint64_t handle);

/// Takes the next event, and moves time to it. False: there is none.
bool engine_pop(struct engine *engine, struct engine_event *event);

/// Adds an event that is not to be taken back, and takes the next one: it may be the same.
void engine_exchange(struct engine *engine, uint64_t at_ps, struct engine_event *event);

/// How many events have been taken.
uint64_t engine_events(const struct engine *engine);

// ---- What things take ---------------------------------------------------------------------------
// Each returns picoseconds from now on.

/// `units` of an action (enum wb_action) on a core.
uint64_t engine_action(struct engine *engine, uint32_t core, uint32_t action, uint32_t units);

/// What takes no time on a core at any operating point: a bit for each action, and for these.
uint32_t engine_free_charges(struct engine *engine, uint32_t core);
enum {
    CHARGE_SWITCH = 15,
    CHARGE_RING = 19,
    CHARGE_RUNG = 20,
    CHARGE_REFILL = 30,
    CHARGE_NOTICE = 31
};

/// Cycles of a core; bytes to or from globally visible memory, for as long as others are before.
uint64_t engine_compute(struct engine *engine, uint32_t core, uint64_t cycles);
uint64_t engine_transfer(struct engine *engine, uint32_t core, uint64_t bytes);

/// A switch to another task.
uint64_t engine_switch(struct engine *engine, uint32_t core);

/// What a task that has been switched to misses in the core's cache, of `working_bytes` of memory
/// that it comes back to.
uint64_t engine_refill(struct engine *engine, uint32_t core, uint32_t task, uint64_t working_bytes);

/// What a task that has left the core has in its cache is of no use any more.
void engine_forget(struct engine *engine, uint32_t core, uint32_t task);

/// A copy of a task's memory; its program, loaded.
uint64_t engine_copy(struct engine *engine, uint32_t core, uint64_t bytes);
uint64_t engine_load(struct engine *engine, uint32_t core, uint64_t bytes);

/// What ringing costs the core that rings; when the other notices; what that costs it.
uint64_t engine_ring(struct engine *engine, uint32_t from);
uint64_t engine_notice(struct engine *engine, uint32_t from, uint32_t to);
uint64_t engine_answer(struct engine *engine, uint32_t core);

/// One look at the clock by a task that does nothing else.
uint64_t engine_look(struct engine *engine, uint32_t core);

// ---- Power and heat -----------------------------------------------------------------------------

/// The core has no work, or some again: then the time until it can do it is returned.
void engine_idle(struct engine *engine, uint32_t core);
uint64_t engine_wake(struct engine *engine, uint32_t core);

/// Changes the operating point. Returns for how long the core does nothing.
uint64_t engine_set_point(struct engine *engine, uint32_t core, uint32_t point);

/// What the core consumes, now or at a moment since it became idle; when that changes next by
/// itself after a moment, UINT64_MAX: never.
uint32_t engine_power_uw(const struct engine *engine, uint32_t core, uint64_t at_ps);
uint64_t engine_next_passage(const struct engine *engine, uint32_t core, uint64_t after_ps);

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

// ---- Saving -------------------------------------------------------------------------------------

/// Everything the engine knows, as bytes: how many, copied to `to` if it has room for them.
size_t engine_save(struct engine *engine, unsigned char *to, size_t room);

/// Makes it the engine that was saved. False: these are no such bytes.
bool engine_restore(struct engine *engine, const unsigned char *from, size_t bytes);

#endif
