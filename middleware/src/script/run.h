// SPDX-License-Identifier: Apache-2.0
// Where a task is in its script, for the files that go through it.
#ifndef WB_RUN_H
#define WB_RUN_H

#include "../task/message.h"
#include "wb/script.h"

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

struct run {  // in the task's heap
    struct passing passing;
    struct wb_scripted *of_task;
    const struct wb_script *script;
    const struct wb_script_event *events;
    struct reach *reach;  // of each port of the script
    struct wb_script_timer *timers;
    unsigned char *copied;  // what memory events copy
    struct spot spot;
    struct spot safe;     // where it last held no mutex
    uint32_t held, life;  // mutexes; wb_task.lives, by which it knows that it was cut short
    bool has_input;
    bool due;           // a checkpoint
    bool begun;         // of the event: it computes, or has slept for its timer
    uint32_t at;        // which end of a port messages go through
    uint32_t until_of;  // 1 + the end that `until` is of, 0: none
    uint64_t until;     // of the event, 0: not begun; a time, or how many messages through that end
    uint32_t round;     // the same: of a barrier
    const struct wb_script_event *of;  // the event that these are of
    uint64_t turns;                    // of the loop that is ended: how many are left
    uint64_t start_ns;                 // when timers begin
    // Of the firing.
    uint64_t began_ns, ran_ns, run_ns;
    int64_t slack_ns;
    bool timed;
};

// What keeps a task from going on.
enum stop { GO_ON, TO_COMPUTE, TO_WAIT, TO_SLEEP, TO_STACK, TO_CHECKPOINT, TO_END };

// How an event is done: on the task's own stack it may block, in a step it stops before.
struct way {
    bool may_block;
    uint64_t cycles;    // of TO_COMPUTE
    uint64_t stamp_ns;  // of a step, within which no time passes; 0: not looked at yet
};

// The event begins. Last of all it says so: a life that was cut short before is to do this again.
static inline void begin_event(struct run *run)
{
    run->begun = false;
    run->until = 0;
    run->round = 0;
    run->at = run->until_of = 0;
    wb_word_order();
    run->of = run->spot.event;
}

static inline enum stop go_to(struct run *run, const struct wb_script_event *next)
{
    wb_word_order();
    run->spot.event = next;
    wb_word_order();
    begin_event(run);
    return GO_ON;
}

static inline enum stop done(struct run *run)
{
    return go_to(run, run->spot.event + 1);
}

static inline enum stop to_exit(struct run *run)
{
    run->spot.event = &run->events[run->script->config.n_events - 1];
    return GO_ON;
}

static inline uint64_t timeout_of(const struct way *way)
{
    return way->may_block ? WB_FOREVER : 0;
}

// The same moment for all of a step.
static inline uint64_t stamp(struct way *way)
{
    if (way->may_block)
        return wb_kernel_stamp_ns();
    if (way->stamp_ns == 0)
        way->stamp_ns = wb_kernel_stamp_ns();
    return way->stamp_ns;
}

// Where the messages of the event go through.
static inline struct wb_port *run_port(const struct run *run)
{
    return run->reach[run->spot.event->object].ends[run->at];
}

// ---- life.c -------------------------------------------------------------------------------------

/// Begins a life of the task: its first, or another after a death.
struct run *run_begin(struct wb_task *self, const struct wb_messages *messages);

/// Memory of the task's heap, all zero; without room there the run fails.
void *run_alloc(struct wb_task *self, size_t count, size_t bytes);

// ---- Events -------------------------------------------------------------------------------------
// Each does one, or as much of it as it can, and says what keeps the task from going on.

// time.c
enum stop run_compute(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                      struct way *way);
enum stop run_compute_until(struct wb_task *self, struct run *run,
                            const struct wb_script_event *event, struct way *way);
enum stop run_copy(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                   const struct way *way);
enum stop run_sleep(struct run *run, const struct wb_script_event *event);
enum stop run_timer(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                    const struct way *way);

// pass.c
enum stop run_pass(struct wb_task *self, struct run *run, const struct wb_script_event *event);

// place.c
enum stop run_yield(struct run *run, const struct way *way);
enum stop run_migrate(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                      const struct way *way);
enum stop run_prioritise(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                         const struct way *way);

// loop.c
enum stop run_loop(struct run *run, const struct wb_script_event *event, struct way *way);
enum stop run_end(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                  struct way *way);

// shared.c: of what tasks have in common, a mutex, a condition, a barrier, a semaphore.
enum stop run_shared(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                     const struct way *way);

/// Ends the run: the event makes no sense.
WB_NORETURN void run_fail(struct wb_task *self, const struct wb_script_event *event,
                          const char *what);

#endif
