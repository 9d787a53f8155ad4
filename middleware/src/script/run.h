// SPDX-License-Identifier: Apache-2.0
// Where a task is in its script, for the files that go through it.
#ifndef WB_RUN_H
#define WB_RUN_H

#include "../task/life.h"
#include "wb/launcher.h"

// Where a task is in its script.
struct spot {
    // In the list, which lies at the same address for every core.
    const struct wb_script_event *event;
    uint64_t left[WB_SCRIPT_DEPTH];  // turns of loops, this one too
};

struct reach {  // the elements of a port
    struct wb_port **ends;
    uint32_t n;
};

// What an event has done so far, where that is more than all or nothing.
struct progress {
    uint64_t until;     // a time, or how many messages through an end of its port; 0: none yet
    uint32_t at;        // which end of the port messages go through
    uint32_t until_of;  // 1 + the end that `until` is of, 0: none
    uint32_t round;     // of a barrier, 0: none yet
};

// What keeps a task from going on.
enum stop { GO_ON, TO_COMPUTE, TO_WAIT, TO_SLEEP, TO_STACK, TO_CHECKPOINT, TO_END };

struct run {  // in the task's heap
    struct wb_task *self;
    struct passing passing;
    struct wb_scripted *of_task;
    const struct wb_script *script;
    const struct wb_script_event *events;
    struct reach *reach;  // of each port of the script
    struct wb_script_timer *timers;
    unsigned char *copied;  // what memory events copy
    struct spot spot;
    struct spot safe;     // where it last held no mutex
    uint32_t held, life;  // mutexes; wb_task.incarnation, by which it knows that it was cut short
    bool has_input;
    bool due;    // a checkpoint
    bool begun;  // it computes, or sleeps for a timer; not in another life
    struct progress progress;
    const struct wb_script_event *of;  // the event that this is of; NULL: of none
    uint64_t turns;                    // of the loop whose end that is: how many are left
    uint64_t start_ns;                 // when timers begin
    bool may_block;                    // it is on its own stack, not in a step of the kernel
    uint64_t stamp_ns;  // of a step, within which no time passes; 0: not looked at yet
    uint64_t cycles;    // of TO_COMPUTE
    enum stop stop;     // of the last step
    // Of the firing.
    uint64_t began_ns, ran_ns, run_ns;
    int64_t slack_ns;
    bool timed;
};

// Where the messages of the event go through.
static inline struct wb_port *run_port(const struct run *run)
{
    return run->reach[run->spot.event->object].ends[run->progress.at];
}

static inline uint64_t timeout_of(const struct run *run)
{
    return run->may_block ? WB_FOREVER : 0;
}

// ---- From event to event (life.c) ---------------------------------------------------------------

/// Begins a life of the task: its first, or another after a death.
struct run *run_begin(struct wb_task *self, const struct wb_messages *messages);

/// Memory of the task's heap, all zero; without room there the run fails.
void *extent_alloc(struct wb_task *self, size_t count, size_t bytes);

/// What the event has done so far: nothing yet when it begins.
struct progress *run_progress(struct run *run);

/// The event is done, and the next one is this; or, of the end of a loop, that with so many turns
/// left.
///
/// Returns: GO_ON.
enum stop run_go_to(struct run *run, const struct wb_script_event *next);
enum stop run_turn(struct run *run, const struct wb_script_event *next, uint64_t left);

/// The same with the one behind it, and with the exit.
enum stop run_done(struct run *run);
enum stop run_exit(struct run *run);

/// Notes where the task may come to wait, for whoever tells of a deadlock.
void run_note_position(struct run *run);

// ---- Events -------------------------------------------------------------------------------------

/// Does the event that the task is at, or as much of it as it can.
///
/// Returns: what keeps the task from going on.
typedef enum stop run_event(struct run *run, const struct wb_script_event *event);

run_event run_compute, run_compute_until, run_copy, run_sleep, run_timer;  // time.c
run_event run_pass;                                                        // pass.c
run_event run_migrate, run_prioritise;                                     // place.c
run_event run_loop, run_end;                                               // loop.c
run_event run_shared;                                                      // shared.c
enum stop run_yield(struct run *run);

/// The moment, the same for all of a step.
uint64_t run_stamp(struct run *run);

/// Ends the run: the event makes no sense.
WB_NORETURN void run_fail(struct run *run, const struct wb_script_event *event, const char *what);

#endif
