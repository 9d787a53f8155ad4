// SPDX-License-Identifier: Apache-2.0
// Scripts: tasks that do one event after the other, as a list says: run, sleep, lock, send, wait.
//
// What a thread of a program does from outside: a workload generator's phases, a recorded trace, a
// control loop with several messages. A task with one firing for ever is an actor (wb/firing.h).
//
// Events are numbered by their place in the list. Loops are events, too: WB_SCRIPT_LOOP begins one,
// WB_SCRIPT_END ends it, and each says where the other is. One turn of a loop that is marked
// (`is_firing`) is a firing of its task. Times and the four measures are those of rt-app's log
// (github.com/scheduler-tools/rt-app, doc/tutorial.txt).
#ifndef WB_SCRIPT_H
#define WB_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/barrier.h"
#include "wb/channel.h"
#include "wb/condition.h"
#include "wb/counter.h"
#include "wb/firing.h"
#include "wb/semaphore.h"
#include "wb/status.h"

struct wb_system;
struct wb_task;

enum {
    WB_SCRIPT_DEPTH = 8,        // loops within each other
    WB_SCRIPT_PRIORITIES = 32,  // from 0 on
};

#define WB_SCRIPT_NONE UINT32_MAX

enum wb_script_verb {
    WB_SCRIPT_RUN,         // computes `numbers` cycles, by kind of core
    WB_SCRIPT_RUNTIME,     // computes until `amount` ns have passed
    WB_SCRIPT_MEMORY,      // copies `amount` bytes within its heap
    WB_SCRIPT_SLEEP,       // for `amount` ns
    WB_SCRIPT_DELAY,       // the same, and timers count from its end
    WB_SCRIPT_TIMER,       // until `amount` ns after timer `object` ended last: one of the task,
                           // or, unless `other` is WB_SCRIPT_NONE, that of the system there
    WB_SCRIPT_LOCK,        // mutex `object`
    WB_SCRIPT_UNLOCK,      //
    WB_SCRIPT_WAIT,        // for condition `object`, with mutex `other`; WB_SCRIPT_NONE: with none
    WB_SCRIPT_SIGNAL,      // condition `object`
    WB_SCRIPT_BROADCAST,   //
    WB_SCRIPT_BARRIER,     // barrier `object`
    WB_SCRIPT_TAKE,        // semaphore `object`
    WB_SCRIPT_GIVE,        //
    WB_SCRIPT_SEND,        // `amount` messages through each element of port `object`
    WB_SCRIPT_RECEIVE,     //
    WB_SCRIPT_YIELD,       //
    WB_SCRIPT_CHECKPOINT,  //
    WB_SCRIPT_MIGRATE,     // to the first core of `numbers`, unless it is on one of them
    WB_SCRIPT_PRIORITY,    // `amount` from here on
    WB_SCRIPT_EXIT,        //
    WB_SCRIPT_LOOP,        // `amount` times, 0: for ever; its counter is `object`, its end `other`;
                           // there are events within
    WB_SCRIPT_END,         // of the loop at `other`
};

struct wb_script_event {
    enum wb_script_verb verb;
    uint32_t object, other;
    bool is_firing;      // of a loop and its end
    bool is_absolute;    // of a timer: one that is late does not begin anew
    bool is_checkpoint;  // after it
    uint64_t amount;
    const uint64_t *numbers;
    uint32_t n_numbers;
    const char *place;  // where it stands, for messages: its phase and its line
};

// What the scripts of a system have in common, by its place in a list.
enum wb_object_kind {
    WB_OBJECT_MUTEX,
    WB_OBJECT_CONDITION,
    WB_OBJECT_BARRIER,
    WB_OBJECT_SEMAPHORE,
    WB_OBJECT_TIMER,
};

struct wb_script_timer {
    uint64_t next_ns;
    bool begun;  // else it counts from the start of the task
};

struct wb_shared_timer {  // of several tasks: who holds the mutex
    struct wb_mutex mutex;
    struct wb_script_timer timer;
};

struct wb_object_config {
    const char *name;  // copied
    enum wb_object_kind kind;
    uint32_t value;  // of a semaphore, at the start; of a barrier: for how many tasks it is
    uint32_t most;   // of a semaphore
};

struct wb_object {
    char name[WB_NAME_BYTES];  // fixed, as is its kind
    enum wb_object_kind kind;
    union {
        struct wb_wait_queue queue;  // of each, first: what tasks that wait there say
        struct wb_mutex mutex;
        struct wb_condition condition;
        struct wb_barrier barrier;
        struct wb_semaphore semaphore;
        struct wb_shared_timer timer;
    };
};

struct wb_script_config {
    const struct wb_script_event *events;  // the last one is WB_SCRIPT_EXIT
    const char *const *ports;              // their names, for the events
    uint32_t n_events, n_ports, n_timers;
};

// A script in globally visible memory, of any number of tasks; fixed at the start.
struct wb_script {
    struct wb_script_config config;
    struct wb_object *objects;
};

// What was measured of the firings of a scripted task; the task itself.
struct wb_script_stats {
    struct wb_counter period_ns;  // from the begin of each to its end
    struct wb_counter run_ns;     // of that while it ran or was to: by run and runtime events
    struct wb_counter timed;      // firings with a timer
    struct wb_counter early_ns;   // from coming to the last timer of each to its time,
    struct wb_counter late_ns;    // or from its time to coming there
    struct wb_counter wakeup_ns;  // from the time of a timer to going on
};

// Of a task.
struct wb_scripted {
    const struct wb_script *script;
    struct wb_word waits_at;  // the event that it waits at, while it does; the task
    struct wb_script_stats stats;
};

/// Makes what scripts have in common.
///
/// Context: the launcher, before any script is added. Never blocks.
/// Returns: WB_OK with `*objects`; WB_ERR_INVAL for values that do not go together; WB_ERR_NOMEM.
WB_MUST_USE enum wb_status wb_objects_add(struct wb_system *system,
                                          const struct wb_object_config *configs, uint32_t n,
                                          struct wb_object **objects);

/// How much memory they take.
size_t wb_objects_bytes(const struct wb_object_config *configs, uint32_t n);

/// Makes a script.
///
/// Context: the launcher, before any task is given it. Never blocks.
/// Memory:  `config` is copied, with all that it points to.
/// Returns: WB_OK with `*script`; WB_ERR_INVAL where an event names what is not there, or loops do
///          not end each other, or are empty; WB_ERR_NOMEM.
WB_MUST_USE enum wb_status wb_script_add(struct wb_system *system,
                                         const struct wb_script_config *config,
                                         struct wb_object *objects, uint32_t n_objects,
                                         struct wb_script **script);

/// How much memory a script takes.
size_t wb_script_bytes(const struct wb_script_config *config);

/// Gives a task its script.
///
/// Context: the launcher, once per task, before wb_system_start(). Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL for one task too many at a barrier; WB_ERR_NOMEM.
WB_MUST_USE enum wb_status wb_task_set_script(struct wb_task *task, const struct wb_script *script);

#endif
