// SPDX-License-Identifier: Apache-2.0
// For launchers: what a system is made of, before its kernels run.
#ifndef WB_LAUNCHER_H
#define WB_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/system.h"

struct wb_task_config {
    const char *name;
    uint32_t index, core, priority;  // a larger number is more urgent
    // One bit for each core that may run it, `core` among them: whichever is free. 0, or a single
    // one: it stays on `core` until somebody moves it.
    uint32_t cores;
    wb_task_entry *entry;
    bool migratable, restart, replay;
    // Each wait is a checkpoint for a request to move. Not for WB_RECREATE and WB_REENTER: its life
    // would begin again in the midst of what it does.
    bool moves_at_waits;
    enum wb_mode mode;
    uint32_t checkpoint_every;
    void *stack;
    void *heap;  // NULL: from the arena
    size_t stack_bytes, heap_bytes;
    bool follows_rate;
    uint64_t period_ns, deadline_ns, offset_ns;  // period 0: not periodic; deadline 0: the period
    // The frames per second in thousandths that period_ns is rounded down from, 0: it is exact.
    // What period_ns and offset_ns leave is in parts of a nanosecond that has rate_millihz of them.
    uint32_t rate_millihz, period_rest, offset_rest;
    // Jobs begin up to jitter_ns after their release, evenly drawn. A sporadic task has gap_ns, not
    // 0: a job is released its period and so much more, exponentially drawn around that mean, after
    // the last. Both need the part `arrivals` (wb/system.h).
    uint64_t jitter_ns, gap_ns;
};

struct wb_channel_config {
    const char *name;
    uint32_t slots, slot_bytes, initial;  // initial: zeroed messages present at the start
    bool mailbox;
    bool answers;  // of a service to one caller (see wb/wb.h)
    // The room for what a firing (wb/wb.h) sends is claimed when it begins, and that of what it
    // receives is free when it ends; else room is claimed after it has computed, for one message
    // after the other, and free as soon as the message is received. Of no mailbox.
    bool claims_at_start;
    // Its slots lie in memory that is nearer to the cores. For whoever lays the system out: here it
    // is nothing but wb_channel.charged.
    bool internal;
    // When its receiver learns of messages; needs the part `notify` (wb/system.h).
    struct wb_notify_config notify;
};

/// How many bytes of memory wb_system_init() and the wb_*_add() calls need for `config`, without
/// what channels, heaps and wb_app_alloc() add.
size_t wb_system_bytes(const struct wb_system_config *config);

/// Lays out a system in `memory`, zeroed and visible to every kernel at this address.
///
/// Context: the launcher, once, before any kernel runs. Never blocks.
/// Memory:  `memory` stays the caller's and must outlive every kernel.
/// Returns: WB_OK, WB_ERR_INVAL for a bad config, WB_ERR_NOMEM.
WB_MUST_USE enum wb_status wb_system_init(struct wb_system **system, void *memory, size_t bytes,
                                          const struct wb_system_config *config);

/// What the kernels must be able to do for such a task (enum wb_capability).
///
/// Context: any. Never blocks.
uint32_t wb_task_needs(const struct wb_task_config *config);

/// Adds a task, a channel, or a port that binds them. Names are copied.
///
/// Context: the launcher, before wb_system_start(). Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL for a bad value, a name that is taken, or a second sender or
///          receiver of a channel that is no mailbox; WB_ERR_NOMEM beyond the bounds of the config;
///          WB_ERR_UNABLE for a task that needs what the kernels cannot do.
WB_MUST_USE enum wb_status wb_task_add(struct wb_system *system,
                                       const struct wb_task_config *config, struct wb_task **task);
WB_MUST_USE enum wb_status wb_channel_add(struct wb_system *system,
                                          const struct wb_channel_config *config,
                                          struct wb_channel **channel);
WB_MUST_USE enum wb_status wb_port_add(struct wb_task *task, struct wb_channel *channel,
                                       enum wb_direction direction, const char *name,
                                       uint32_t index);

/// Says how many messages pass a port in each firing of its task: 1 to WB_RATE_MAX.
///
/// Context: the launcher, before wb_system_start(). Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL for a rate out of range.
WB_MUST_USE enum wb_status wb_port_set_rate(struct wb_port *port, uint32_t rate);

/// Adds a parameter of the application. All of it is copied.
///
/// Context: the launcher, before wb_system_start(). Never blocks.
/// Returns: WB_OK; WB_ERR_NOMEM beyond the bounds of the config.
WB_MUST_USE enum wb_status wb_param_add(struct wb_system *system, const char *key, const char *text,
                                        const double *numbers, uint32_t n_numbers);

/// Takes the transfer buffer and the images of tasks from the arena. A system whose tasks are all
/// handed off and keep no images needs neither.
///
/// Context: the launcher, after the last wb_*_add() call. Never blocks.
/// Returns: true; false when the arena has no room.
WB_MUST_USE bool wb_system_reserve(struct wb_system *system);

/// Makes every task ready for the kernel of its core to attach, and fixes the start of time.
///
/// Returns: WB_OK; WB_ERR_INVAL when a task needs what wb_system_reserve() has not taken; or what
///          wb_kernel_task_init() says of a stack.
WB_MUST_USE enum wb_status wb_system_start(struct wb_system *system, uint64_t start_ns);

/// Counts the time of the tasks that were running when the run was cut off.
///
/// Context: the launcher, once no kernel runs any more.
void wb_system_settle(struct wb_system *system, uint64_t now_ns);

// ---- Scripts ------------------------------------------------------------------------------------

// Scripts: tasks that do one event after the other, as a list says: run, sleep, lock, send, wait.
//
// What a thread of a program does from outside: a workload generator's phases, a recorded trace, a
// control loop with several messages. A task with one firing for ever is an actor (wb/wb.h).
//
// Events are numbered by their place in the list. Loops are events, too: WB_SCRIPT_LOOP begins one,
// WB_SCRIPT_END ends it, and each says where the other is. One turn of a loop that is marked
// (`is_firing`) is a firing of its task. Times and the four measures are those of rt-app's log
// (github.com/scheduler-tools/rt-app, doc/tutorial.txt).

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

/// Gives a task its script.
///
/// Context: the launcher, once per task, before wb_system_start(). Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL for one task too many at a barrier; WB_ERR_NOMEM.
WB_MUST_USE enum wb_status wb_task_set_script(struct wb_task *task, const struct wb_script *script);

#endif
