// SPDX-License-Identifier: Apache-2.0
// Whimbrel for applications: tasks, ports, memory, parameters. Kernels include wb/kernel.h.
#ifndef WB_WB_H
#define WB_WB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/status.h"
#include "wb/word.h"

WB_BEGIN_C

struct wb_app;
struct wb_port;
struct wb_semaphore;
struct wb_system;
struct wb_task;

// ---- Tasks --------------------------------------------------------------------------------------

// What a task may ask for: checkpoints, time, periods, its parameters, migration.
//
// A task is a function `int NAME(struct wb_task *self)` of the application module. It runs on
// exactly one kernel at a time, and moves only inside wb_checkpoint(): whatever it holds between
// two checkpoints may belong to the kernel it runs on (a file it opened, a lock, a C++ exception).

#define WB_FOREVER UINT64_MAX
#define WB_CORE_NONE UINT32_MAX

/// The code of a task. Returning 0 ends the task; anything else fails the run.
typedef int wb_task_entry(struct wb_task *self);

/// Nonzero when this kernel wants the running task at its next checkpoint. Realised by the kernel
/// (see wb/kernel.h); public only so that a checkpoint costs three instructions.
extern struct wb_word wb_kernel_need_resched;

/// The part of a checkpoint behind the poll. Call wb_checkpoint() instead.
void wb_checkpoint_enter(void);

/// Marks a point where the task may be moved to another core, or give way to a more urgent task.
///
/// Idle cost: a load, a test and a branch. Globals, stack, heap, held slots, errno and the
/// floating-point environment are the same before and after; the core may differ.
///
/// Context: a task. Blocks only for as long as a migration or a more urgent task takes.
/// Source:  acquaviva2008 section 4.2; holmbacka2013 listing 1.
static inline void wb_checkpoint(void)
{
    // Relaxed is enough: the word only says "look"; the look itself acquires.
    if (__builtin_expect(wb_word_load(&wb_kernel_need_resched, WB_RELAXED) != 0, 0))
        wb_checkpoint_enter();
}

/// The FreeRTOS papers' name for the same point (holmbacka2013 section IV).

/// The time of the run, in nanoseconds; one clock for all cores.
///
/// Context: any. Never blocks.
uint64_t wb_now_ns(void);

/// Computes one firing: draws its cycles from the task's work, and takes the time of them where
/// time does not pass by itself (the simulator; on real machines if computing is only modelled).
///
/// `if (wb_compute(self)) process(...)`, once for each firing, around all that costs time: messages
/// are there, in number and size, whether or not they have any content.
///
/// Context: a task. Blocks for as long as the core computes; not a checkpoint.
/// Returns: true when the caller is to compute really; false when computing is only modelled.
bool wb_compute(struct wb_task *self);

/// How often the application has a source fire, 0: until the run stops.
///
/// Context: any. Never blocks.
uint64_t wb_task_firings(const struct wb_task *self);

/// True of a task that is released once per period, if the run has periods.
///
/// Context: any. Never blocks.
bool wb_task_is_periodic(const struct wb_task *self);

/// Lets tasks of the same or a higher priority run first.
///
/// Context: a task. Not a checkpoint: the task stays on its core.
void wb_yield(void);

/// Sleeps until `time_ns` on the clock of wb_now_ns(). A past time returns at once.
///
/// Context: a task. Blocks; other tasks of the core run meanwhile.
void wb_sleep_until(uint64_t time_ns);

/// Ends one job of a periodic task and sleeps until the next release.
///
/// A job that ends later than its release + deadline counts as one deadline miss. Releases never
/// drift: a late job is followed at once by the next. Without a period (`--fast`) it only counts.
///
/// Context: a task. Blocks.
/// Returns: true when the job met its deadline.
bool wb_period_wait(struct wb_task *self);

/// True once the run should end: sources stop producing and return.
///
/// Context: any. Never blocks.
bool wb_stopping(const struct wb_task *self);

/// The task that calls; NULL outside of tasks.
///
/// Context: any. Never blocks.
struct wb_task *wb_task_self(void);

/// The name of the task in app.toml.
///
/// Context: any. Never blocks.
const char *wb_task_name(const struct wb_task *self);

/// The position of this task among those that one `count = N` block made, from 0.
uint32_t wb_task_index(const struct wb_task *self);

/// The core the task is on now. Stale as soon as another core asks; exact for the task itself.
uint32_t wb_task_core(const struct wb_task *self);

/// How often the task has been moved since the start.
uint64_t wb_task_migrations(const struct wb_task *self);

/// Finds a task of the same application.
///
/// Context: any. Never blocks.
/// Returns: the task, or NULL if there is none of that name and index.
struct wb_task *wb_task_find(const struct wb_app *app, const char *name, uint32_t index);

/// Moves a task to another core at its next checkpoint, by hand-off.
///
/// Two phases: the task is parked and offered; the target takes it or the source takes it back.
/// Whatever is returned, the task runs on: on the target after WB_OK, on its source otherwise.
/// Moving oneself is allowed and takes place inside the call.
///
/// Context: a task. Blocks until the migration is over, at most `timeout_ns`.
/// Returns: WB_OK; WB_ERR_BUSY while another migration of `task` is under way; WB_ERR_PINNED;
///          WB_ERR_INVAL for a core that does not exist, or of a kind that the task does not run
///          on; WB_ERR_GONE if the task has ended or the
///          target is dead; WB_ERR_HELD if the task holds a mutex or an exception at its
///          checkpoint; WB_ERR_TIMEOUT if it reached none, or the target did not take it, in time.
WB_MUST_USE enum wb_status wb_migrate(struct wb_task *task, uint32_t core, uint64_t timeout_ns);

/// The pointer the task left with wb_task_set_state(), NULL before. It survives a restart after
/// the death of a kernel.
void *wb_task_state(const struct wb_task *self);
/// Leaves a pointer for wb_task_state().
void wb_task_set_state(struct wb_task *self, void *state);

/// Ends the run with an error that names the task. A last line of `text` that begins with `help: `
/// is shown as what to do about it.
///
/// Context: a task. Does not return.
/// Memory:  `text` is copied (at most 255 bytes are kept).
WB_NORETURN void wb_task_fail(struct wb_task *self, const char *text);

/// Ends the calling task alone, from any depth of its calls: with an error, or with NULL as if it
/// had returned 0. Its ports close, and what it has locked is taken with WB_ERR_OWNER next. The
/// other tasks continue; once they have ended, the run ends with the first such error.
///
/// Context: a task. Does not return.
/// Memory:  `text` is copied (at most 255 bytes are kept). Nothing on the stack is cleaned up.
WB_NORETURN void wb_task_exit(struct wb_task *self, const char *text);

// ---- The application ----------------------------------------------------------------------------

// The application as a whole: its parameters and the two hooks around a run.
//
// A module may define `wb_app_setup` and `wb_app_finish`. Both run in the launcher, the first
// before any kernel exists: a file opened there is open, at the same number, in every kernel, so
// tasks that use it with pread and pwrite may move freely.

enum { WB_ERROR_BYTES = 256 };

struct wb_app {
    struct wb_system *system;
    void *state;                 // the application's own, set by wb_app_setup
    char error[WB_ERROR_BYTES];  // why a hook refused, in words for the user
};

/// Opens what the tasks need and checks the parameters. Defined by the module, if it wants it.
///
/// Context: the launcher, before any kernel runs. May block and use the C library.
/// Returns: WB_OK, or any error after writing the reason to `app->error`: the run does not start.
enum wb_status wb_app_setup(struct wb_app *app);

/// Finishes the outputs. Defined by the module, if it wants it.
///
/// Context: the launcher, after every kernel has stopped; also after a failed or interrupted run.
/// Returns: WB_OK, or any error after writing the reason to `app->error`.
enum wb_status wb_app_finish(struct wb_app *app);

/// The application that a task belongs to.
struct wb_app *wb_task_app(const struct wb_task *self);

/// Memory visible to every kernel for the whole run, zeroed, aligned to 64 bytes.
///
/// Context: wb_app_setup only. Never blocks.
/// Returns: the memory, or NULL when `[app] memory` of the TOML is used up.
void *wb_app_alloc(struct wb_app *app, size_t bytes);

/// A parameter of the TOML's [params] (or --set) as text.
///
/// Context: any. Never blocks.
/// Returns: the text, owned by the system; `fallback` when there is no such parameter.
const char *wb_param_text(const struct wb_app *app, const char *key, const char *fallback);

/// The same as a number; `fallback` when it is missing or not a number.
double wb_param_number(const struct wb_app *app, const char *key, double fallback);

/// Element `index` of a parameter that is an array of numbers; `fallback` past its end.
double wb_param_element(const struct wb_app *app, const char *key, uint32_t index, double fallback);

// ---- Ports --------------------------------------------------------------------------------------

// Ports: how a task sends to and receives from channels and mailboxes.
//
// A channel is a bounded first-in first-out queue of fixed-size slots between two tasks; a mailbox
// is one with many senders. Slots lie in globally visible memory: a pointer to one is valid on
// every core, and may be kept across checkpoints. A port belongs to its task: nobody else may use
// it. Every message that WB_OK accepted is delivered once and in order, across any number of
// migrations of either end, as long as a kernel lives to receive it.

/// Finds a port of the calling task, element `index` of the port `name`, for messages of so many
/// bytes: `wb_port_find(self, "out", 0, sizeof(struct sample))`.
///
/// Context: the task itself. Never blocks. Look it up once, outside the loop. Where the application
///          binds no such port, or the slots of its channel have another size, this ends the run
///          with an error that says so, and does not return.
/// Returns: the port; never NULL.
struct wb_port *wb_port_find(struct wb_task *self, const char *name, uint32_t index,
                             size_t message_bytes);

/// The same for messages of different sizes, up to so many bytes, which are written and read in
/// place (wb_port_claim(), wb_port_hold()): the slots may be larger.
struct wb_port *wb_port_find_room(struct wb_task *self, const char *name, uint32_t index,
                                  size_t most_bytes);

/// A port of the calling task whose messages have whatever size the application gives them: the
/// task looks at wb_port_slot_bytes().
///
/// Context: the task itself. Never blocks.
/// Returns: the port, or NULL if the application binds none of that name and index.
struct wb_port *wb_port_find_any(const struct wb_task *self, const char *name, uint32_t index);

/// How many channels are bound to the port `name` (a split or a join has several).
uint32_t wb_port_count(const struct wb_task *self, const char *name);

/// Every port of the calling task, one after the other, in the order in which they were bound.
///
/// Context: the task itself. Never blocks.
/// Returns: the port after `last`, the first one for NULL; NULL after the last one.
struct wb_port *wb_port_next(struct wb_task *self, const struct wb_port *last);

/// The name of the port in app.toml.
///
/// Context: any. Never blocks.
const char *wb_port_name(const struct wb_port *port);
/// True of a port that receives.
bool wb_port_is_input(const struct wb_port *port);

/// How many messages pass the port in each firing of its task, as the application says; 1 where it
/// says nothing.
///
/// Context: any. Never blocks.
uint32_t wb_port_rate(const struct wb_port *port);

/// The zeroed messages that were in the port's channel at the start.
///
/// Context: any. Never blocks.
uint32_t wb_port_initial(const struct wb_port *port);

/// The size of one message, in bytes; slots are aligned to 64 bytes.
uint32_t wb_port_slot_bytes(const struct wb_port *port);

/// Messages committed to (output) or released from (input) this port since the start.
uint64_t wb_port_messages(const struct wb_port *port);

/// The same as the task has come by in its present life: what it had sent before its kernel was
/// killed, and sends again from its last checkpoint image on, counts when it is sent again.
///
/// Context: the owning task. Never blocks.
uint64_t wb_port_position(const struct wb_port *port);

/// Copies one message in.
///
/// Context: the owning task. Blocks up to `timeout_ns` while the channel is full; 0 never blocks,
///          WB_FOREVER has no end.
/// Memory:  `msg` (wb_port_slot_bytes of it) is copied; it is free for reuse on return.
/// Returns: WB_OK; WB_ERR_FULL (timeout 0) or WB_ERR_TIMEOUT with the channel unchanged;
///          WB_ERR_GONE when the receiver is over; WB_ERR_INVAL on an input port, or while claimed
///          slots are not committed.
WB_MUST_USE enum wb_status wb_port_send(struct wb_port *out, const void *msg, uint64_t timeout_ns);

/// Copies the oldest message out and frees its slot.
///
/// Context: the owning task. Blocks up to `timeout_ns` while the channel is empty.
/// Returns: WB_OK; WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT with `msg` untouched; WB_ERR_GONE
///          when the channel is empty and every sender is over; WB_ERR_INVAL on an output port, or
///          while held slots are not released.
WB_MUST_USE enum wb_status wb_port_receive(struct wb_port *in, void *msg, uint64_t timeout_ns);

/// Takes the next free slot to be written in place. May be repeated: slots are committed in the
/// order in which they were claimed.
///
/// Context: the owning task. Blocks up to `timeout_ns` while no slot is free.
/// Memory:  `*slot` is the task's until it is committed; its old content is undefined.
/// Returns: WB_OK; WB_ERR_FULL, WB_ERR_TIMEOUT, WB_ERR_GONE, WB_ERR_INVAL as wb_port_send.
WB_MUST_USE enum wb_status wb_port_claim(struct wb_port *out, void **slot, uint64_t timeout_ns);

/// Sends the oldest claimed slot.
///
/// Context: the owning task. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL when none is claimed.
enum wb_status wb_port_commit(struct wb_port *out);

/// Takes the next message to be read in place. May be repeated: slots are released in the order in
/// which they were held.
///
/// Context: the owning task. Blocks up to `timeout_ns` while there is no further message.
/// Memory:  `*slot` stays valid and unchanged until it is released.
/// Returns: WB_OK; WB_ERR_EMPTY, WB_ERR_TIMEOUT, WB_ERR_GONE, WB_ERR_INVAL as wb_port_receive.
WB_MUST_USE enum wb_status wb_port_hold(struct wb_port *in, const void **slot, uint64_t timeout_ns);

/// Frees the oldest held slot for the sender.
///
/// Context: the owning task. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL when none is held.
enum wb_status wb_port_release(struct wb_port *in);

/// Closes a port before its task ends: receivers drain what was sent, then see WB_ERR_GONE.
///
/// Context: the owning task. Never blocks. Claimed slots are given up; closing twice is harmless.
void wb_port_close(struct wb_port *port);

// ---- Memory -------------------------------------------------------------------------------------

// Memory for tasks, in globally visible memory: a heap for each, and a pool that they share.
//
// Blocks move with the task because they never move at all: every kernel sees them at the same
// address. A block may be freed by any task on any core; it goes home to where it came from. What
// is in a task's heap is gone with its end; a shared block stays until somebody frees it, so it can
// be handed on through a channel. Sizes are rounded up to a power of two less a header of 16 bytes.

/// Allocates from the calling task's heap, aligned to 16 bytes.
///
/// Context: a task. Never blocks, takes no lock.
/// Returns: the block, or NULL when `heap` of the task's TOML is used up.
void *wb_malloc(size_t bytes);
/// Allocates as wb_malloc() does, and sets all bytes to 0.
void *wb_calloc(size_t count, size_t bytes);
/// Changes the size of a block, which may move within the heap of the task.
void *wb_realloc(void *block, size_t bytes);

/// The same, aligned to `align`, a power of two.
void *wb_memalign(size_t align, size_t bytes);

/// The bytes that may be used behind `block`.
size_t wb_malloc_size(const void *block);

/// Gives a block back to the heap it came from. NULL is ignored.
///
/// Context: any task on any core. Never blocks.
void wb_free(void *block);

/// Allocates from the memory that all tasks share, aligned to 16 bytes. A block from a page on is a
/// power of two of pages. A task keeps up to 32 KiB of what it has freed for itself.
///
/// Context: a task; through the kernel's launcher also the application's hooks. Never blocks, takes
///          no lock.
/// Memory:  whoever holds the block; it outlives the task that allocated it.
/// Returns: the block, or NULL when `[app] shared` of the TOML is used up, or, for one above 128
///          KiB, while others allocate from the same place.
/// Source:  acquaviva2008 section 4.1, the parallel version of the Kingsley allocator.
void *wb_shared_malloc(size_t bytes);

/// The same, with the contents of `block` (NULL: none), which is freed unless it stays in place or
/// NULL is returned. It is in use either way; a block that shrinks never fails.
void *wb_shared_realloc(void *block, size_t bytes);

/// Gives a shared block back. NULL is ignored. A second free, or a pointer that is no shared block,
/// ends the run with a fault of the calling task.
///
/// Context: as wb_shared_malloc(); any task on any core. Never blocks.
void wb_shared_free(void *block);

// ---- Semaphores, mutexes and locks --------------------------------------------------------------

// Semaphores and locks among tasks of any cores.
//
// They lie in globally visible memory: globals of the module, wb_app_alloc(), the heap of a task
// that is handed off. Who waits polls first and then blocks. There is no queue of waiters: who
// gives wakes the most urgent task that waits, and that one tries again. A semaphore belongs to
// nobody, so any task may give; a mutex and a lock belong to the task that took them, wherever it
// runs.
//
// Timeouts: 0 tries once, WB_FOREVER has no end.

// What tasks wait at.
struct wb_wait_queue {
    struct wb_compared
        holder;  // a task and its restarts (see wait_queue.h); 0: none. Whoever takes, or unlocks
    // Who may wait here (enum wb_waited): set by waiters and wakers, taken by wakers.
    struct wb_swapped waited;
};

struct wb_semaphore {
    struct wb_wait_queue queue;  // first; nobody ever holds it
    struct wb_compared value;    // permits; any task
    uint32_t most;               // fixed
};

// All zero is a mutex that nobody holds.
struct wb_mutex {
    struct wb_wait_queue queue;  // first
};

/// Makes a semaphore of `value` permits that never has more than `most`; 1 makes it a binary one.
///
/// Context: any, before another task uses it. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL if `most` is 0 or less than `value`.
/// Source:  acquaviva2008 section 4.1.
WB_MUST_USE enum wb_status wb_semaphore_init(struct wb_semaphore *semaphore, uint32_t value,
                                             uint32_t most);

/// Takes a permit; waits for one by polling, then blocked.
///
/// A permit is nobody's: if the task that took it ends or dies, it is not given back.
///
/// Context: a task. Blocks for at most `timeout_ns`.
/// Returns: WB_OK; WB_ERR_EMPTY if there is none and `timeout_ns` is 0; WB_ERR_TIMEOUT.
/// Source:  acquaviva2008 section 4.1.
WB_MUST_USE enum wb_status wb_semaphore_take(struct wb_semaphore *semaphore, uint64_t timeout_ns);

/// The same, but only polls: for a permit that another core gives soon.
///
/// Context: a task. Never blocks, and no other task of its core runs before it returns.
/// Returns: as wb_semaphore_take().
/// Source:  acquaviva2008 section 4.1.
WB_MUST_USE enum wb_status wb_semaphore_spin(struct wb_semaphore *semaphore, uint64_t timeout_ns);

/// Gives a permit, and wakes the most urgent task that waits for one, on whatever core.
///
/// Context: a task. Never blocks.
/// Returns: WB_OK; WB_ERR_FULL if there are as many as there may be.
WB_MUST_USE enum wb_status wb_semaphore_give(struct wb_semaphore *semaphore);

/// Makes a mutex that nobody holds.
///
/// Context: any, before another task uses it. Never blocks.
void wb_mutex_init(struct wb_mutex *mutex);

/// Takes a mutex. While it waits, the task that holds it is as urgent as the caller, on whatever
/// core, and so is the task that one waits for.
///
/// The holder may move to another core with it.
///
/// Context: a task. Blocks for at most `timeout_ns`.
/// Returns: WB_OK; WB_ERR_OWNER: taken, but its holder ended, or was killed, with it, so what it
///          guards may be half changed; WB_ERR_INVAL if the caller holds it already; WB_ERR_EMPTY
///          if another does and `timeout_ns` is 0; WB_ERR_TIMEOUT.
/// Source:  Sha, Rajkumar and Lehoczky, "Priority inheritance protocols", 1990.
WB_MUST_USE enum wb_status wb_mutex_lock(struct wb_mutex *mutex, uint64_t timeout_ns);

/// Takes a mutex if that needs no waiting.
///
/// Context: a task. Never blocks.
/// Returns: as wb_mutex_lock() with a timeout of 0.
WB_MUST_USE enum wb_status wb_mutex_try(struct wb_mutex *mutex);

/// Gives a mutex back, and wakes the most urgent task that waits for it.
///
/// Context: a task. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL if the caller does not hold it.
enum wb_status wb_mutex_unlock(struct wb_mutex *mutex);

/// Locks an address. Only its name is locked: what lies there need not be a lock, and is not
/// touched. A task that holds one is not moved: WB_ERR_HELD at its checkpoint.
///
/// A name is never forgotten, so lock a few addresses often, not many once.
///
/// Context: a task. Blocks for at most `timeout_ns`.
/// Returns: as wb_mutex_lock(); WB_ERR_INVAL for NULL; WB_ERR_NOMEM after WB_LOCKS names.
/// Source:  nacul2007, "Shared memory lock unit" and "Locking API primitives".
WB_MUST_USE enum wb_status wb_lock(const void *address, uint64_t timeout_ns);

/// Unlocks an address.
///
/// Context: a task. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL if the caller has not locked it.
/// Source:  as wb_lock().
enum wb_status wb_unlock(const void *address);

// ---- Conditions ---------------------------------------------------------------------------------

// Conditions: tasks of any cores wait until another says that something has changed.
//
//     wb_mutex_lock(&mutex, WB_FOREVER);
//     while (!ready)                                             // guarded by the mutex
//         status = wb_condition_wait(&changed, &mutex, WB_FOREVER);
//     wb_mutex_unlock(&mutex);
//
// As pthread_cond_t: a wait gives the mutex back and begins in one step, a signal without a waiter
// is lost, and by the time that the waiter has the mutex again, what it was told of may be
// otherwise. They lie in globally visible memory, and keep no list of who waits, as semaphores.

// All zero is a condition that nobody waits for.
struct wb_condition {
    struct wb_wait_queue queue;  // first; nobody ever holds it
    // How many wait, and how many were killed while they did: 0: nobody does. The waiters.
    struct wb_swapped waiters;
};

/// Makes a condition that nobody waits for.
///
/// Context: any, before another task uses it. Never blocks.
void wb_condition_init(struct wb_condition *condition);

/// Gives `mutex` back, waits for a signal by polling, then blocked, and takes the mutex again,
/// which the caller holds whatever is returned but WB_ERR_INVAL. NULL: there is no mutex.
///
/// The task may move while it waits, if its waits are checkpoints. It returns for nothing only
/// after a death: what a task was told that was killed before it returned is told to another, and
/// when one is killed, or ends, with the mutex, all who wait with it return and look again.
///
/// Context: a task. Blocks for at most `timeout_ns`, and then for as long as others hold the mutex.
/// Returns: WB_OK: it was signalled, or is to look again after a death; WB_ERR_TIMEOUT: it was
///          not; WB_ERR_OWNER: one of the two, and the mutex is as after WB_ERR_OWNER of
///          wb_mutex_lock(); WB_ERR_INVAL, at once, if the caller does not hold the mutex.
/// Source:  IEEE Std 1003.1, pthread_cond_timedwait().
WB_MUST_USE enum wb_status wb_condition_wait(struct wb_condition *condition, struct wb_mutex *mutex,
                                             uint64_t timeout_ns);

/// Wakes the most urgent task that waits, on whatever core. Whoever waits for sure is who began to
/// before the caller last took the mutex.
///
/// Context: a task, with the mutex or without. Never blocks.
void wb_condition_signal(struct wb_condition *condition);

/// Wakes all tasks that wait.
///
/// Context: as wb_condition_signal().
void wb_condition_broadcast(struct wb_condition *condition);

// ---- Barriers -----------------------------------------------------------------------------------

// Barriers: so many tasks, on any cores, wait for each other, again and again.
//
//     static struct wb_barrier barrier;
//     static struct wb_participant participants[3];
//
//     wb_barrier_init(&barrier, participants, 3);        // in wb_app_setup()
//     wb_barrier_wait(&barrier, WB_FOREVER);      // each of three tasks
//
// Each of the tasks has an entry, so the others know when one of them cannot come any more. It
// takes it when it first waits there, or is given it before (wb_barrier_join()), and keeps it.

// One of the tasks of a barrier.
struct wb_participant {
    // As wb_wait_queue.holder, when the task took the entry; whoever has it join.
    struct wb_compared task;
    struct wb_word arrived;  // for which round (see barrier.c); the task
};

struct wb_barrier {
    struct wb_wait_queue queue;  // first; nobody ever holds it
    struct wb_compared state;    // round and deaths (see barrier.c); who lets the others through
    uint32_t n_participants;     // fixed
    struct wb_participant *participants;  // fixed
};

/// Makes a barrier of `tasks` tasks.
///
/// Context: any, before another task uses it. Never blocks.
/// Memory:  `participants`, as many, lie in globally visible memory, like the barrier, and are the
///          barrier's from now on.
/// Returns: WB_OK, or WB_ERR_INVAL if `tasks` is 0.
WB_MUST_USE enum wb_status wb_barrier_init(struct wb_barrier *barrier,
                                           struct wb_participant *participants, uint32_t tasks);

/// Gives a task its entry before it comes, so that the others know also of one that never does.
///
/// Context: any, before a task waits there. Never blocks.
/// Returns: WB_OK, also if it has one; WB_ERR_FULL if others have all of them.
WB_MUST_USE enum wb_status wb_barrier_join(struct wb_barrier *barrier, struct wb_task *task);

/// Waits until all tasks of the barrier have come, by polling, then blocked.
///
/// A task that has waited in vain has come nevertheless: it need not wait, and when it calls again
/// it waits on, for the same round.
///
/// Context: a task. Blocks for at most `timeout_ns`.
/// Returns: WB_OK when all have come, but 1 to one of them, unless a kernel was killed meanwhile;
///          WB_ERR_OWNER to each if one of them was cut short by a death since the last time, and
///          started again;
///          WB_ERR_GONE if one of them has ended, or was lost, and will never come;
///          WB_ERR_FULL if others have all entries; WB_ERR_EMPTY if somebody is missing and
///          `timeout_ns` is 0; WB_ERR_TIMEOUT.
/// Source:  IEEE Std 1003.1, pthread_barrier_wait().
WB_MUST_USE int wb_barrier_wait(struct wb_barrier *barrier, uint64_t timeout_ns);

/// The same, of a task that comes once for each round in all its lives, because it notes where it
/// is: `*round`, which is 0 before it comes, is set before it has come. Its next life calls again
/// with what is noted, and goes on at once if that round is over. 0 again: the next round.
///
/// Context: as wb_barrier_wait().
/// Memory:  `round` lies where the next life finds it.
/// Returns: as wb_barrier_wait().
WB_MUST_USE int wb_barrier_pass(struct wb_barrier *barrier, uint32_t *round, uint64_t timeout_ns);

// ---- Waiting for several things -----------------------------------------------------------------

// One wait for everything: a set of ports, semaphores and files, and a time.
//
//     struct wb_wait set[] = { { .port = urgent }, { .port = in }, { .semaphore = &done } };
//
//     switch (wb_wait(set, 3, timeout_ns)) {
//     case 0: ...                  // urgent comes first, whatever else is ready
//     case WB_ERR_TIMEOUT: ...
//     }
//
// The set says what may go on, and takes nothing: the call that follows does. A port is its task's
// own, so that call does not wait. A permit, and a slot of a mailbox, may be another's by then:
// with a timeout of 0 that call says so, and the task waits again.

enum wb_file_event {  // bits
    WB_FILE_READABLE = 1,
    WB_FILE_WRITABLE = 2,
};

// One of a set: a port, a semaphore, or a file with `events`. The others are NULL and 0.
struct wb_wait {
    struct wb_port *port;  // of the calling task; an input: a message is there; an output: room is
    struct wb_semaphore *semaphore;  // a permit is there
    // A descriptor of the kernel's operating system: a socket, a timer, a device. It is ready while
    // it can be read or written without waiting, or is at its end or broken. Once in a set.
    int file;
    uint32_t events;  // any of wb_file_event
    bool ready;       // written by wb_wait(): this one was ready when it returned
};

/// Waits until one of a set is ready: polls, then blocks, as everything else here does.
///
/// A port that is closed, or whose other end is over, is ready: the call that follows says so.
///
/// A descriptor is one of the kernel's process: a task that moves waits for those only that were
/// opened in wb_app_setup(). Make it non-blocking: what is ready may be taken by another.
///
/// Context: a task. Blocks for at most `timeout_ns`; 0 only looks, WB_FOREVER has no end.
/// Memory:  `set`, of `n`, is the caller's; only `ready` of each is written, before all returns but
///          the last three. With `n` 0 the task only lets the time pass.
/// Returns: the position of the first that is ready, so the set is in the order of its priority;
///          WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT when none is; WB_ERR_INVAL for one that has
///          none or several, a port of another task, or a file that comes twice; WB_ERR_UNABLE
///          for files where kernels know none; WB_ERR_NOMEM when one cannot be watched.
WB_MUST_USE int wb_wait(struct wb_wait *set, uint32_t n, uint64_t timeout_ns);

// ---- Calls --------------------------------------------------------------------------------------

// Calls: a task asks a service for something, and gets an answer.
//
// A service is a task whose requests come through a mailbox, from many callers, and whose answers
// go back through one channel for each of them. So a call is two messages: either end may move at
// any time, and requests and answers lie in slots that all cores see, where they may be written and
// read in place. A service answers in the order in which it takes; so do the calls of one caller
// end.
//
// A call that a service has begun when its kernel is killed ends with WB_ERR_GONE: its effect is
// not known. What it has not begun is served by its next life, if it is declared `restart`; else
// all end so. Answers to a caller's former life are dropped.

enum {
    WB_CALLS_MAX = 32,        // that one caller may have outstanding at a service
    WB_CALL_HEAD_BYTES = 32,  // of each slot of a service's channels, before what the call carries
};

// How a call has ended.
struct wb_answer {
    uint32_t number;        // of the call, from 1
    enum wb_status status;  // WB_OK; WB_ERR_GONE; or what the service has refused it with
    const void *data;       // aligned to 32 bytes; NULL without an answer
    uint32_t bytes;
};

/// What is called at the end of a call, by the task that made it: while it calls, takes or
/// completes another one of the same caller. It cannot wait for one itself.
typedef void wb_call_done(const struct wb_answer *answer, void *arg);

// What a task calls one service through. Its own, and of no other task.
struct wb_caller {
    struct wb_port *requests, *answers;  // to wait at `answers` for several things, see wb_wait()
    uint32_t most;                       // so many may be outstanding
    // The library's: when it was begun; numbers of calls; how many are to be taken.
    uint32_t life, session, made, ended, gone, to_take;
    void *claimed;      // the slot of a request that is not committed
    const void *held;   // the slot of an answer that is not released
    bool given, empty;  // an answer is not released; it has no slot
    bool completes;
    struct wb_pending {
        wb_call_done *done;
        void *arg;
        bool dropped;
    } pending[WB_CALLS_MAX];
};

// A request that a service has taken.
struct wb_request {
    const void *data;  // aligned to 32 bytes
    uint32_t bytes;
    uint32_t room;  // for the answer
    void *answer;   // to be written there, aligned to 32 bytes
};

// What a task serves through.
struct wb_service {
    struct wb_port *requests;
    // The library's.
    const void *taken;  // the slot of the request that is not answered
    void *answer;       // and that of its answer
};

/// Begins to use a service, before the first call. What this task has called it for before and has
/// not ended is given up.
///
/// Context: the task itself. Never blocks.
/// Memory:  `*caller` is the task's, on its stack or heap.
/// Returns: WB_OK; WB_ERR_INVAL if the application does not let this task call a service of that
///          name.
WB_MUST_USE enum wb_status wb_caller_open(struct wb_task *self, const char *name,
                                          struct wb_caller *caller);

/// Calls, and waits for the answer. Completion functions of calls that end before it are called.
///
/// Context: the calling task. Blocks up to `timeout_ns`.
/// Memory:  `request` (`bytes` of it) and the answer (at most `room` bytes) are copied.
/// Returns: how many bytes the answer has; WB_ERR_TIMEOUT: an answer that comes later is dropped;
///          WB_ERR_GONE: the service is over, or its kernel was killed when it had begun; what the
///          service refused it with; WB_ERR_INVAL for more bytes than a request may have;
///          WB_ERR_FULL, with a timeout of 0: as many calls are outstanding as may be, or the
///          requests of others leave no room; WB_ERR_NOMEM: the answer has more than `room`, and is
///          lost; WB_ERR_BUSY from a completion function, or while an answer is to be taken.
WB_MUST_USE int32_t wb_call(struct wb_caller *caller, const void *request, uint32_t bytes,
                            void *answer, uint32_t room, uint64_t timeout_ns);

/// Calls, and does not wait for the answer. `done` is called with `arg` at the end of the call; if
/// it is NULL, the answer is to be taken by wb_call_take().
///
/// Context: the calling task, or a completion function. Blocks up to `timeout_ns` while there is no
///          room: completion functions are called then, too.
/// Memory:  `request` is copied.
/// Returns: WB_OK; WB_ERR_INVAL, WB_ERR_GONE as wb_call(); WB_ERR_FULL as there, and where there is
///          no room before an answer is taken; WB_ERR_TIMEOUT: it was not called.
WB_MUST_USE enum wb_status wb_call_async(struct wb_caller *caller, const void *request,
                                         uint32_t bytes, wb_call_done *done, void *arg,
                                         uint64_t timeout_ns);

/// Takes the slot of a request, to be written in place.
///
/// Context: as wb_call_async().
/// Memory:  `*request` (wb_call_room() bytes, aligned to 32) is the task's until wb_call_commit().
/// Returns: as wb_call_async(); WB_ERR_INVAL if one has been begun and not committed.
WB_MUST_USE enum wb_status wb_call_begin(struct wb_caller *caller, void **request,
                                         uint64_t timeout_ns);

/// How many bytes a request may have.
///
/// Context: any. Never blocks.
uint32_t wb_call_room(const struct wb_caller *caller);

/// Makes the call that was begun, with `bytes` of its slot; the rest as wb_call_async().
///
/// Context: as wb_call_async(). Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL when none was begun, or for too many bytes: it may be tried again.
WB_MUST_USE enum wb_status wb_call_commit(struct wb_caller *caller, uint32_t bytes,
                                          wb_call_done *done, void *arg);

/// Takes the answer of the oldest call that was made without a completion function, to be read in
/// place. Completion functions of calls that end before it are called.
///
/// Context: the calling task. Blocks up to `timeout_ns` while it has not ended.
/// Memory:  `answer->data` stays valid until wb_call_release().
/// Returns: WB_OK, whatever `answer->status` is; WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT: it has
///          not ended; WB_ERR_INVAL: there is none, or the answer before it is not released;
///          WB_ERR_BUSY from a completion function.
WB_MUST_USE enum wb_status wb_call_take(struct wb_caller *caller, struct wb_answer *answer,
                                        uint64_t timeout_ns);

/// Gives the answer back that was taken, whatever its status.
///
/// Context: the calling task. Never blocks.
/// Returns: WB_OK, or WB_ERR_INVAL when none is taken.
enum wb_status wb_call_release(struct wb_caller *caller);

/// Calls the completion functions of calls that have ended, up to the next whose answer is to be
/// taken. Waits for the first.
///
/// Context: the calling task. Blocks up to `timeout_ns` while the oldest has not ended.
/// Returns: how many; WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT: none has ended; WB_ERR_INVAL if
///          none is outstanding, or an answer is to be taken before; WB_ERR_BUSY from a completion
///          function.
WB_MUST_USE int32_t wb_call_complete(struct wb_caller *caller, uint64_t timeout_ns);

/// How many calls have not ended.
///
/// Context: the calling task. Never blocks.
uint32_t wb_call_outstanding(const struct wb_caller *caller);

/// Begins to serve.
///
/// Context: the task itself. Never blocks.
/// Memory:  as wb_caller_open().
/// Returns: WB_OK; WB_ERR_INVAL if the application does not let this task serve under that name.
WB_MUST_USE enum wb_status wb_service_open(struct wb_task *self, const char *name,
                                           struct wb_service *service);

/// Takes the next request, to be read in place, with the slot for its answer.
///
/// Context: the service's task. Blocks up to `timeout_ns` while there is none.
/// Memory:  `data` and `answer` are valid until wb_service_answer(), across checkpoints.
/// Returns: WB_OK; WB_ERR_EMPTY (timeout 0) or WB_ERR_TIMEOUT: there is none; WB_ERR_GONE when no
///          caller is left; WB_ERR_INVAL while the one before it is not answered.
WB_MUST_USE enum wb_status wb_service_take(struct wb_service *service, struct wb_request *request,
                                           uint64_t timeout_ns);

/// Answers the request that was taken, and frees its slot. `result`: how many bytes of the answer
/// have been written; or a negative enum wb_status, which the caller gets.
///
/// Context: the service's task. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL when none is taken, or for more than there is room for: it may be
///          tried again.
enum wb_status wb_service_answer(struct wb_service *service, int32_t result);

// ---- Firings ------------------------------------------------------------------------------------

// Firings: tasks that take messages, compute, and send messages, again and again.
//
// A firing takes as many messages from each input as its rate says, in the order in which the
// inputs are bound, computes (wb_compute()), puts as many into each output, ends the job if the
// task is periodic, and passes one checkpoint: an actor of a synchronous dataflow graph (E. A. Lee,
// D. G. Messerschmitt: "Synchronous Data Flow", Proc. IEEE 75(9), 1987). At channels that claim at
// the start (wb_channel_config), it claims its outputs after it has taken its inputs, and frees its
// inputs after it has put its outputs: what a bounded buffer is there (S. Stuijk, M. Geilen, T.
// Basten: "Exploring Trade-Offs in Buffer Requirements and Throughput Constraints for Synchronous
// Dataflow Graphs", DAC 2006). The bytes of each message are charged when it is taken, and when it
// is put, as of wb_port_receive() and wb_port_send().

// What the messages of a task hold. Both may be called on any stack, also one of another task: they
// need little of it, and neither block nor call what may.
struct wb_messages {
    /// Writes a message, the `number`th of its channel from 1.
    void (*write)(void *slot, uint32_t bytes, uint64_t number);

    /// Looks at a message; 0 numbers those that were there at the start.
    /// Returns: false if it is not the one that it should be, which fails the run.
    bool (*read)(const void *slot, uint32_t bytes, uint64_t number);
};

/// The whole of such a task, between its entry and its end: `return wb_fire(self, &messages);`.
///
/// A source ends after wb_task_firings(), or when the run stops; others when their inputs do. What
/// a firing still has to take and to put is told by its ports, so a task whose kernel was killed
/// goes on where it was, from its entry as well as from a checkpoint image.
///
/// Context: a task, with no state of its own (wb_task_state() is what is kept here).
/// Memory:  `messages` has to outlive the task.
/// Source:  acquaviva2008 section 6.2, the "controllable synthetic benchmark".
/// Returns: 0.
int wb_fire(struct wb_task *self, const struct wb_messages *messages);

/// The whole of a task with a script (wb/launcher.h), between its entry and its end.
///
/// It ends with its script, when a channel of it does, or after a firing when the run stops. A task
/// whose kernel was killed goes on with the event that it was at, or, if it held mutexes there,
/// which are lost with a life, with the first event that locked one.
///
/// Context: a task with a script, with no state of its own (wb_task_state() is what is kept here).
/// Memory:  `messages` has to outlive the task.
/// Returns: 0.
int wb_script_run(struct wb_task *self, const struct wb_messages *messages);

WB_END_C

#endif
