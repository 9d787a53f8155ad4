// SPDX-License-Identifier: Apache-2.0
// The descriptor of a task: all that the kernels share about it.
#ifndef WB_DESCRIPTOR_H
#define WB_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/channel.h"
#include "wb/kernel.h"
#include "wb/status.h"
#include "wb/wb.h"
#include "wb/word.h"

struct wb_bucket;
struct wb_core;

// ---- Events and migrations ----------------------------------------------------------------------

// What a kernel leaves behind about the run: events (with --record) and completed migrations
// (always), in rings that the launcher drains. A full ring drops the newest and counts it, unless
// something makes room in it.

// Numbers are part of the recorded-run format (docs/recorded-run.md): add at the end.
enum wb_event_kind {
    WB_EVENT_RUN = 1,         // task is switched to
    WB_EVENT_READY = 2,       // task gives its core up, ready; value: as of WB_EVENT_BLOCK
    WB_EVENT_BLOCK = 3,       // task blocks; object: what it waits for (enum wb_wait_for); value:
                              // ns since it was switched to that it polled
    WB_EVENT_END = 4,         // task ends; value: as of WB_EVENT_BLOCK
    WB_EVENT_SEND = 5,        // task commits to channel `object`; value: depth after it
    WB_EVENT_RECEIVE = 6,     // task releases from channel `object`; value: depth after it
    WB_EVENT_MISS = 7,        // task missed a deadline; value: nanoseconds late (at most 2^32 - 1)
    WB_EVENT_PARK = 8,        // task is parked; object: target core; value: as of WB_EVENT_BLOCK
    WB_EVENT_ATTACH = 9,      // task is attached here; object: source core
    WB_EVENT_RETURN = 10,     // task is taken back by its source; object: target core
    WB_EVENT_SLEEP = 11,      // the kernel sleeps
    WB_EVENT_AWAKE = 12,      // the kernel is awake
    WB_EVENT_OUTPUT = 13,     // first output of the task after a migration
    WB_EVENT_FREQUENCY = 14,  // the core enters an operating point; value: kHz
    WB_EVENT_POWER = 15,      // value: what the core consumes from here on, in microwatts
    WB_EVENT_TEMPERATURE = 16,  // value: of the core, thousandths of a degree Celsius, signed
    WB_EVENT_DOORBELL = 17,     // the core is rung; object: by which core
    WB_EVENT_CALL = 18,  // task has done a step of a call over mailbox `object`; value: the call's
                         // number, and in the lowest WB_CALL_STEP_BITS the step (enum wb_call_step)
};

// The steps of a call (lee2009 figure 3), each when it is done; the middle ones by the service.
enum wb_call_step {
    WB_CALL_BEGUN = 0,        // nothing yet
    WB_CALL_COPIED_IN = 1,    // the data lie in the shared memory
    WB_CALL_DESCRIBED = 2,    // so does the control message
    WB_CALL_NOTIFIED = 3,     // the service has been told
    WB_CALL_SEEN = 4,         // the service has the control message
    WB_CALL_FOUND = 5,        // it has the data, and the place for the answer
    WB_CALL_SERVED = 6,       // the answer lies in the shared memory
    WB_CALL_ANSWERED = 7,     // so does its control message
    WB_CALL_BACK = 8,         // the caller has been told
    WB_CALL_RECEIVED = 9,     // the caller has the control message
    WB_CALL_COPIED_OUT = 10,  // it has the answer
    WB_CALL_STEP_BITS = 4,    // the lowest bits of an event's value; the rest: the call's number
};

// What a task that blocks waits for: the upper bits of `object`, and which in the lower ones.
enum wb_wait_for {
    WB_WAIT_UNTOLD = 0,   // a time, a file, a migration, or whichever of several things comes first
    WB_WAIT_OBJECT = 1,   // of scripts, by its place in their list (wb_objects_add())
    WB_WAIT_CHANNEL = 2,  // a message in it, or room, by its number
    WB_WAIT_MUTEX = 3,    // one of the application's own, as are the next
    WB_WAIT_SEMAPHORE = 4,  //
    WB_WAIT_CONDITION = 5,  //
    WB_WAIT_BARRIER = 6,    //
    WB_WAIT_SHIFT = 28,     // where the upper bits begin
};

struct wb_event {  // 24 bytes, little-endian in files
    uint64_t time_ns;
    uint16_t kind, core;
    uint32_t task;    // UINT32_MAX: none
    uint32_t object;  // what it is about, by kind
    uint32_t value;
};

struct wb_migration {
    uint64_t request_ns, parked_ns, attached_ns, running_ns, output_ns;  // 0: not reached
    uint64_t copied_ns;  // the context is on the target; 0 for a hand-off, which copies nothing
    uint64_t bytes;      // of context that were copied
    uint32_t task, source, target;
    int32_t status;  // enum wb_status
    uint32_t mode;   // enum wb_mode
    uint32_t by;     // enum wb_by
};

// Writers are one core's kernel, tasks and interrupts; the reader is the launcher. A slot starts
// with a word that says whether it is complete, so a writer may interrupt another.
struct wb_ring {
    struct wb_compared tail;    // writers
    struct wb_word head;        // the reader
    struct wb_swapped dropped;  // writers
    struct wb_word since;       // where the entries of the kernel that runs now begin
    uint32_t settled;           // the reader: the last of these that it has come to
    uint32_t slots;             // fixed; a power of two; 0: nothing is kept
    uint32_t entry_bytes;       // fixed
    unsigned char *data;        // fixed
    // Takes entries until there is room, while a writer waits; NULL: nothing does. Fixed, and only
    // where the writers and the reader are one thread.
    void (*make_room)(void);
};

struct wb_record {
    struct wb_ring events, migrations;
};

/// Puts an entry into a ring, or counts it as dropped. Blocks only in `make_room`.
void wb_ring_put(struct wb_ring *ring, const void *entry);

/// Begins the entries of another kernel. One that was killed may have left incomplete ones before.
///
/// Context: nobody puts any entry. Never blocks.
static inline void wb_ring_begin(struct wb_ring *ring)
{
    // Release: who sees this sees all that the killed kernel has written.
    wb_word_store(&ring->since, wb_word_load(&ring->tail, WB_RELAXED), WB_RELEASE);
}

/// Takes the oldest complete entry, and passes over those that a killed kernel left incomplete.
///
/// Context: the one reader. Never blocks.
/// Returns: false when there is none.
bool wb_ring_take(struct wb_ring *ring, void *entry);

/// Takes the oldest complete events, at most so many.
///
/// Context: as wb_ring_take().
/// Returns: how many.
uint32_t wb_ring_take_events(struct wb_ring *ring, struct wb_event *events, uint32_t most);

/// Notes an event of this core. Costs one branch when the run is not recorded. What a task that
/// blocks waits for is looked up here.
///
/// Context: the core's own kernel or its tasks. Blocks only in the ring's `make_room`.
void wb_record_event(struct wb_core *core, enum wb_event_kind kind, uint32_t task, uint32_t object,
                     uint64_t value, uint64_t time_ns);

// ---- Where a task is ----------------------------------------------------------------------------

// The two words of a task that decide where it is: `owner_state`, and `request` of a migration.
// Each change of hands is one compare-swap on one of them (see migration.c).

// owner_state: state in bits 0-3, owner core in 4-15; while OFFERED also the target core in 16-27
// and the low bits of the request's number in 28-31, so that no one withdraws a later offer by
// mistake; while RETURNED the status that says why, negated, in 16-27.
static inline uint32_t wb_owner_state(enum wb_task_state state, uint32_t owner)
{
    return (uint32_t)state | owner << 4;
}
static inline uint32_t wb_owner_state_offer(uint32_t owner, uint32_t target, uint32_t number)
{
    return (uint32_t)WB_TASK_OFFERED | owner << 4 | target << 16 | number << 28;
}
static inline uint32_t wb_owner_state_returned(uint32_t owner, enum wb_status why)
{
    return (uint32_t)WB_TASK_RETURNED | owner << 4 | (uint32_t)-why << 16;
}
static inline enum wb_status wb_owner_state_why(uint32_t owner_state)
{
    return (enum wb_status)(-(int32_t)(owner_state >> 16));
}
static inline enum wb_task_state wb_task_state_of(uint32_t owner_state)
{
    return (enum wb_task_state)(owner_state & 0xf);
}
static inline bool wb_state_is_over(uint32_t owner_state)
{
    return wb_task_state_of(owner_state) == WB_TASK_ENDED ||
           wb_task_state_of(owner_state) == WB_TASK_LOST;
}
static inline uint32_t wb_owner_of(uint32_t owner_state)
{
    return owner_state >> 4 & 0xfff;
}
/// True of a task that is with the kernel of `core`, which nobody else can take away unless several
/// cores share it.
static inline bool wb_owner_state_is_kept(uint32_t owner_state, uint32_t core)
{
    // READY, RUNNING or BLOCKED, which have nothing above the owner.
    return owner_state - wb_owner_state(WB_TASK_READY, core) <= WB_TASK_BLOCKED - WB_TASK_READY;
}
static inline uint32_t wb_target_of(uint32_t owner_state)
{
    return owner_state >> 16 & 0xfff;
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

// outcome: what became of a request, and of which: the status, negated, in bits 0-5, or that it is
// awaited; the low bits of the request's number in 6-15, the task in 16-31. A word that is read
// without the other two may be of another migration.
enum { WB_OUTCOME_AWAITED = 0x3f };
static inline uint32_t wb_outcome_awaited(uint32_t task, uint32_t number)
{
    return WB_OUTCOME_AWAITED | (number & 0x3ff) << 6 | task << 16;
}
static inline uint32_t wb_outcome(uint32_t task, uint32_t number, enum wb_status status)
{
    return (uint32_t)-status | (number & 0x3ff) << 6 | task << 16;
}
static inline bool wb_outcome_is_of(uint32_t outcome, uint32_t task, uint32_t number)
{
    return (outcome | WB_OUTCOME_AWAITED) == wb_outcome_awaited(task, number);
}
static inline enum wb_status wb_outcome_status(uint32_t outcome)
{
    return (enum wb_status)(-(int32_t)(outcome & WB_OUTCOME_AWAITED));
}

// ---- Semaphores and locks -----------------------------------------------------------------------

// What the system keeps for semaphores and locks: a few words of each task, and a table of names.
//
// A waiter says in a word of its own what it waits for, and nobody else's memory holds a list of
// waiters: there is none that a killed kernel could leave half linked.

enum {
    WB_LOCKS = 256,       // names that wb_lock() can tell apart; a power of two
    WB_HOLDER_BITS = 17,  // of wb_wait_queue.holder name a task, from 1
    WB_HOLDERS_MAX = (1 << WB_HOLDER_BITS) - 1,
    WB_HOLDER_BARRIER = 1 << WB_HOLDER_BITS  // nobody; says that the wait queue is a barrier's
};

enum wb_waited {           // bits of wb_wait_queue.waited
    WB_WAITED_ALONE = 1,   // by a task that waits for this wait queue only
    WB_WAITED_IN_SET = 2,  // by one that waits for several (wb/wb.h)
};

struct wb_sync {  // of a task
    // Set by the task, cleared by it, by whoever wakes it, or by recovery. wb_system.set: it waits
    // for several wait queues, of which `set` has a bit each.
    WB_SWAPPED(struct wb_wait_queue *) waits_for;
    struct wb_word set;       // the task
    struct wb_word priority;  // effective; the kernel that owns the task
    // Any core: counts what may have changed the task's effective priority.
    struct wb_swapped reevaluations;
    uint32_t reevaluations_seen;  // the kernel that owns the task
    uint32_t held;                // locks of wb_lock(); the task, or recovery
    uint32_t owned;               // mutexes, those of wb_lock() among them; the same
    // Of the condition that it waits for, until it returns from there, and of the mutex that it
    // waits with. The task, or recovery.
    WB_STORED(struct wb_wait_queue *) condition;
    WB_STORED(const struct wb_wait_queue *) guard;
    struct wb_word sits;  // 1: it takes part in a barrier; who has it join
};

/// The priority by which the task is to be scheduled: its own, or that of a more urgent task that
/// waits for a mutex it holds.
static inline uint32_t wb_sync_priority(const struct wb_sync *sync)
{
    // Relaxed: it is exact for the kernel that owns the task, which alone writes it, and a hint for
    // the others.
    return wb_word_load(&sync->priority, WB_RELAXED);
}

/// What `floor` of wb_kernel_yield() is once the kernel has served, where the effective priority of
/// the task was `before`. A larger one lets nobody run first, and stays.
static inline uint32_t wb_floor_after(const struct wb_sync *sync, uint32_t before, uint32_t floor)
{
    return floor <= before + 1 ? floor + wb_sync_priority(sync) - before : floor;
}

/// Something has happened since the effective priority was computed that may have changed it.
///
/// Context: the kernel that owns the task.
static inline bool wb_sync_must_reevaluate(const struct wb_sync *sync)
{
    // Acquire: who sees the count sees what was changed before it.
    return wb_word_load(&sync->reevaluations, WB_ACQUIRE) != sync->reevaluations_seen;
}

// The names of wb_lock(), an open hash table that is only ever added to.
struct wb_locks {
    WB_COMPARED(const void *) names[WB_LOCKS];  // whoever comes first with a name
    struct wb_mutex mutexes[WB_LOCKS];
};

// ---- Work ---------------------------------------------------------------------------------------

// Work: what a task computes in each firing, in cycles of each kind of core it runs on.
//
// A task with work may run where the code behind its numbers never ran: the simulator charges the
// cycles of each firing (wb_compute()), whether or not the task computes really. A task without
// work runs on every kind of core, and takes the time that it takes.

enum {
    WB_KINDS_MAX = 32,  // kinds of cores
    WB_RATE_MAX = 1 << 15,
};

#define WB_CYCLES_MAX ((uint64_t)1 << 48)  // of one firing: a day at 3 GHz

// How the cycles of a firing vary around their mean. See draw.c for how they are drawn.
enum wb_distribution {
    WB_CONSTANT,
    WB_UNIFORM,      // evenly from mean * (1 - spread) to mean * (1 + spread)
    WB_NORMAL,       // spread: its standard deviation, over the mean
    WB_EXPONENTIAL,  // has no spread of its own
};

struct wb_work_config {
    enum wb_distribution distribution;
    uint32_t spread_ppm;     // millionths of the mean; uniform: at most 1000000, normal: 333333
    uint64_t working_bytes;  // memory that it comes back to in each firing
    uint64_t traffic_bytes;  // over the interconnect in each firing
    uint64_t firings;        // a source ends after so many; 0: when the run stops
    const uint64_t *cycles;  // mean of a firing, at most WB_CYCLES_MAX; 0: not on this kind
    uint32_t n_cycles;       // one for each kind of the system; 1: the same on every kind
};

struct wb_work {
    // Fixed at the start.
    enum wb_distribution distribution;
    uint32_t spread_ppm;
    uint64_t working_bytes, traffic_bytes, firings;
    const uint64_t *cycles;  // one for each kind of the system; NULL: it has no work
    uint32_t not_on;         // bit k: it does not run on kind k

    // The task itself, by wb_compute().
    uint64_t random;  // where the stream of its draws is; a function of seed and task at the start
};

/// Says of what kind a core is: a number below wb_system_config.kinds.
///
/// Context: the launcher, before any task is added. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL for a kind that does not exist, or once there are tasks.
WB_MUST_USE enum wb_status wb_core_set_kind(struct wb_core *core, uint32_t kind);

/// Gives a task its work.
///
/// Context: the launcher, before wb_system_start(), once per task. Never blocks.
/// Memory:  `config->cycles` are copied.
/// Returns: WB_OK; WB_ERR_INVAL for a spread that its distribution does not have, too many cycles,
///          a number of them that is not that of the kinds, or a task that starts on a core of a
///          kind it does not run on; WB_ERR_NOMEM.
WB_MUST_USE enum wb_status wb_task_set_work(struct wb_task *task,
                                            const struct wb_work_config *config);

/// True if the task may run on the core: it has no work, or cycles for cores of that kind.
///
/// Context: any. Never blocks.
bool wb_task_runs_on(const struct wb_task *task, const struct wb_core *core);

/// The cycles of one firing, the next of a stream of draws; the same bits on every machine.
///
/// `mean`: at most WB_CYCLES_MAX; `spread_ppm`: as in struct wb_work_config.
/// Context: any, of one stream one caller at a time. Never blocks. Integer arithmetic only.
uint64_t wb_draw_cycles(uint64_t *random, enum wb_distribution distribution, uint32_t spread_ppm,
                        uint64_t mean);

/// The start of the stream of one task.
uint64_t wb_draw_seed(uint64_t seed, uint32_t task);

// ---- Response times -----------------------------------------------------------------------------

// Response times: how long tasks take, from when they could until they had.
//
// A job of a periodic task responds from its release until its end (M. Joseph, P. Pandya: "Finding
// Response Times in a Real-Time System", The Computer Journal 29(5), 1986). A firing of any other
// task responds from when the last of the messages that it takes was there (its activation: K.
// Tindell, J. Clark: "Holistic schedulability analysis for distributed hard real-time systems",
// Microprocessing and Microprogramming 40, 1994) until it has sent what it sends; so what waits for
// the task's earlier firings waits on its account, as customers in a queue do. Messages of the
// start were there at the start. One without inputs could begin when the firing before it ended.
//
// Where a firing ends is known of jobs (wb_period_wait()) and of tasks that only fire (wb_fire()).
// Others have ended one when they come for a message of the next, and, if they only send, with the
// last message that they send in one. Mailboxes activate nobody: a task looks into one when it
// likes.

enum { WB_RESPONSES_FEW = 4 };

// Of one task; its own, and of the kernel that owns it. What every firing looks at comes first.
struct wb_response {
    // When the last message so far of this firing was there, of a source when the firing before it
    // ended, plus one; 0: none.
    uint64_t ready_ns;
    uint64_t run_ns, run_n;     // the latest, all alike, which the following do not count yet
    uint64_t fired;             // firings that ended
    bool is_source;             // fixed: it has no inputs
    bool spilled;               // some are in `buckets`
    struct wb_bucket *buckets;  // fixed
    uint64_t n, sum_ns, min_ns, max_ns;
    // Most tasks have few response times, and their buckets no memory that was ever touched.
    struct wb_response_few {
        uint32_t bucket;
        uint64_t n, sum_ns;
    } few[WB_RESPONSES_FEW];
};

struct wb_response_times {
    uint64_t n, min_ns, mean_ns, max_ns;  // exact
    uint64_t p50_ns, p99_ns;  // half of all were no longer, and 99 of 100; of those that are all
                              // alike exact, else right to a thirty-second part
};

/// The response times of a task.
///
/// Context: the launcher, once every kernel has ended. Never blocks.
/// Returns: false, with `times` unchanged, if none was measured.
bool wb_task_response(const struct wb_task *task, struct wb_response_times *times);

// A part of a histogram: so many were at least `from_ns` and less than `to_ns`.
struct wb_response_part {
    uint64_t from_ns, to_ns, n;
};

/// The next part of a task's histogram in which there is any, each an eighth of a power of two wide
/// (of short ones 4 ns). `*at`: 0 at first.
///
/// Context: as wb_task_response().
/// Returns: false after the last one.
bool wb_task_response_next(const struct wb_task *task, uint32_t *at, struct wb_response_part *part);

// ---- Reports ------------------------------------------------------------------------------------

// What the agent of its core reports of a task (see wb/system.h).

struct wb_task_report {
    // Any core reads; written by the agent of the core that owns the task.
    struct wb_word load_ppm;       // part of a core at its highest frequency, of the last period
    struct wb_word context_bytes;  // stack and heap in use; UINT32_MAX: that or more
    struct wb_word last_core;      // where it ran before
    struct wb_word migration_ns;   // what its migrations cost it of late; 0: it never moved
    struct wb_stamp since_ns;      // when it came to its core

    // That agent's own, handed over with the task.
    uint64_t mark_ns;  // its busy time when `work_ns` was last brought up to date
    uint64_t work_ns;  // since `from_ns`, at the highest frequency
    uint64_t from_ns;
};

// ---- The descriptor -----------------------------------------------------------------------------

// A kernel's own part of a task. All that is linked together is compiled with the same.
#ifndef WB_KERNEL_TASK_BYTES
#define WB_KERNEL_TASK_BYTES 128
#endif

// How a task moves (acquaviva2008 section 4.2; hand-off: holmbacka2013 section IV).
enum wb_mode {
    WB_HANDOFF,    // its memory is globally visible; only the owner of its descriptor changes
    WB_REPLICATE,  // each kernel has private memory for it at one address; its content is copied
    WB_RECREATE,   // it ends on the source, is loaded again on the target, and its state is copied
    WB_REENTER,    // its heap and state stay, in globally visible memory; its function begins anew
};

enum wb_by { WB_BY_USER, WB_BY_TASK, WB_BY_POLICY };  // who asked for a migration

struct wb_task_stats {  // written by the kernel that owns the task
    struct wb_counter busy_ns;
    struct wb_counter runs;  // times it was switched to
    struct wb_counter polling_ns;
    struct wb_counter preemptions;  // times another took its core, of kernels that count them
    struct wb_counter jobs;         // periods ended
    struct wb_counter misses;
    struct wb_counter migrations;
    struct wb_counter chosen;   // times that another core than its last chose it (WB_CAN_SHARE)
    struct wb_counter refused;  // migrations that left it on its source
    struct wb_stamp worst_late_ns;
    struct wb_counter firings;  // that ended; of code of its own, that began to compute
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
    struct wb_word newest;  // 1 + the position of the newest whole one; 0: there is none
    uint32_t since;         // checkpoints since one was taken
    struct wb_counter taken;
    // Recovery.
    uint32_t resumed, damaged;   // how often the task went on from one; how many were not whole
    uint64_t replayed, skipped;  // messages that came again, or were not processed
};

// When a job is released. Release n of a task that follows the frame rate is at n * 10^12 / rate
// after the first, rounded down: what is lost by rounding goes along, in parts of a nanosecond.
struct wb_release {
    uint64_t ns;
    uint32_t rest, rate;  // rest: so many parts, of a nanosecond that has `rate` of them
};

// When a job may begin, after its release.
struct wb_arrival {
    uint64_t jitter_ns, gap_ns;  // fixed at the start, see wb_task_config
    uint64_t ready_ns;           // of the current job
    uint64_t random;             // where the stream of its draws is
};

struct wb_task {
    // Fixed at the start. What each switch looks at comes first.
    struct wb_system *system;
    struct wb_port *ports;      // list by next_of_task
    unsigned char *stack;       // lowest address
    uint32_t checkpoint_every;  // an image each so many checkpoints; 0: none
    char name[WB_NAME_BYTES];
    uint32_t id, index;
    struct wb_word priority;  // its own; the task
    bool migratable, restart, has_output, moves_at_waits;
    enum wb_mode mode;
    bool replay;  // what came since the image is processed again, else it is skipped
    wb_task_entry *entry;
    size_t stack_bytes;
    uint64_t period_ns, relative_deadline_ns, offset_ns;
    uint32_t rate_millihz, period_rest, offset_rest;  // see wb_task_config; a rate of 1 for none
    bool follows_rate;  // its period is one frame, whatever the frame rate is

    // Shared: who may change a word depends on the state in it (see migration.c).
    _Alignas(WB_LINE_BYTES) struct wb_compared owner_state;
    struct wb_compared request;
    // One bit each: the cores that choose among themselves which of them runs it next; 0: it stays
    // where it is. Written by the launcher, then by the core that takes in what somebody has moved.
    struct wb_word cores;
    // Of the last migration that a user asked for; written before request goes NONE.
    struct wb_word outcome;
    struct wb_word requester;  // task id + 1 to wake at the end, 0 for none
    // The last request of this task's own: the requester says that it awaits it, who ends it swaps
    // that for what became of it, and fails if the requester has gone on.
    struct wb_swapped answer;
    struct wb_migration migration;  // of the request; written by whoever holds its phase
    struct wb_stamp deadline_ns;    // of the request, or of the offer if that is earlier
    struct wb_sync sync;

    // The task itself and the kernel that owns it.
    _Alignas(WB_LINE_BYTES) uint64_t resumed_ns;  // when it was last switched to
    uint64_t poll_mark_ns;                        // polling time to take off the current run
    bool open;                                    // `settled` waits for the first output
    struct wb_task_stats stats;
    struct wb_task_report report;
    struct wb_heap heap;
    struct wb_shared shared;
    struct wb_work work;
    struct wb_response *response;  // fixed; NULL: its response times are not measured
    void *state;
    wb_task_step *step;  // NULL: only the task itself goes on (see wb/kernel.h)
    struct wb_frame frame;
    struct wb_release release;  // of the current job
    struct wb_arrival arrival;
    uint64_t job_deadline_ns;  // of the current job, after its release; 0: none
    uint32_t restarts;         // written by recovery
    // The same: how often it was cut short, and went on or started again.
    struct wb_swapped incarnation;
    struct wb_word revive;       // enum wb_revival: recovery; cleared by the kernel that took it in
    struct wb_word memory_core;  // wb_core.memory of the core that has its context
    struct wb_images images;
    struct wb_migration settled;   // done, but for its first output
    struct wb_scripted *scripted;  // fixed; NULL: it has no script
    _Alignas(WB_LINE_BYTES) unsigned char kernel[WB_KERNEL_TASK_BYTES];
};

/// The task's own priority, whatever it has inherited.
static inline uint32_t wb_own_priority(const struct wb_task *task)
{
    // Relaxed: exact for the task and its kernel, a hint for the others.
    return wb_word_load(&task->priority, WB_RELAXED);
}

#endif
