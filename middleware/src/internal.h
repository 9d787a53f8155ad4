// SPDX-License-Identifier: Apache-2.0
// What the files of the middleware share among themselves.
#ifndef WB_INTERNAL_H
#define WB_INTERNAL_H

#include "wb/port.h"
#include "wb/system.h"

/// The source's half of a withdrawn hand-off: makes the task ready again and ends the request.
void wb_migration_returned(struct wb_core *core, struct wb_task *task);

/// The target cannot take the task that `place` offers it: the source takes it back, or, if it was
/// recovery that offered it, the task is lost.
void wb_migration_refuse(struct wb_task *task, uint32_t place, enum wb_status why);

/// Makes a task that was cut short go on from its image, or start again. Its channels are put back
/// here, its memory by the kernel that takes it in.
///
/// Returns: false when it can do neither.
bool wb_task_revive(struct wb_task *task);

/// Ends a task whose context cannot be had any more.
void wb_task_lose(struct wb_task *task, uint32_t core);

/// Sees to it that the core that is to take a withdrawn task back is not a dead one.
void wb_migration_readdress(struct wb_task *task);

/// The living core after a dead one, so that two deaths in a row spread what they leave; or NULL.
struct wb_core *wb_core_heir(const struct wb_system *system, uint32_t dead);

/// The same for a task: the next living core of a kind that it runs on; or NULL.
struct wb_core *wb_task_heir(const struct wb_task *task, uint32_t dead);

/// Ends the request of a task that nobody else may touch now.
void wb_migration_finish(struct wb_task *task, enum wb_status outcome);

/// The first run on the target: ends the request, and waits for the first output.
void wb_migration_settle(struct wb_task *task, uint64_t now_ns);

/// Hands the record of the last migration to the launcher, with or without an output.
void wb_migration_close(struct wb_task *task);

/// Notes the time of the first output after a migration, and closes its record.
void wb_migration_first_output(struct wb_task *task);

/// Starts the program of a task that is offered here and is to be recreated; true of any other.
/// False: it cannot be had, and the offer is withdrawn.
bool wb_recreation_load(struct wb_task *task);

/// Draws the cycles of the calling task's next firing; 0: it has no work.
uint64_t wb_work_cycles(struct wb_task *self);

/// Ends a job as wb_period_wait() does. True: the next is released at `release_ns`, maybe later.
bool wb_period_end(struct wb_task *self, bool *met);

/// Makes every task look at its condition and its priority again: somebody who ought to have said
/// that they changed was killed.
void wb_system_look_again(struct wb_system *system);

/// Brings the ports of a task that starts again back to what their channels say.
void wb_task_recover_ports(struct wb_task *task);

/// Counts a task that is over, once it is marked so.
void wb_system_task_over(struct wb_system *system);

/// Every task is over: tells the kernels.
void wb_system_over(struct wb_system *system);

/// Counts the time since the task was switched to, or since it was last counted.
void wb_task_count(struct wb_task *task, struct wb_core *core, uint64_t now_ns);

/// Counts the time since the task was switched to, on a core that it leaves.
void wb_task_account(struct wb_task *task, struct wb_core *core, uint64_t now_ns);

// ---- agent.c, coordinator.c ---------------------------------------------------------------------

/// The memory that wb_report_init() takes from the arena.
size_t wb_report_bytes(const struct wb_system_config *config);
bool wb_report_init(struct wb_system *system, struct wb_core_report *report);

/// Notes that a task has come to its core, from core `from`, or is about to leave it.
void wb_report_arrival(struct wb_task *task, uint32_t from, uint64_t now_ns);
void wb_report_departure(struct wb_task *task, const struct wb_core *core, uint64_t now_ns);

/// Notes what a migration of a task has cost it.
void wb_report_migration(struct wb_task *task, const struct wb_migration *migration);

/// Brings the core of the caller to the operating point that it is asked for.
void wb_agent_obey(struct wb_core *core);

/// Asks the policy, if that is the part of this core, and sends what it decides.
void wb_coordinator_tick(struct wb_core *core, uint64_t now_ns);

/// Gives the part of a dead coordinator to the next living core.
void wb_coordinator_replace(struct wb_system *system);

/// As wb_migration_request(), in the name of `by`.
enum wb_status wb_migration_ask(struct wb_task *task, uint32_t core, uint64_t timeout_ns,
                                enum wb_by by);

/// Rings without a note: the core looks at what it is asked for itself.
void wb_inbox_ring(struct wb_core *core);

/// `ppm` millionths of `whole`.
static inline uint64_t wb_part(uint64_t whole, uint64_t ppm)
{
    return whole / WB_PPM * ppm + whole % WB_PPM * ppm / WB_PPM;
}

/// When a wait of `timeout_ns` that begins now is over; reads no clock for one without end.
static inline uint64_t wb_end_of(uint64_t timeout_ns)
{
    if (timeout_ns == WB_FOREVER)
        return WB_FOREVER;
    const uint64_t now_ns = wb_kernel_now_ns();
    return timeout_ns > WB_FOREVER - now_ns ? WB_FOREVER : now_ns + timeout_ns;
}

/// Lets this core's kernel attach a task, by its effective priority.
void wb_task_attach(struct wb_task *task);

/// How many bytes of the arena wb_pool_init() takes.
size_t wb_pool_bytes(size_t shared_bytes);

/// Lays out the pool of a system and the launcher's share of it. False without memory.
bool wb_pool_init(struct wb_system *system);

/// What a task, or the launcher, has of a pool (NULL: none) at the start: nothing yet.
void wb_shared_init(struct wb_shared *shared, struct wb_pool *pool);

/// Frees all that a task has in its own heap, at its end. May be repeated.
void wb_heap_close(struct wb_heap *heap);

/// The end of a task that shares memory: what it left is freed by those who have it. May be
/// repeated, where the first was cut short by the death of its kernel.
void wb_shared_close(struct wb_shared *shared);

/// A task starts again: what it has allocated so far is left by an earlier life.
void wb_shared_restart(struct wb_shared *shared, uint32_t generation);

/// The core that runs the caller, NULL in the launcher.
struct wb_core *wb_core_here(struct wb_system *system);

// One attempt each, as in channel.h.
enum wb_status wb_mailbox_claim(struct wb_port *out, void **slot);
enum wb_status wb_mailbox_commit(struct wb_port *out);
enum wb_status wb_mailbox_hold(struct wb_port *in, const void **slot);
enum wb_status wb_mailbox_release(struct wb_port *in);
uint32_t wb_mailbox_depth(const struct wb_channel *mailbox);

/// Brings a port back to what its channel says, after its task was interrupted anywhere.
void wb_channel_recover(struct wb_port *port);
void wb_mailbox_recover(struct wb_port *port);

/// Closes a port, whether or not it is closed already, or half closed by a kernel that was killed.
void wb_port_shut(struct wb_port *port);

/// Wakes the other side, if it waits. To be called after a store of what it waits for.
static inline void wb_port_notify(struct wb_port *peer)
{
    // See the head of port.c for what this fence pairs with.
    atomic_thread_fence(memory_order_seq_cst);
    if (peer != NULL && atomic_load_explicit(&peer->waiting, memory_order_relaxed) != 0 &&
        atomic_exchange_explicit(&peer->waiting, 0, memory_order_relaxed) != 0)
        wb_task_wake(peer->task);
}

#endif
