// SPDX-License-Identifier: Apache-2.0
// The system: what all kernels share, and how a launcher lays it out.
//
// Everything here lies in globally visible memory at the same address in every kernel. The launcher
// builds it once (wb_system_init, the wb_*_add functions, wb_system_start); afterwards only the
// fields that say so change, and each says who writes it.
#ifndef WB_SYSTEM_H
#define WB_SYSTEM_H

#include "wb/agent.h"
#include "wb/app.h"
#include "wb/channel.h"
#include "wb/core.h"
#include "wb/descriptor.h"
#include "wb/fault.h"
#include "wb/heap.h"
#include "wb/kernel.h"
#include "wb/names.h"
#include "wb/owner_state.h"
#include "wb/parts.h"
#include "wb/record.h"
#include "wb/task.h"
#include "wb/word.h"

// How a replicated context travels.
enum wb_transport {
    WB_TRANSPORT_AUTO,    // as is quicker
    WB_TRANSPORT_ALIAS,   // the target reads the source's private memory: one copy
    WB_TRANSPORT_BUFFER,  // the source fills the transfer buffer while the target empties it
};

struct wb_param {
    char *key, *text;
    double *numbers;
    uint32_t n_numbers;
};

struct wb_system_config {
    uint32_t cores, tasks, channels, ports, params;  // upper bounds
    size_t core_align;                               // alignment of struct wb_core; at least 64
    uint32_t record_events, record_migrations;       // ring sizes per core, powers of two; 0: none
    size_t shared_bytes;                             // of the pool, at most WB_SHARED_MAX; 0: none
    uint64_t offer_timeout_ns;                       // how long a target may take to attach a task
    uint64_t agent_period_ns;                        // how often agents report; 0: never
    uint32_t coordinator;                            // the core of the coordinator
    enum wb_transport transport;
    uint32_t kinds;       // of cores, at most WB_KINDS_MAX; 0: one
    bool models_compute;  // tasks only take the time of their work (see wb_compute())
    bool times_frames;    // latencies are measured (see wb/latency.h)
    bool times_tasks;     // so are response times (see wb/response.h)
    uint64_t seed;        // of every draw
};

// What a sweep may have to look for. Whoever has made a request sets its bit, if it is cleared. A
// sweep clears it first, and sets it again if it has seen a request; nobody writes it at the end of
// one. That of deaths is set for good, as a task of a dead core may be over and not counted.
enum wb_sweep { WB_SWEEP_REQUESTS = 1, WB_SWEEP_DEATHS = 2 };

struct wb_system {
    // Fixed at the start.
    unsigned char *arena, *arena_end;
    struct wb_core **cores;
    struct wb_task *tasks;
    struct wb_channel *channels;
    struct wb_port *ports;
    struct wb_param *params;
    struct wb_names names;
    struct wb_locks *locks;
    struct wb_waiters *waiters;     // an index of who waits for locks; NULL: tasks are few
    struct wb_wait_queue set;       // stands for several (see wb_sync.waits_for); nobody has it
    struct wb_pool *pool;           // NULL: there is none
    struct wb_response *responses;  // one for each task; NULL: they are not measured
    struct wb_system_config config;
    uint32_t n_cores, n_tasks, n_channels, n_ports, n_params;
    bool reports;  // fixed: agents do
    bool shares;   // fixed: its kernels can (WB_CAN_SHARE)
    bool endless;  // fixed: its kernels run on after the last task
    uint64_t start_ns;
    struct wb_app app;
    const struct wb_object *objects;  // what scripts have in common (wb/script.h)
    uint32_t n_objects;

    _Alignas(WB_LINE_BYTES) struct wb_swapped live;  // tasks not over; any core
    struct wb_swapped sweep;                         // bits of enum wb_sweep; any core
    struct wb_word stopping;                         // the launcher
    struct wb_word rate_millihz;  // the launcher; frames per second in thousandths, 0: none
    struct wb_control control;
    unsigned char *transfer;            // fixed: the transfer buffer (see transfer.h)
    bool transfer_is_needed;            // fixed: tasks are recreated, which cannot do without it
    size_t transfer_bytes;              // fixed
    WB_STORED(size_t) transfer_filled;  // bytes of it that are there; the source
    uint32_t transfer_uses;             // whoever has it
    struct wb_compared transfer_owner;  // task id + 1, 0: nobody; whoever takes it, then that task
    struct wb_shared shared;            // the launcher's own
    struct wb_fault fault;
    struct wb_record record;  // what the launcher itself does to migrations
};

struct wb_task_config {
    const char *name;
    uint32_t index, core, priority;  // a larger number is more urgent
    // One bit for each core that may run it, `core` among them: whichever is free. 0, or a single
    // one: it stays on `core` until somebody moves it.
    uint32_t cores;
    wb_task_entry *entry;
    bool migratable, restart, replay;
    // Each wait is a checkpoint for a request to move. Not for WB_RECREATE: its life would begin
    // again in the midst of what it does.
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
    // the last. Both need the part `arrivals` (wb/parts.h).
    uint64_t jitter_ns, gap_ns;
};

struct wb_channel_config {
    const char *name;
    uint32_t slots, slot_bytes, initial;  // initial: zeroed messages present at the start
    bool mailbox;
    bool answers;  // of a service to one caller (see wb/call.h)
    // The room for what a firing (wb/firing.h) sends is claimed when it begins, and that of what it
    // receives is free when it ends; else room is claimed after it has computed, for one message
    // after the other, and free as soon as the message is received. Of no mailbox.
    bool claims_at_start;
    // Its slots lie in memory that is nearer to the cores. For whoever lays the system out: here it
    // is nothing but wb_channel.charged.
    bool internal;
    // When its receiver learns of messages; needs the part `notify` (wb/parts.h).
    struct wb_notify_config notify;
};

/// A task moves by hand-off: its mode says so, or no part of the program knows another way.
/// Inline, so that the compiler sees what a program without these parts never does.
static inline __attribute__((always_inline)) bool wb_task_is_handed_off(const struct wb_task *task)
{
    return (wb_parts.replicate == NULL && wb_parts.recreate == NULL) || task->mode == WB_HANDOFF;
}

/// False of a task that several cores choose among themselves: wb_task_core() is who did so last.
static inline bool wb_task_stays(const struct wb_task *task)
{
    return wb_word_load(&task->cores, WB_RELAXED) == 0;
}

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

/// Memory from the system's arena, zeroed; NULL when it is used up. `align`: a power of two.
void *wb_system_alloc(struct wb_system *system, size_t bytes, size_t align);

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

/// Makes every task ready for the kernel of its core to attach, and fixes the start of time.
///
/// Returns: WB_OK; WB_ERR_NOMEM when the transfer buffer cannot be had; or what
///          wb_kernel_task_init() says of a stack.
WB_MUST_USE enum wb_status wb_system_start(struct wb_system *system, uint64_t start_ns);

/// Asks sources to end; what is under way drains.
void wb_system_stop(struct wb_system *system);

/// Counts the time of the tasks that were running when the run was cut off.
///
/// Context: the launcher, once no kernel runs any more.
void wb_system_settle(struct wb_system *system, uint64_t now_ns);

/// Notes the first fault of the run; later ones are ignored.
void wb_system_fault(struct wb_system *system, enum wb_fault_kind kind, const struct wb_task *task,
                     const char *text);

/// Asks for a migration; returns without waiting for it.
///
/// Context: any core or the launcher. Never blocks.
/// Memory:  `requester` (may be NULL) is woken at the end.
/// Returns: WB_OK: the request stands, its outcome follows; else as wb_migrate().
WB_MUST_USE enum wb_status wb_migration_request(struct wb_task *task, uint32_t core,
                                                uint64_t timeout_ns, struct wb_task *requester);

/// The same for whoever is no task, and looks for the outcome by the request's number.
///
/// Context: any core or the launcher. Never blocks.
/// Returns: WB_OK with the number in `*number`; else as wb_migrate(), without one.
WB_MUST_USE enum wb_status wb_migration_begin(struct wb_task *task, uint32_t core,
                                              uint64_t timeout_ns, uint32_t *number);

/// What became of a request that wb_migration_begin() made.
///
/// Context: any core or the launcher. Never blocks.
/// Returns: WB_ERR_EMPTY while it is under way; its outcome; WB_ERR_BUSY when a later one that was
///          begun the same way has ended since, so its outcome is not known.
enum wb_status wb_migration_outcome(const struct wb_task *task, uint32_t number);

/// Withdraws a request that is not done yet: the task stays on its source. `why` is its outcome.
///
/// Context: any core or the launcher. Never blocks.
void wb_migration_cancel(struct wb_task *task, enum wb_status why);

/// The same, if the request under way is the one of that number.
///
/// Context: any core or the launcher. Never blocks.
void wb_migration_withdraw(struct wb_task *task, uint32_t number, enum wb_status why);

/// True while a migration of the task is under way.
bool wb_migration_pending(const struct wb_task *task);

/// Withdraws the requests that are overdue or whose target is dead, and sees to it that the run
/// ends after its last task. To be called now and then by one core or the launcher, so that both
/// happen even if the kernel that ought to see to it was killed.
void wb_system_sweep(struct wb_system *system, uint64_t now_ns);

/// Takes over what a killed kernel left: tasks that were not running move to a living core; one
/// that was running starts again (`restart`) or is lost, and its ports are closed.
///
/// Context: one core or the launcher, once per death. Never blocks.
/// Returns: how many tasks were lost.
uint32_t wb_core_died(struct wb_system *system, uint32_t core);

/// Makes a blocked task look at its condition again, wherever it is.
///
/// Context: any core or the launcher. Never blocks.
void wb_task_wake(struct wb_task *task);

/// Leaves a note about a task with a core, and rings.
void wb_inbox_post(struct wb_core *core, uint32_t task);

#endif
