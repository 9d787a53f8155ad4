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
#include "wb/counter.h"
#include "wb/fault.h"
#include "wb/heap.h"
#include "wb/kernel.h"
#include "wb/policy.h"
#include "wb/record.h"
#include "wb/sync.h"
#include "wb/task.h"
#include "wb/work.h"

enum {
    WB_NEAR_WORDS = 12,          // inbox words that share the summary's line
    WB_KERNEL_TASK_BYTES = 128,  // a kernel's own part of a task
    WB_KERNEL_CORE_BYTES = 128,  // a kernel's own part of a core
    WB_CORES_MAX = 4095,         // cores fit 12 bits of a place word
};

// ---- Cores --------------------------------------------------------------------------------------

// Notes to a core, one bit per task: "look at this task". Setting a bit twice is the same as once,
// so a lost, late or repeated doorbell does no harm; what to do is read from the task itself.
struct wb_inbox {
    _Alignas(WB_LINE_BYTES) _Atomic uint32_t summary;  // bit b: some word w with w % 32 == b is set
    uint32_t n_words;                                  // fixed
    _Atomic uint32_t *words;  // set by any core, taken by the core that owns the inbox
    _Atomic uint32_t near[WB_NEAR_WORDS];
};

// How a task moves (acquaviva2008 section 4.2; hand-off: holmbacka2013 section IV).
enum wb_mode {
    WB_HANDOFF,    // its memory is globally visible; only the owner of its descriptor changes
    WB_REPLICATE,  // each kernel has private memory for it at one address; its content is copied
    WB_RECREATE,   // it ends on the source, is loaded again on the target, and its state is copied
};

// How a replicated context travels.
enum wb_transport {
    WB_TRANSPORT_AUTO,    // as is quicker
    WB_TRANSPORT_ALIAS,   // the target reads the source's private memory: one copy
    WB_TRANSPORT_BUFFER,  // the source fills the transfer buffer while the target empties it
};

enum wb_by { WB_BY_USER, WB_BY_TASK, WB_BY_POLICY };  // who asked for a migration

enum wb_core_state {
    WB_CORE_DOWN,     // its kernel has not started
    WB_CORE_UP,       // serves its inbox
    WB_CORE_STOPPED,  // its kernel has ended in order
    WB_CORE_DEAD,     // its kernel was killed
};

struct wb_core_stats {             // written by the core's own kernel
    struct wb_counter busy_ns;     // in tasks, without polling
    struct wb_counter polling_ns;  // in tasks that poll a channel
    struct wb_counter switches;
    struct wb_counter sleeps;  // times the kernel slept for want of work
    struct wb_counter notes;   // inbox notes served
};

struct wb_core {
    struct wb_inbox inbox;
    _Alignas(WB_LINE_BYTES) _Atomic uint32_t state;  // UP, STOPPED: its kernel; DEAD: the launcher
    uint32_t index;                                  // fixed
    uint32_t kind;                                   // fixed: below wb_system_config.kinds
    struct wb_system *system;                        // fixed
    struct wb_core_stats stats;
    struct wb_record record;
    const struct wb_point *points;   // fixed: from the lowest frequency to the highest
    uint32_t n_points;               // fixed; 0: its frequency is not known and cannot be set
    struct wb_residency *residency;  // one per point; its own kernel
    struct wb_latency *latency;      // of frames that ended here; its own kernel, or NULL
    _Atomic uint32_t point;          // the present one; the core's own kernel
    uint32_t emptying;               // its own kernel: the use of the transfer buffer, and how
    size_t emptied;                  // many bytes of that are here
    _Atomic uint32_t wanted_point;   // the coordinator, or its own agent; or WB_NO_POINT
    _Alignas(WB_LINE_BYTES) struct wb_core_report report;
    _Alignas(WB_LINE_BYTES) unsigned char kernel[WB_KERNEL_CORE_BYTES];
};

// ---- Tasks --------------------------------------------------------------------------------------

// place: state in bits 0-3, owner core in 4-15; while OFFERED also the target core in 16-27 and the
// low bits of the request's number in 28-31, so that no one withdraws a later offer by mistake;
// while RETURNED the status that says why, negated, in 16-27.
static inline uint32_t wb_place(enum wb_task_state state, uint32_t owner)
{
    return (uint32_t)state | owner << 4;
}
static inline uint32_t wb_place_offer(uint32_t owner, uint32_t target, uint32_t number)
{
    return (uint32_t)WB_TASK_OFFERED | owner << 4 | target << 16 | number << 28;
}
static inline uint32_t wb_place_returned(uint32_t owner, enum wb_status why)
{
    return (uint32_t)WB_TASK_RETURNED | owner << 4 | (uint32_t)-why << 16;
}
static inline enum wb_status wb_place_why(uint32_t place)
{
    return (enum wb_status)(-(int32_t)(place >> 16));
}
static inline enum wb_task_state wb_place_state(uint32_t place)
{
    return (enum wb_task_state)(place & 0xf);
}
static inline bool wb_place_is_over(uint32_t place)
{
    return wb_place_state(place) == WB_TASK_ENDED || wb_place_state(place) == WB_TASK_LOST;
}
static inline uint32_t wb_place_owner(uint32_t place)
{
    return place >> 4 & 0xfff;
}
static inline uint32_t wb_place_target(uint32_t place)
{
    return place >> 16 & 0xfff;
}

// request: phase in bits 0-3, a core in bits 4-15, the rest numbers the requests.
enum wb_request_phase {
    WB_REQUEST_NONE,
    WB_REQUEST_FILLING,   // one core (the core bits; the launcher is 0xfff) writes the request
    WB_REQUEST_PENDING,   // waits for the task's checkpoint
    WB_REQUEST_ACCEPTED,  // the task is at its checkpoint: parked, offered, or being taken back
};
static inline uint32_t wb_request(enum wb_request_phase phase, uint32_t core, uint32_t number)
{
    return (uint32_t)phase | (core & 0xfff) << 4 | number << 16;
}
static inline enum wb_request_phase wb_request_phase(uint32_t request)
{
    return (enum wb_request_phase)(request & 0xf);
}
static inline uint32_t wb_request_core(uint32_t request)
{
    return request >> 4 & 0xfff;
}
static inline uint32_t wb_request_number(uint32_t request)
{
    return request >> 16;
}

struct wb_task_stats {  // written by the kernel that owns the task
    struct wb_counter busy_ns;
    struct wb_counter polling_ns;
    struct wb_counter runs;  // times it was switched to
    struct wb_counter jobs;  // periods ended
    struct wb_counter misses;
    struct wb_counter migrations;
    struct wb_counter refused;  // migrations that left it on its source
    struct wb_counter worst_late_ns;
};

// What a kernel has to do before a task that it takes in can run.
enum wb_revival {
    WB_REVIVE_NOT,    // its context is complete
    WB_REVIVE_ENTRY,  // it starts again from its entry
    WB_REVIVE_IMAGE,  // it goes on from its newest checkpoint image
};

// Checkpoint images: two, so that one is whole while the other is written.
struct wb_images {
    void *buffer[2];  // fixed; NULL: the task keeps none
    size_t bytes;     // fixed; of each
    // The kernel that runs the task; recovery when that is dead.
    _Atomic uint32_t newest;  // 1 + the position of the newest whole one; 0: there is none
    uint32_t since;           // checkpoints since one was taken
    struct wb_counter taken;
    // Recovery.
    uint32_t resumed, damaged;   // how often the task went on from one; how many were not whole
    uint64_t replayed, skipped;  // messages that came again, or were not processed
};

struct wb_task {
    // Fixed at the start.
    struct wb_system *system;
    char name[WB_NAME_BYTES];
    uint32_t id, index, priority;
    bool migratable, restart, has_output;
    enum wb_mode mode;
    uint32_t checkpoint_every;  // an image each so many checkpoints; 0: none
    bool replay;                // what came since the image is processed again, else it is skipped
    wb_task_entry *entry;
    unsigned char *stack;  // lowest address
    size_t stack_bytes;
    uint64_t period_ns, relative_deadline_ns, offset_ns;
    bool follows_rate;      // its period is one frame, whatever the frame rate is
    struct wb_port *ports;  // list by next_of_task

    // Shared: who may change a word depends on the state in it (see migration.c).
    _Alignas(WB_LINE_BYTES) _Atomic uint32_t place;
    _Atomic uint32_t request;
    _Atomic int32_t outcome;        // of the last migration; written before request goes NONE
    _Atomic uint32_t requester;     // task id + 1 to wake at the end, 0 for none
    _Atomic int32_t answer;         // what became of the last request of this task's own
    struct wb_migration migration;  // of the request; written by whoever holds its phase
    struct wb_counter deadline_ns;  // of the request, or of the offer if that is earlier
    struct wb_sync sync;

    // The task itself and the kernel that owns it.
    _Alignas(WB_LINE_BYTES) struct wb_task_stats stats;
    struct wb_task_report report;
    struct wb_heap heap;
    struct wb_shared shared;
    struct wb_work work;
    void *state;
    wb_task_step *step;  // NULL: only the task itself goes on (see wb/kernel.h)
    struct wb_frame frame;
    uint64_t release_ns;       // of the current job
    uint64_t job_deadline_ns;  // of the current job, after its release; 0: none
    uint64_t resumed_ns;       // when it was last switched to
    uint64_t poll_mark_ns;     // polling time to take off the current run
    uint32_t restarts;         // written by recovery
    _Atomic uint32_t lives;    // the same: how often it was cut short, and went on or started again
    _Atomic uint32_t revive;   // enum wb_revival: recovery; cleared by the kernel that took it in
    _Atomic uint32_t memory_core;  // mode replicate: whose private memory holds its context
    struct wb_images images;
    struct wb_migration settled;  // done, but for its first output; open: it waits for that
    bool open;
    _Alignas(WB_LINE_BYTES) unsigned char kernel[WB_KERNEL_TASK_BYTES];
};

// ---- The whole ----------------------------------------------------------------------------------

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
    uint64_t seed;        // of every draw
};

struct wb_system {
    // Fixed at the start.
    unsigned char *arena, *arena_end;
    struct wb_core **cores;
    struct wb_task *tasks;
    struct wb_channel *channels;
    struct wb_port *ports;
    struct wb_param *params;
    struct wb_locks *locks;
    struct wb_pool *pool;  // NULL: there is none
    struct wb_system_config config;
    uint32_t n_cores, n_tasks, n_channels, n_ports, n_params;
    uint64_t start_ns;
    struct wb_app app;

    _Alignas(WB_LINE_BYTES) _Atomic uint32_t live;  // tasks not over; any core
    _Atomic uint32_t stopping;                      // the launcher
    _Atomic uint32_t rate_millihz;  // the launcher; frames per second in thousandths, 0: none
    struct wb_control control;
    unsigned char *transfer;          // fixed: the transfer buffer (see transfer.h)
    bool transfer_is_needed;          // fixed: tasks are recreated, which cannot do without it
    size_t transfer_bytes;            // fixed
    _Atomic size_t transfer_filled;   // bytes of it that are there; the source
    uint32_t transfer_uses;           // whoever has it
    _Atomic uint32_t transfer_owner;  // task id + 1, 0: nobody; whoever takes it, then that task
    struct wb_shared shared;          // the launcher's own
    struct wb_fault fault;
    struct wb_record record;  // what the launcher itself does to migrations
};

struct wb_task_config {
    const char *name;
    uint32_t index, core, priority;  // a larger number is more urgent
    wb_task_entry *entry;
    bool migratable, restart, replay;
    enum wb_mode mode;
    uint32_t checkpoint_every;
    void *stack;
    void *heap;  // NULL: from the arena
    size_t stack_bytes, heap_bytes;
    bool follows_rate;
    uint64_t period_ns, deadline_ns, offset_ns;  // period 0: not periodic; deadline 0: the period
};

struct wb_channel_config {
    const char *name;
    uint32_t slots, slot_bytes, initial;  // initial: zeroed messages present at the start
    bool mailbox;
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

/// Memory from the system's arena, zeroed; NULL when it is used up. `align`: a power of two.
void *wb_system_alloc(struct wb_system *system, size_t bytes, size_t align);

/// Adds a task, a channel, or a port that binds them. Names are copied.
///
/// Context: the launcher, before wb_system_start(). Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL for a bad value, a name that is taken, or a second sender or
///          receiver of a channel that is no mailbox; WB_ERR_NOMEM beyond the bounds of the config.
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

/// Withdraws a request that is not done yet: the task stays on its source. `why` is its outcome.
///
/// Context: any core or the launcher. Never blocks.
void wb_migration_cancel(struct wb_task *task, enum wb_status why);

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
