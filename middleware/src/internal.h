// SPDX-License-Identifier: Apache-2.0
// What the files of the middleware share among themselves.
#ifndef WB_INTERNAL_H
#define WB_INTERNAL_H

#include "parts.h"
#include "wb/system.h"
#include "wb/wb.h"

/// The calling task has been woken and has to wait on: it moves here, if it is asked to and its
/// waits are checkpoints.
void wb_departure_at_wait(struct wb_task *self);

/// How a core attaches a task whose memory is elsewhere, or whose context is not complete. NULL:
/// the task is complete wherever its core is.
const struct wb_attach_ops *wb_attach_ops_of(const struct wb_task *task);

/// The target's half of a migration: one compare-and-swap decides against a withdrawal.
void wb_migration_arrive(struct wb_core *core, struct wb_task *task, uint32_t owner_state,
                         const struct wb_attach_ops *attach);

/// The source's half of a withdrawn hand-off: makes the task ready again and ends the request.
void wb_migration_returned(struct wb_core *core, struct wb_task *task);

/// The target cannot take the task that `owner_state` offers it: the source takes it back, or, if
/// it was recovery that offered it, the task is lost.
void wb_migration_refuse(struct wb_task *task, uint32_t place, enum wb_status why);

/// The living core after a dead one, so that two deaths in a row spread what they leave; or NULL.
struct wb_core *wb_core_successor(const struct wb_system *system, uint32_t dead);

/// Ends the request of a task that nobody else may touch now.
void wb_migration_finish(struct wb_task *task, enum wb_status outcome);

/// The task carries a request that has been accepted. One that recovery gave away does not: its
/// record may be another's to write.
static inline bool wb_migration_is_accepted(const struct wb_task *task)
{
    return wb_request_phase(wb_word_load(&task->request, WB_RELAXED)) == WB_REQUEST_ACCEPTED;
}

/// The first run on the target: ends the request, and waits for the first output.
void wb_migration_settle(struct wb_task *task, uint64_t now_ns);

/// Hands the record of the last migration to the launcher, with or without an output.
void wb_migration_close(struct wb_task *task);

/// Notes the time of the first output after a migration, and closes its record.
void wb_migration_first_output(struct wb_task *task);

/// Records that a message was sent or received.
void wb_port_record(struct wb_port *port, enum wb_event_kind kind);

/// Draws the cycles of the calling task's next firing; 0: it has no work.
uint64_t wb_work_cycles(struct wb_task *self);

/// Sets the first release of a task.
void wb_period_begin(struct wb_task *task, uint64_t start_ns);

/// Ends a job as wb_period_wait() does. True: the next is released at `release.ns`, maybe later.
bool wb_period_end(struct wb_task *self, bool *met);

/// Counts a job that was released and due then, and ends now.
void wb_period_count(struct wb_task *self, uint64_t release_ns, uint64_t due_ns, uint64_t now_ns);

/// Ends the run with a fault of the calling task, and of a channel (may be NULL).
_Noreturn void wb_task_blame(struct wb_task *self, enum wb_fault_kind kind,
                             const struct wb_channel *channel, const char *text);

/// Counts a task that is over, once it is marked so.
void wb_system_task_over(struct wb_system *system);

/// Every task is over: tells the kernels.
void wb_system_over(struct wb_system *system);

/// Counts the time since the task was switched to, or since it was last counted. What of it the
/// task polled is counted for its core as well; the rest is returned, and is to be.
uint64_t wb_task_count(struct wb_task *task, struct wb_core *core, uint64_t now_ns);

/// What the task polled of the time that wb_task_count() would count.
uint64_t wb_task_polled(const struct wb_task *task, uint64_t now_ns);

/// wb_record_event(), where the program has that part and the run is recorded.
static inline __attribute__((always_inline)) void wb_record(struct wb_core *core,
                                                            enum wb_event_kind kind, uint32_t task,
                                                            uint32_t object, uint64_t value,
                                                            uint64_t time_ns)
{
    if (wb_parts.records != NULL && core->record.events.slots != 0)
        wb_parts.records->event(core, kind, task, object, value, time_ns);
}

/// The effective priority of a task may have changed (see wb/descriptor.h).
static inline __attribute__((always_inline)) bool wb_must_reevaluate(const struct wb_task *task)
{
    return wb_parts.locks != NULL && wb_sync_must_reevaluate(&task->sync);
}

/// What is to be done before a task that comes can run.
static inline __attribute__((always_inline)) uint32_t wb_revival(const struct wb_task *task)
{
    // Acquire: recovery has written what else is to be done.
    return wb_parts.deaths != NULL ? wb_word_load(&task->revive, WB_ACQUIRE) : WB_REVIVE_NOT;
}

// ---- agent.c, coordinator.c ---------------------------------------------------------------------

/// Another operating point is asked for than the core's agent has obeyed last.
static inline bool wb_agent_is_asked(const struct wb_core *core)
{
    return wb_word_load(&core->wanted_point, WB_RELAXED) != core->report.obeyed_point;
}

/// The part that reports; NULL where none does.
static inline const struct wb_part_agents *wb_reporting(const struct wb_system *system)
{
    return system->reports ? wb_parts.agents : NULL;
}

/// Asks the policy, if that is the part of this core, and sends what it decides.
void wb_coordinator_tick(struct wb_core *core, uint64_t now_ns);

/// Gives the part of a dead coordinator to the next living core.
void wb_coordinator_replace(struct wb_system *system);

/// As wb_migration_request(), in the name of `by`.
enum wb_status wb_migration_ask(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                                enum wb_by by);

/// Rings without a note: the core looks at what it is asked for itself.
void wb_inbox_ring(struct wb_core *core);

/// Several tasks that are woken at a time: all are ready before a kernel chooses one of them. In
/// between, of the contract only what wb_kernel_enter() allows.
struct wb_wakes {
    uint32_t cores, words;  // bit n % 32: there are notes for core n, in words n
    uint32_t notes;
};

/// Context: as wb_task_wake(), of which there are none until wb_wakes_end(). Where kernels share
/// tasks the most urgent is to be added first, as another core may choose it at once.
struct wb_wakes wb_wakes_begin(void);
void wb_wakes_add(struct wb_wakes *wakes, struct wb_task *task);

/// The same by a note, wherever the task is: its core's agent is to look at it.
void wb_wakes_set_pending(struct wb_wakes *wakes, const struct wb_task *task);
void wb_wakes_end(const struct wb_wakes *wakes, struct wb_system *system);

/// The caller's bug: stops here, by an instruction that does not exist, where the kernel's handler
/// of faults or a debugger finds it. Needs no library.
static inline void wb_assert(bool holds)
{
    if (!holds)
        __builtin_trap();
}

/// `ppm` millionths of `whole`.
static inline uint64_t wb_part(uint64_t total, uint64_t ppm)
{
    return total / WB_PPM * ppm + total % WB_PPM * ppm / WB_PPM;
}

/// When a wait of `timeout_ns` that begins now is over. Reads the clock.
uint64_t wb_end_from_now(uint64_t timeout_ns);

/// The same; reads no clock for one without end.
static inline uint64_t wb_end_of(uint64_t timeout_ns)
{
    return timeout_ns == WB_FOREVER ? WB_FOREVER : wb_end_from_now(timeout_ns);
}

/// Lets this core's kernel attach a task, by its effective priority.
void wb_task_attach(struct wb_core *core, struct wb_task *task);

/// A copy of a text in the arena; NULL when that is used up.
char *wb_system_keep_text(struct wb_system *system, const char *text);

/// How many bytes of the arena a pool takes.
size_t wb_pool_bytes(size_t shared_bytes);

/// Lays out the pool of a system and the launcher's share of it. False without memory.
bool wb_pool_init(struct wb_system *system);

/// Frees all that a task has in its own heap, at its end. May be repeated.
void wb_heap_close(struct wb_heap *heap);

/// The core that runs the caller, NULL in the launcher.
struct wb_core *wb_core_here(struct wb_system *system);

/// Brings a port back to what its channel says, after its task was interrupted anywhere.
void wb_channel_recover(struct wb_port *port);

/// What is not 0 where the receiver of a channel waits by a notify policy.
static inline uint32_t wb_notify_kind(const struct wb_channel *channel)
{
    return wb_word_load(&channel->notify_kind, WB_RELAXED);
}

/// Wakes the other side, if it waits, and unless its channel's notify policy says that it looks by
/// itself in time (notify_policy.c). To be called after a store of what it waits for. Inlined where
/// it is to be quick, and called where code is to be small (notify.c).
inline void wb_port_notify(struct wb_port *peer)
{
    // See the head of port.c for what this fence pairs with.
    wb_word_fence(WB_SEQ_CST);
    const uint32_t waiting = peer != NULL ? wb_word_load(&peer->waiting, WB_RELAXED) : 0;
    if (waiting != WB_WAITS_NOT && (waiting == WB_WAITS || wb_parts.notify->rings(peer)) &&
        wb_word_swap(&peer->waiting, WB_WAITS_NOT, WB_RELAXED) != WB_WAITS_NOT)
        wb_task_wake(peer->task);
}

#endif
