// SPDX-License-Identifier: Apache-2.0
// The kernel contract: what the middleware asks of the scheduler that owns a core, and what it
// does for it in return.
//
// A kernel runs tasks by fixed priority on one core. It may be cooperative (Linux) or preemptive
// (FreeRTOS, RISC-V); those of the simulator are what a platform says. So nothing here takes a lock
// or needs an atomic wider than 32 bits or a pointer; where the middleware must not be interrupted,
// it says so by wb_kernel_enter(). A wrong signature does not compile, a missing function does not
// link, wrong behaviour fails kernels/conform. kernels/template says how to write one.
//
// A kernel's own context: on each core there is one from which wb_agent_serve(), wb_agent_tick(),
// wb_agent_obey(), wb_task_departed(), wb_task_captured() and wb_task_paused() are called, so no
// two of them run there at a time, nested or in turns. It is the kernel's loop (Linux), a task of
// the kernel's that is more urgent than all others (FreeRTOS), or the switch between tasks, as long
// as nothing interrupts that. Handlers of interrupts call nothing of the middleware: they see to it
// that this context runs next. Where kernels are cooperative, a task that calls in lends its stack
// to it (wb_kernel_yield(), wb_kernel_block()).
#ifndef WB_KERNEL_H
#define WB_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/status.h"
#include "wb/word.h"

struct wb_core;
struct wb_system;
struct wb_task;

// What the middleware does that costs time; the simulator charges it from the platform's table.
enum wb_action {
    WB_ACTION_SEND,        // units: bytes copied in, and WB_INTERNAL if that is where to
    WB_ACTION_RECEIVE,     // units: bytes copied out, and WB_INTERNAL if that is where from
    WB_ACTION_CLAIM,       // units: 1; also of a semaphore or a mutex
    WB_ACTION_HOLD,        // units: 1
    WB_ACTION_COMMIT,      // units: 1; also of a semaphore or a mutex
    WB_ACTION_RELEASE,     // units: 1
    WB_ACTION_CHECKPOINT,  // units: 1; the slow path only
    WB_ACTION_POST,        // units: 1; a note to another core's inbox
    WB_ACTION_SERVE,       // units: notes taken from the inbox
    WB_ACTION_PARK,        // units: 1; first half of a hand-off, charged by wb_kernel_depart()
    WB_ACTION_ATTACH,      // units: 1; second half of a hand-off
    WB_ACTION_HEAP,        // units: 1; an allocation or a free
    WB_ACTION_REPORT,      // units: tasks reported by an agent
    WB_ACTION_DECIDE,      // units: tasks that a policy was asked about
    WB_ACTION_JOB,         // units: 1; a job has ended, and whether in time is looked at next
};

#define WB_INTERNAL (UINT32_C(1) << 31)  // internal memory: see wb_channel_config

// ---- The kernel provides ------------------------------------------------------------------------

/// Nonzero when the running task should enter its next checkpoint: notes wait in the inbox, a more
/// urgent task is ready, or wb_checkpoint_wanted() is true of it, for as long as it is. Linux
/// maps the summary word of the core's inbox here, FreeRTOS and the simulator set it in the
/// doorbell's interrupt and at a context switch.
///
/// It is a global of which every core needs its own: private memory at one address on each, by an
/// MMU, a process for each, or what a switch stores. Cores that share all memory would find it by
/// a register instead (tp, TPIDR): then wb_checkpoint() in wb/wb.h is what has to load it so.
extern struct wb_word wb_kernel_need_resched;

/// The task that runs here, or NULL outside of tasks (an interrupt, the idle loop, the launcher).
struct wb_task *wb_kernel_self(void);

// What not every kernel can do, and a system may ask for.
enum wb_capability {
    WB_CAN_REPLICATE = 1 << 0,   // private memory at one address for all, and copies of it
    WB_CAN_CAPTURE = 1 << 1,     // wb_kernel_capture(): checkpoint images
    WB_CAN_RECREATE = 1 << 2,    // wb_kernel_load(): programs of tasks
    WB_CAN_SET_POINTS = 1 << 3,  // wb_kernel_set_point(): frequencies of its core
    WB_CAN_SHARE = 1 << 4,       // tasks of several cores: see wb_task_chosen()
};

/// What the kernels of this program can do (enum wb_capability), all of them alike. Who lays out a
/// system is refused what they cannot then (WB_ERR_UNABLE), so it fails before anything starts.
///
/// Context: any, also before there is a system. Never blocks.
uint32_t wb_kernel_can(void);

/// This core's index in the system, or WB_CORE_NONE outside of kernels (the launcher).
uint32_t wb_kernel_core(void);

/// Nanoseconds on a clock that is the same on every core and never goes back.
uint64_t wb_kernel_now_ns(void);

/// The same, for measuring: a look that nothing may come of. A kernel in virtual time lets time
/// pass for a task that does nothing but read the clock; this is no such reading.
///
/// Context: any. Never blocks.
uint64_t wb_kernel_stamp_ns(void);

/// Lays out the context so that the task starts in wb_task_main() on its own, empty stack.
///
/// Context: any core or the launcher, for a task that runs nowhere.
/// Returns: WB_OK, or WB_ERR_INVAL if the stack is too small for any context, or not seen by other
///          cores though the task is handed off to them, or the kernel has no such priority.
WB_MUST_USE enum wb_status wb_kernel_task_init(struct wb_task *task);

/// Takes in a task whose context is complete, and makes it ready on this core.
///
/// Context: the kernel's own, from wb_agent_serve() or wb_agent_admit(). Never blocks.
void wb_kernel_attach(struct wb_task *task);

/// Takes the calling task off this kernel. Returns on the kernel that attaches it next.
///
/// The kernel saves the context, leaves the task's stack, and only then calls
/// wb_task_departed(): a context is complete only after the switch away from it. A preemptive
/// kernel asks wb_departure_is_due() in the same step, uninterrupted: a task that is preempted
/// before it, and whose kernel dies then, resumes elsewhere without a request.
///
/// Context: a task, from its checkpoint.
/// Returns: WB_OK; without having left: WB_ERR_GONE when the departure is not due any more,
///          WB_ERR_HELD when the task holds something of this kernel,
///          or for a task that is recreated what wb_recreation_park() says.
WB_MUST_USE enum wb_status wb_kernel_depart(void);

/// Blocks the calling task until wb_kernel_unblock() or `until_ns` (WB_FOREVER: no end).
///
/// An unblock that came since the task last blocked makes it return at once, so none is lost. It
/// may return early without reason: callers check their condition again.
///
/// Context: a task.
/// Returns: WB_OK, or WB_ERR_TIMEOUT once `until_ns` has passed.
enum wb_status wb_kernel_block(uint64_t until_ns);

/// Looks whether a file of the kernel's operating system is ready (see wb/wb.h; `events`: of
/// wb_file_event). With `wake` it first sees to it that the calling task is unblocked once the file
/// is; that may come for nothing, and for a task that waits no more.
///
/// Context: a task. Never blocks.
/// Returns: WB_OK: it is, or its call says what is the matter; WB_ERR_EMPTY: it is not;
///          WB_ERR_NOMEM when it cannot be watched; WB_ERR_UNABLE by a kernel that knows no files.
WB_MUST_USE enum wb_status wb_kernel_watch(int file, uint32_t events, bool wake);

/// Makes a task of this core ready, or marks it so that its next block returns at once.
///
/// Context: the kernel's own; or a task of this core between wb_kernel_enter() and
///          wb_kernel_leave(): one that is more urgent runs from there on. Where kernels share
///          tasks (WB_CAN_SHARE) a task of any core, for a task of any core. Never blocks.
void wb_kernel_unblock(struct wb_task *task);

/// From here to wb_kernel_leave() nothing else runs on this core: no other task, no
/// wb_agent_serve(), no interrupt that calls the middleware. Nothing where a kernel is cooperative;
/// a program may also be told that its kernels are (wb/word.h), and then tries fewer times.
///
/// Context: this core, and outside of kernels (nothing then). Short and bounded. Calls do not nest;
///          of this contract only wb_kernel_unblock(), wb_kernel_doorbell() and wb_kernel_charge()
///          are called meanwhile.
void wb_kernel_enter(void);
void wb_kernel_leave(void);

/// Schedules a task of this core by its effective priority (wb_sync_priority()), which has just
/// changed: a ready one moves to its new queue, and need_resched is set if one that is ready is now
/// more urgent than the one that runs. Everywhere in this contract, urgency is by that priority; a
/// kernel may tell those of one priority apart by the deadlines of their jobs. So this is also for
/// a task that goes on with its next job without a block in between.
///
/// Context: the kernel's own, or a task of this core: on preemptive kernels one that is more urgent
///          runs before this returns. Never blocks.
void wb_kernel_reprioritise(struct wb_task *task);

/// Serves what waits for this core, then lets ready tasks of at least `floor` priority run first.
/// That is the effective priority of the task, or the next above it: if the task inherits another
/// while this serves, its equals are those of the new one (wb_floor_after()).
///
/// Context: a task. Cooperative kernels serve here, on its stack; preemptive ones have done both.
void wb_kernel_yield(uint32_t floor);

// A polling wait, zeroed when it begins.
struct wb_spin {
    uint32_t turns;
    uint64_t since_ns, polled_ns;  // the kernel's: when it first read its clock, and for how long
};

/// One turn of a polling wait.
///
/// Context: a task. Never blocks. `until_ns` is when the wait ends anyway.
/// Returns: true to poll again; false when the task ought to block: another is ready, notes wait
///          for this core, or the time set aside for polling is over.
bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns);

/// Makes core `core` call wb_agent_serve() soon, if it is not about to: the doorbell.
///
/// Context: any core or the launcher. Never blocks. May be lost or repeated only together with the
///          core it rings: the inbox keeps the notes.
void wb_kernel_doorbell(uint32_t core);

/// Accounts for `units` of `action`: nothing on real machines, virtual time in the simulator. It
/// costs nothing where it does nothing: by link-time optimisation, or because the kernels'
/// configuration says so (wb/word.h).
///
/// Context: any. In the simulator it blocks a task for that time.
void wb_kernel_charge(enum wb_action action, uint32_t units);

#if WB_CHARGES_NOTHING
#define wb_kernel_charge(action, units) ((void)(action), (void)(units))
#endif

/// Takes the time that the running task needs for `cycles` of this core, 0 included; what a task
/// works on, and moves over the interconnect, is in its wb_task.work. Nothing where time passes by
/// itself because the task computes really (wb_system_config.models_compute is false).
///
/// Context: a task, from wb_compute(). Not a checkpoint, and nothing is served: tasks of the same
///          core run meanwhile only where a kernel is preemptive.
void wb_kernel_compute(uint64_t cycles);

/// Copies a task's memory, stacks included; by hardware where there is a copying engine.
///
/// Context: any. Blocks for as long as the copy takes.
void wb_kernel_copy(void *to, const void *from, size_t bytes);

/// The same, and writes nothing if that is there already. Returns: false if it was.
///
/// Context: any. Blocks for as long as it takes.
bool wb_kernel_update(void *to, const void *from, size_t bytes);

/// Where the private memory that core `core` has at `address` can be read from here; NULL where it
/// cannot, and for memory that is not private.
///
/// Context: any core.
const void *wb_kernel_private(uint32_t core, const void *address);

/// Saves the calling task's context as if it left its core, calls wb_task_captured(), and makes it
/// ready again. A context that is put back later goes on from the same call. Not captured while it
/// holds something of this kernel, as in wb_kernel_depart(): then its next checkpoint asks again.
///
/// Context: a task, from its checkpoint.
void wb_kernel_capture(void);

/// The lowest address of a task's stack that is in use, so that [it, top) is what has to be copied.
///
/// Context: a task that does not run.
void *wb_kernel_stack_low(const struct wb_task *task);

/// Brings this core to one of its operating points (wb_core.points), and then says so by
/// wb_core_enter_point(). Stays where it is if that cannot be done, or `point` is none of them.
///
/// Context: the kernel's own, or a task of this core. Never blocks for longer than the transition
///          takes.
void wb_kernel_set_point(uint32_t point);

/// The temperature of this core in thousandths of a degree Celsius; WB_NO_TEMPERATURE where there
/// is no sensor.
int32_t wb_kernel_temperature_mc(void);

/// Starts the program of a task that is to be recreated here, or loads its module, with its memory
/// set aside, so that its first run can fail no more. Nothing if that has been done already.
///
/// Context: the kernel's own, from wb_agent_serve(). Blocks until a program has started, and not
///          where a module is loaded, which takes time in proportion to its size.
/// Returns: WB_OK; WB_ERR_NOMEM when that cannot be done here, or at all by this kernel.
WB_MUST_USE enum wb_status wb_kernel_load(struct wb_task *task);

/// Ends what wb_kernel_load() has started: the task does not come. Nothing if there is nothing.
///
/// Context: as wb_kernel_load().
void wb_kernel_unload(struct wb_task *task);

/// Ends the calling task: leaves its stack, then calls wb_task_paused(task, WB_TASK_ENDED).
_Noreturn void wb_kernel_exit(void);

/// Ends the run because of the fault that wb_system_fault() noted.
_Noreturn void wb_kernel_halt(void);

// ---- The middleware provides --------------------------------------------------------------------

// How far a step has come.
enum wb_step {
    WB_STEP_STACK,    // the task itself has to go on, on its own stack
    WB_STEP_COMPUTE,  // `value`: cycles, to be taken as by wb_kernel_compute() before the next step
    WB_STEP_BLOCK,    // `value`: until when, as for wb_kernel_block()
};

/// What a kernel may call (wb_task.step) in the place of a task that would run on and is suspended
/// because it blocked or computes, not for anything else that wb_kernel_block() does: for whoever
/// does so a task needs no switch to its stack. NULL most of the time; nobody has to.
///
/// Context: the kernel of the task, as if the task ran (wb_kernel_self() is the task). Never
///          blocks. What another core does between the step and the block that it asks for must
///          wake the task, as in wb_kernel_block(); a step may be taken again for no reason.
typedef enum wb_step wb_task_step(struct wb_task *task, uint64_t *value);

// What a task is doing; part of its owner_state word (see wb/descriptor.h).
enum wb_task_state {
    WB_TASK_NEW,       // not started yet
    WB_TASK_READY,     // waits for its core
    WB_TASK_RUNNING,   // on its core
    WB_TASK_BLOCKED,   // waits for a channel, a time or a migration
    WB_TASK_OFFERED,   // parked on its source and offered to a target: neither runs it
    WB_TASK_RETURNED,  // the offer was withdrawn; the source takes it back
    WB_TASK_ENDED,     // over
    WB_TASK_LOST,      // its kernel died while it ran, and it may not be restarted
};

/// Where every task starts: runs the entry, closes the ports, and calls wb_kernel_exit().
_Noreturn void wb_task_main(struct wb_task *task);

/// To be called by kernels that share tasks (WB_CAN_SHARE): core `core` has chosen a task that
/// another core ran last (wb_task_core()), and is its owner from here on. Such a task has several
/// `cores`, none of which has it: it was made ready, after wb_task_paused() of the core that had
/// it last.
///
/// Context: the kernel of `core`, before wb_task_resumed(). Never blocks.
void wb_task_chosen(struct wb_task *task, uint32_t core, uint64_t now_ns);

/// To be called just before a task runs, by the kernel that runs it.
/// The kernel then sets need_resched if wb_checkpoint_wanted() is true of it.
///
/// Context: the switch to the task, or the kernel's own. Never blocks.
void wb_task_resumed(struct wb_task *task, uint64_t now_ns);

/// True when the task is to enter its next checkpoint: to depart, or because it keeps images.
bool wb_checkpoint_wanted(const struct wb_task *task);

/// True when the task is to depart at its next checkpoint.
bool wb_migration_requested(const struct wb_task *task);

/// Accepts the request to move that a task has, in its place: it is at a checkpoint, or else where
/// its kernel can take it away.
///
/// Context: the task, or its kernel while it does not run. Never blocks.
/// Returns: false: there is none, or not any more.
bool wb_departure_accept(struct wb_task *task);

/// True while the request that the calling task accepted stands: recovery has not ended it.
///
/// Context: a task, from wb_kernel_depart().
bool wb_departure_is_due(const struct wb_task *task);

/// To be called by wb_kernel_capture(), once the calling task's context is complete and it runs
/// nowhere.
///
/// Context: the kernel's own, on another stack. Blocks for as long as the copy takes.
void wb_task_captured(struct wb_task *task);

/// To be called after a task stopped running, once its context is complete.
/// `state` is READY, BLOCKED or ENDED.
///
/// Context: the switch from the task, or the kernel's own, on another stack. Never blocks.
void wb_task_paused(struct wb_task *task, enum wb_task_state state, uint64_t now_ns);

/// To be called after wb_kernel_depart() has left the task's stack: publishes it to its target.
/// `parked_ns`: when it began to be parked.
///
/// Context: the kernel's own, or the switch from the task, on another stack. Blocks for as long as
///          the copy takes where the source fills the transfer buffer.
void wb_task_departed(struct wb_task *task, uint64_t parked_ns, uint64_t now_ns);

// Kernels that recreate tasks keep each in a program of its own, and also call:

/// Saves the context of the calling task in the transfer buffer; afterwards its memory may go.
///
/// Context: the task's program, from wb_kernel_depart(). Never blocks.
/// Returns: WB_OK; WB_ERR_FULL while another migration uses the buffer: the task runs on.
WB_MUST_USE enum wb_status wb_recreation_park(struct wb_task *task);

/// Begins a life of the task: with the context in the transfer buffer if it is the task's and
/// whole, else with its newest checkpoint image, else with an empty heap, no state, and its ports
/// as the channels say.
///
/// Context: the task's program, where the task's memory is, before its entry. Never blocks.
void wb_recreation_begin(struct wb_task *task);

/// Accounts for a program that was killed while the task ran: the task is about to begin again.
///
/// Context: the kernel that ran it. Never blocks.
void wb_recreation_killed(struct wb_task *task);

/// To be called by wb_kernel_attach() of a task that is not ready but goes on sleeping: the move is
/// over, although the task is yet to run.
void wb_task_came_asleep(struct wb_task *task, uint64_t now_ns);

/// Takes every note out of the core's inbox and acts on it: attaches, unblocks, takes back.
///
/// Context: the own one of the kernel of `core`. Blocks only where wb_kernel_load() and
///          wb_kernel_copy() do: for a task that is recreated or replicated here.
/// Returns: how many notes there were.
uint32_t wb_agent_serve(struct wb_core *core);

/// The same for one note, if what it is about is brief: a task that is handed off to this core, or
/// a wake. For a kernel that does so in its switch, before it chooses who runs next; of this
/// contract wb_kernel_attach(), wb_kernel_unblock() and wb_kernel_doorbell() are called there. No
/// kernel has to.
///
/// Context: the kernel of `core`, while no task runs and nobody is in wb_agent_serve(). Never
///          blocks.
/// Returns: true when wb_agent_serve() is needed for what is left.
bool wb_agent_admit(struct wb_core *core);

/// Brings the core to the operating point that it has been asked for, if that is another
/// (wb_kernel_set_point()). wb_agent_serve() and wb_agent_tick() do this too; a kernel whose
/// doorbell interrupts a task that computes need not wait for that task's checkpoint.
///
/// Context: the own one of the kernel of `core`. Where kernels are cooperative, also an interrupt
///          of a task in wb_kernel_compute(), as if the task ran (wb_kernel_self() is the task).
///          Never blocks for longer than the transition takes.
void wb_agent_obey(struct wb_core *core);

/// Reports what the core and its tasks used, and has the policy decide if that is this core's part.
/// To be called when the kernel starts, and then at its next scheduling point after the time that
/// the last call returned: the running task is interrupted at its checkpoint, an idle kernel sleeps
/// until then.
///
/// Context: the own one of the kernel of `core`, or an interrupt as for wb_agent_obey(). Never
/// blocks. A policy runs on the stack of the caller. Returns: when it is due next; WB_FOREVER:
/// never.
uint64_t wb_agent_tick(struct wb_core *core, uint64_t now_ns);

#endif
