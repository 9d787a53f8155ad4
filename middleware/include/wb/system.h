// SPDX-License-Identifier: Apache-2.0
// The system: what all kernels share, and how a launcher lays it out.
//
// Everything here lies in globally visible memory at the same address in every kernel. The launcher
// builds it once (wb_system_init, the wb_*_add functions, wb_system_start); afterwards only the
// fields that say so change, and each says who writes it.
#ifndef WB_SYSTEM_H
#define WB_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "wb/descriptor.h"
#include "wb/kernel.h"
#include "wb/policy.h"
#include "wb/status.h"
#include "wb/wb.h"
#include "wb/word.h"

struct wb_core;
struct wb_point;
struct wb_system;

// ---- Names --------------------------------------------------------------------------------------

// Names of tasks and channels: a hash table, so that a name is found as quickly among many as among
// few.

#define WB_NAMES_CHANNEL ((uint32_t)1 << 31)

struct wb_name {
    uint32_t hash, number;  // number: of what it names, from 1, a channel's with WB_NAMES_CHANNEL
};

struct wb_names {  // fixed at the start
    struct wb_name *slots;
    uint32_t mask;  // how many there are, a power of two, less 1
};

// ---- Parts --------------------------------------------------------------------------------------

// The parts of the middleware that a program is made of, beyond what every system does:
// checkpoints, and moving by hand-off.
//
// Each program that is linked has one `wb_parts`: middleware/src/parts.c has all of them, a board
// names those that it wants in a file of its own, and the linker leaves the others out
// (-ffunction-sections, --gc-sections). What is asked of a part that is not there is refused by the
// wb_*_add functions and wb_system_init() with WB_ERR_INVAL. The table is not in shared memory,
// because the program of a recreated task has it at other addresses than its kernel.

struct wb_migration_ops;
struct wb_part_agents;
struct wb_part_arrivals;
struct wb_part_notify;
struct wb_part_channels;
struct wb_part_deaths;
struct wb_part_images;
struct wb_part_latency;
struct wb_part_locks;
struct wb_part_mailboxes;
struct wb_part_pool;
struct wb_part_records;
struct wb_part_responses;
struct wb_part_waiters;

struct wb_parts {                                                   // NULL: not there
    const struct wb_migration_ops *replicate, *recreate, *reenter;  // how else tasks move
    const struct wb_part_channels *channels;                        // tasks send and receive
    const struct wb_part_mailboxes *mailboxes;                      // channels with many senders
    const struct wb_part_notify *notify;        // receivers that are not woken by each message
    const struct wb_part_locks *locks;          // semaphores, mutexes, inheritance of priorities
    const struct wb_part_pool *pool;            // memory that tasks share
    const struct wb_part_images *images;        // checkpoint images
    const struct wb_part_deaths *deaths;        // tasks outlive a killed kernel
    const struct wb_part_agents *agents;        // reports, policies, operating points
    const struct wb_part_arrivals *arrivals;    // jitter, sporadic tasks
    const struct wb_part_records *records;      // of events and migrations
    const struct wb_part_latency *latency;      // of frames: 30 KiB for each core
    const struct wb_part_responses *responses;  // of tasks: as much for each task
    const struct wb_part_waiters *waiters;      // an index of who waits for locks, of many tasks
};

extern const struct wb_parts wb_parts;

extern const struct wb_migration_ops wb_replicate, wb_recreate, wb_reenter;
extern const struct wb_part_channels wb_part_channels;
extern const struct wb_part_mailboxes wb_part_mailboxes;
extern const struct wb_part_notify wb_part_notify;
extern const struct wb_part_locks wb_part_locks;
extern const struct wb_part_pool wb_part_pool;
extern const struct wb_part_images wb_part_images;
extern const struct wb_part_deaths wb_part_deaths;
extern const struct wb_part_agents wb_part_agents;
extern const struct wb_part_arrivals wb_part_arrivals;
extern const struct wb_part_records wb_part_records;
extern const struct wb_part_latency wb_part_latency;
extern const struct wb_part_responses wb_part_responses;
extern const struct wb_part_waiters wb_part_waiters;

// For a table: every part but the index of waiters, which many tasks are worth, and re-entry, which
// systems of several programs are.
#define WB_PARTS_FOR_FEW_TASKS                                                                     \
    .replicate = &wb_replicate, .recreate = &wb_recreate, .channels = &wb_part_channels,           \
    .mailboxes = &wb_part_mailboxes, .notify = &wb_part_notify, .locks = &wb_part_locks,           \
    .pool = &wb_part_pool, .images = &wb_part_images, .deaths = &wb_part_deaths,                   \
    .agents = &wb_part_agents, .arrivals = &wb_part_arrivals, .records = &wb_part_records,         \
    .latency = &wb_part_latency, .responses = &wb_part_responses

// ---- Programs -----------------------------------------------------------------------------------

// Kernels that were linked together are one program: the same code is at the same address for each,
// and each goes on from a context that another has saved. Most systems are of one program; the
// kernels of the launcher's own are those of program 0.
//
// Between two programs a task moves by re-entry only (WB_REENTER). What points to code or to a
// program's own data is not common to them: so tasks' functions are known for each.
struct wb_program {
    uint32_t can;  // enum wb_capability, of its kernels; the launcher
    // Of each task, by number; NULL: the program does not have it. Of program 0 NULL: it is in the
    // task. Written before any kernel starts.
    wb_task_entry **entries;
};

/// A number that two programs have in common only if they agree on where everything is that kernels
/// share: on the sizes of the structures, on the places of their members, and on the parts that
/// write there.
///
/// Context: any. Never blocks.
uint64_t wb_layout(void);

/// Says of which program the kernel of a core is: a number below wb_system_config.programs.
///
/// Context: the launcher, before any task is added. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL for a program that does not exist, or once there are tasks.
WB_MUST_USE enum wb_status wb_core_set_program(struct wb_core *core, uint32_t program);

// ---- Faults -------------------------------------------------------------------------------------

// The first fault of a run: why it ends before its time. And the first task that ended alone with
// an error, which the launcher tells once the run is over.

enum wb_fault_kind {
    WB_FAULT_NONE,
    WB_FAULT_STACK,   // a task overflowed its stack
    WB_FAULT_MEMORY,  // a task touched memory that is not its
    WB_FAULT_TRAP,    // an illegal instruction, a division by zero, an abort
    WB_FAULT_TASK,    // a task failed by its own word
    WB_FAULT_KERNEL,  // a kernel could not go on
    WB_FAULT_PORT,    // a task asked for a port that it does not have, or not for such messages
    WB_FAULT_HEAP,    // a task went on without the memory that its heap did not have
    WB_FAULT_EXIT,    // a task ended alone with an error, by wb_task_exit()
};

struct wb_fault {  // written once, by the core that wins `taken`
    struct wb_swapped taken;
    struct wb_word complete;
    enum wb_fault_kind kind;
    uint32_t core, task, channel;  // WB_CORE_NONE, UINT32_MAX when there is none
    char text[WB_ERROR_BYTES];
};

// ---- Energy -------------------------------------------------------------------------------------

// Energy: how long each core was active and idle at each of its operating points, and what that
// comes to by the power that its platform gives for them.
//
// Nothing is counted while tasks switch. The totals of a core (wb_core_stats) are split when it
// changes its point: what is not yet given to any point belongs to the present one.

struct wb_residency {  // of one core at one point; written by the core's own kernel
    struct wb_counter active_ns, idle_ns;
};

struct wb_residence {  // the same as a reader sees it
    uint64_t active_ns, idle_ns;
};

/// Gives a core its operating points, from the lowest frequency to the highest. It begins at
/// `start`.
///
/// Context: the launcher, before wb_system_start(), once per core. Never blocks.
/// Memory:  `points` are copied.
/// Returns: WB_OK; WB_ERR_INVAL for none, for frequencies that do not ascend from above 0, or a
///          `start` that is none of them; WB_ERR_NOMEM; WB_ERR_UNABLE for more than one where
///          kernels cannot change them.
WB_MUST_USE enum wb_status wb_core_set_points(struct wb_core *core, const struct wb_point *points,
                                              uint32_t n_points, uint32_t start);

/// Notes that a core has taken an operating point, and settles what it did at the last one.
///
/// Context: the core's own kernel or a task of it, from wb_kernel_set_point(). Never blocks.
void wb_core_enter_point(struct wb_core *core, uint32_t point, uint64_t now_ns);

/// How long a core has been active (in tasks) and idle at one of its points.
///
/// Context: any core or the launcher, after wb_system_start(). Never blocks.
struct wb_residence wb_core_residence(const struct wb_core *core, uint32_t point, uint64_t now_ns);

/// The energy of a core since the start, in microjoules; 0 without operating points.
///
/// Context: any core or the launcher, after wb_system_start(). Never blocks.
uint64_t wb_core_energy(const struct wb_core *core, uint64_t now_ns);

// ---- Agents -------------------------------------------------------------------------------------

// What agents report, and how the launcher says who decides.
//
// Each period (wb_system_config.agent_period_ns) the agent of each core writes what its core and
// its tasks used into globally visible memory, and the coordinator, on one core, reads all of that
// and asks the policy (acquaviva2008 section 4.2: slave and master daemon). A local policy is asked
// by each core for itself. Each word has one writer and stands for itself, so nothing here is
// locked: a reader may see one word of this period and the next of the one before.

enum {
    WB_ADVICE_BYTES = 160,
    WB_NO_POINT = UINT16_MAX,  // no operating point has been asked for
};

// The nonsense that a policy decided and that was not carried out, for the launcher to tell.
struct wb_advice {
    uint64_t time_ns;
    const struct wb_policy *policy;
    uint32_t core;  // that asked it
    char text[WB_ADVICE_BYTES];
};

struct wb_residents {
    struct wb_compared word;  // 1 + w: of tasks 32 * w and the 31 after it; 0: of none yet
    struct wb_swapped bits;   // one for each of them that came here, and may have left
};

struct wb_core_report {
    // Any core reads; written by the core's own agent.
    struct wb_word busy_ppm;       // of the last period in tasks, at the present frequency
    struct wb_word load_ppm;       // sum of its tasks' loads
    struct wb_word context_bytes;  // of its tasks; UINT32_MAX: that or more
    WB_STORED(int32_t) temperature_mc;
    struct wb_word periods;  // reported so far

    // Of the tasks that came here; written where one comes, also in an interrupt (agent.c).
    struct wb_residents *residents;
    uint32_t came_last;  // number of those that a task came to last

    // That agent's own.
    uint64_t due_ns, from_ns, mark_ns;
    uint32_t obeyed_point;           // the order that was carried out last
    uint32_t advised_choice;         // of which policy `advised` was told
    char advised[WB_ADVICE_BYTES];   // told last, so that it is told once
    struct wb_ring advice;           // for the launcher
    struct wb_snapshot_core *cores;  // for this core's snapshots and decisions; fixed at the start
    struct wb_snapshot_task *tasks;
    struct wb_move *moves;
    struct wb_set_point *points;
};

struct wb_control {
    const struct wb_table_row *rows;  // fixed at the start, ascending
    uint32_t n_rows;

    struct wb_compared coordinator;  // its core; whoever sees that this one is dead swaps it
    // The policy in force. The launcher writes; `choice` counts, and is odd while it does.
    struct wb_word choice;
    WB_STORED(const struct wb_policy *) policy;
    struct wb_word params[2 * WB_POLICY_PARAMS];  // low and high half of each
};

/// True of a core without tasks whose next reports all say what the last one did, until a task or a
/// note comes to it or another policy decides: they may as well not be made, and be counted by
/// wb_agent_skip(). Of temperatures it knows nothing.
///
/// Context: the core's kernel. Never blocks.
bool wb_agent_is_silent(const struct wb_core *core);

/// Whether a task has come to the core and had not left when its agent reported last.
///
/// Context: the core's kernel, of a system whose agents report. Never blocks.
bool wb_agent_has_residents(const struct wb_core *core);

/// Counts the periods that were over before `now_ns` as reported; when the next one is.
///
/// Context: the core's kernel, or the launcher while no kernel runs. Never blocks.
uint64_t wb_agent_skip(struct wb_core *core, uint64_t now_ns);

/// Lets another policy decide from the next period on; NULL: none. `params`: one value for each of
/// its parameters.
///
/// Context: the launcher. Never blocks.
/// Memory:  `policy` lies at the same address in every kernel and outlives them; `params` is
///          copied.
/// Returns: WB_OK, or WB_ERR_INVAL when agents do not report (agent_period_ns is 0).
WB_MUST_USE enum wb_status wb_system_set_policy(struct wb_system *system,
                                                const struct wb_policy *policy,
                                                const int64_t *params);

/// The policy that decides, or NULL.
///
/// Context: the launcher. Never blocks.
const struct wb_policy *wb_system_policy(const struct wb_system *system);

/// Changes the frame rate, in thousandths of frames per second: what follows it has a new period
/// from its next job on. 0: the periods they began with.
///
/// Context: the launcher. Never blocks.
void wb_system_set_rate(struct wb_system *system, uint32_t rate_millihz);

// ---- Cores --------------------------------------------------------------------------------------

// A core as it lies in globally visible memory: its inbox, and what its kernel counts and reports.

enum {
    WB_NEAR_WORDS = 12,          // inbox words that share the summary's line
    WB_KERNEL_CORE_BYTES = 128,  // a kernel's own part of a core
    WB_CORES_MAX = 4095,         // cores fit 12 bits of an owner_state
};

// Notes to a core, one bit per task: "look at this task". Setting a bit twice is the same as once,
// so a lost, late or repeated doorbell does no harm; what to do is read from the task itself.
struct wb_inbox {
    _Alignas(WB_LINE_BYTES) union {
        struct {
            struct wb_swapped summary;  // bit b: some word w with w % 32 == b is set
            struct wb_swapped near[WB_NEAR_WORDS];
        };
        struct wb_pair pair;  // of these the first two
    };
    uint32_t n_words;          // fixed
    struct wb_swapped *words;  // set by any core, taken by the core that owns the inbox
};

/// Whether a note about one of the first 32 tasks and its summary are one step.
static inline bool wb_inbox_has_pair(const struct wb_inbox *inbox)
{
    return WB_PAIRS && inbox->words == inbox->near;
}

enum wb_core_state {
    WB_CORE_DOWN,     // its kernel has not started, or not again
    WB_CORE_UP,       // serves its inbox
    WB_CORE_STOPPED,  // its kernel has ended in order
    WB_CORE_DEAD,     // its kernel was killed
};

struct wb_core_stats {          // written by the core's own kernel
    struct wb_counter busy_ns;  // in tasks, without polling
    struct wb_counter switches;
    struct wb_counter polling_ns;       // in tasks that poll a channel
    struct wb_counter sleeps;           // times the kernel slept for want of work
    struct wb_counter notes;            // inbox notes served
    struct wb_counter idle_polling_ns;  // the kernel polled for want of work, of those that do
};

struct wb_core {
    struct wb_inbox inbox;
    _Alignas(WB_LINE_BYTES) struct wb_word state;  // UP, STOPPED: its kernel; DEAD: the launcher
    uint32_t index;                                // fixed
    uint16_t kind;                                 // fixed: below wb_system_config.kinds
    uint16_t program;                              // fixed: below wb_system_config.programs
    // What wb_task.memory_core says of a task that is here: the index, and above WB_CORES_MAX a
    // number of the program, another one each time that it begins anew: what it had before is gone.
    // The launcher, while no kernel runs here.
    uint32_t memory;
    struct wb_system *system;  // fixed
    // Apart from `state`: who hands a task over looks at that.
    _Alignas(WB_LINE_BYTES) struct wb_core_stats stats;
    struct wb_record record;
    const struct wb_point *points;   // fixed: from the lowest frequency to the highest
    uint32_t n_points;               // fixed; 0: its frequency is not known and cannot be set
    struct wb_residency *residency;  // one per point; its own kernel
    struct wb_bucket *latency;       // of frames that ended here; its own kernel, or NULL
    uint32_t latency_parts;          // a bit for each part of that with some; the same
    bool returns;                    // the launcher: its kernel is started again if it dies
    struct wb_word point;            // the present one; the core's own kernel
    uint32_t emptying;               // its own kernel: the use of the transfer buffer, and how
    size_t emptied;                  // many bytes of that are here
    struct wb_swapped wanted_point;  // the coordinator, or its own agent; or WB_NO_POINT
    _Alignas(WB_LINE_BYTES) struct wb_core_report report;
    _Alignas(WB_LINE_BYTES) unsigned char kernel[WB_KERNEL_CORE_BYTES];
};

/// Whether the core is to be off while it has no tasks (WB_POINT_OFF).
///
/// Context: any. Never blocks.
static inline bool wb_core_is_let_off(const struct wb_core *core)
{
    // Relaxed: the word is all there is to know.
    return wb_word_load(&core->wanted_point, WB_RELAXED) == WB_POINT_OFF;
}

// ---- The system ---------------------------------------------------------------------------------

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
    uint32_t programs;    // 0: one
    bool models_compute;  // tasks only take the time of their work (see wb_compute())
    bool times_frames;    // latencies are measured (see wb/channel.h)
    bool times_tasks;     // so are response times (see wb/descriptor.h)
    bool updates_images;  // an image is written where it differs: reading costs less than writing
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
    struct wb_program *programs;    // config.programs of them; NULL: there is but one
    struct wb_system_config config;
    uint32_t n_cores, n_tasks, n_channels, n_ports, n_params;
    bool reports;  // fixed: agents do
    bool shares;   // fixed: its kernels can (WB_CAN_SHARE)
    bool endless;  // fixed: its kernels run on after the last task
    uint64_t start_ns;
    struct wb_app app;
    const struct wb_object *objects;  // what scripts have in common (wb/launcher.h)
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
    struct wb_fault failure;  // of wb_task_exit()
    struct wb_record record;  // what the launcher itself does to migrations
};

/// A task moves by hand-off: its mode says so, or no part of the program knows another way.
/// Inline, so that the compiler sees what a program without these parts never does.
static inline __attribute__((always_inline)) bool wb_task_is_handed_off(const struct wb_task *task)
{
    return (wb_parts.replicate == NULL && wb_parts.recreate == NULL && wb_parts.reenter == NULL) ||
           task->mode == WB_HANDOFF;
}

/// False of a task that several cores choose among themselves: wb_task_core() is who did so last.
static inline bool wb_task_stays(const struct wb_task *task)
{
    return wb_word_load(&task->cores, WB_RELAXED) == 0;
}

/// Memory from the system's arena, zeroed; NULL when it is used up. `align`: a power of two.
void *wb_system_alloc(struct wb_system *system, size_t bytes, size_t align);

/// Looks in all that a task has allocated in its heap for a word whose value is at least `low` and
/// less than `high`: an address there, most likely.
///
/// Context: the task, or whoever owns it. Blocks for as long as reading its heap takes.
/// Returns: where the first one lies; NULL: there is none.
const uintptr_t *wb_heap_find(const struct wb_task *task, uintptr_t low, uintptr_t high);

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
/// that was running starts again (`restart`) or is lost, and its ports are closed. What no other
/// core can take waits for one that `returns`: once this has been called for all that died with it,
/// its state is to be WB_CORE_DOWN, before this is called for any other.
///
/// Context: one core or the launcher, once per death. Never blocks.
/// Returns: how many tasks were lost.
uint32_t wb_core_died(struct wb_system *system, uint32_t core);

/// Makes a blocked task look at its condition again, wherever it is.
///
/// Context: any core or the launcher. Never blocks.
void wb_task_wake(struct wb_task *task);

/// What the killed kernel of a core left incomplete in its records is passed over from now on.
///
/// Context: who starts another kernel there, before. Never blocks.
static inline void wb_core_starts_again(struct wb_core *core)
{
    wb_ring_begin(&core->record.events);
    wb_ring_begin(&core->record.migrations);
    wb_ring_begin(&core->report.advice);
}

/// Leaves a note about a task with a core, and rings.
void wb_inbox_post(struct wb_core *core, uint32_t task);

// ---- Switching in few instructions --------------------------------------------------------------

// wb_task_paused() and wb_task_resumed() for kernels that are to switch in few instructions, where
// there is memory for them twice: inline, and without calls, so no registers have to be saved.

/// Does what wb_task_paused() does, for a task that has not ended and of which nothing unusual is
/// to be counted. False: nothing is done, and wb_task_paused() is to be called.
///
/// Context: as of wb_task_paused().
static inline __attribute__((always_inline)) bool
wb_task_paused_plainly(struct wb_task *task, enum wb_task_state state, uint64_t now_ns)
{
    const uint32_t owner = wb_owner_of(wb_word_load(&task->owner_state, WB_RELAXED));
    const struct wb_system *system = task->system;
    struct wb_core_stats *stats = &system->cores[owner]->stats;
    const uint64_t busy_ns = now_ns - task->resumed_ns;
    const uint32_t ns = (uint32_t)busy_ns;

    if (ns != busy_ns || task->poll_mark_ns != 0 || task->open ||
        system->config.record_events != 0 || !wb_counter_is_plain(&task->stats.busy_ns, ns) ||
        !wb_counter_is_plain(&stats->busy_ns, ns) || !wb_counter_is_plain(&stats->switches, 1))
        return false;
    task->resumed_ns = now_ns;
    wb_counter_add_plainly(&task->stats.busy_ns, ns);
    wb_counter_add_plainly(&stats->busy_ns, ns);
    wb_counter_add_plainly(&stats->switches, 1);
    // Release: should this kernel die now, whoever adopts the task sees its whole context.
    wb_word_store(&task->owner_state, wb_owner_state(state, owner), WB_RELEASE);
    return true;
}

/// Does what wb_task_resumed() does, for a task that has not come by a migration just now, in a run
/// that is not recorded. False: nothing is done, and wb_task_resumed() is to be called.
///
/// Context: as of wb_task_resumed().
static inline __attribute__((always_inline)) bool wb_task_resumed_plainly(struct wb_task *task,
                                                                          uint64_t now_ns)
{
    const uint32_t owner = wb_owner_of(wb_word_load(&task->owner_state, WB_RELAXED));

    if (task->system->config.record_events != 0 ||
        wb_request_phase(wb_word_load(&task->request, WB_RELAXED)) == WB_REQUEST_ACCEPTED ||
        !wb_counter_is_plain(&task->stats.runs, 1))
        return false;
    wb_word_store(&task->owner_state, wb_owner_state(WB_TASK_RUNNING, owner), WB_RELAXED);
    task->resumed_ns = now_ns;
    wb_counter_add_plainly(&task->stats.runs, 1);
    return true;
}

#endif
