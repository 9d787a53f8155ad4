// SPDX-License-Identifier: Apache-2.0
// What every floor of the middleware uses; it calls only kernels, and parts by their table.
#ifndef WB_BASE_H
#define WB_BASE_H

#include "../parts.h"
#include "wb/system.h"
#include "wb/wb.h"

/// The core that runs the caller, NULL in the launcher.
struct wb_core *wb_core_here(struct wb_system *system);

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

/// A copy of a text in the arena; NULL when that is used up.
char *wb_system_keep_text(struct wb_system *system, const char *text);

// ---- program.c: systems of several programs -----------------------------------------------------

/// True of a system of several; a program without re-entry is in none.
static inline __attribute__((always_inline)) bool wb_has_programs(const struct wb_system *system)
{
    return wb_parts.reenter != NULL && system->programs != NULL;
}

/// How much of the arena they take; lays them out, false without memory.
size_t wb_programs_bytes(const struct wb_system_config *config);
bool wb_programs_init(struct wb_system *system);

/// What the kernel of a core can do (enum wb_capability).
uint32_t wb_core_can(const struct wb_core *core);

/// The function of a task where `core` is; NULL: its program has none.
wb_task_entry *wb_task_entry_on(const struct wb_task *task, const struct wb_core *core);

/// The core that owns a task.
static inline struct wb_core *wb_core_of(const struct wb_task *task)
{
    return task->system->cores[wb_task_core(task)];
}

/// Whether a task that is on `from` may go on `to`, as far as programs go.
///
/// Returns: WB_OK; WB_ERR_UNABLE if it does not begin anew where it comes to; WB_ERR_INVAL if it
///          has no function there.
enum wb_status wb_task_may_cross(const struct wb_task *task, const struct wb_core *from,
                                 const struct wb_core *to);

/// Whether a kernel of another program than that of `core` has the task's context, or had it last.
bool wb_task_is_foreign(const struct wb_task *task, const struct wb_core *core);

/// Gives a task a first context here, whatever another kernel has left in its part of it. Returns:
/// as wb_kernel_task_init().
enum wb_status wb_task_init_here(struct wb_task *task);

/// The same of a task that this core has taken; the run ends if that cannot be.
void wb_task_begin_here(struct wb_task *task);

// ---- inbox.c ------------------------------------------------------------------------------------

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

// ---- end.c --------------------------------------------------------------------------------------

/// Ends the run with a fault of the calling task, and of a channel (may be NULL).
_Noreturn void wb_task_blame(struct wb_task *self, enum wb_fault_kind kind,
                             const struct wb_channel *channel, const char *text);

/// Counts a task that is over, once it is marked so.
void wb_system_task_over(struct wb_system *system);

/// Every task is over: tells the kernels.
void wb_system_over(struct wb_system *system);

// ---- Accounts and records -----------------------------------------------------------------------

/// What the task polled of the time that wb_task_count() would count.
static inline uint64_t wb_task_polled(const struct wb_task *task, uint64_t now_ns)
{
    const uint64_t ran_ns = now_ns - task->resumed_ns;

    return task->poll_mark_ns < ran_ns ? task->poll_mark_ns : ran_ns;
}

/// What wb_task_count() does first, of a task that has polled.
void wb_task_count_polling(struct wb_task *task, struct wb_core *core, uint64_t now_ns);

/// Counts the time since the task was switched to, or since it was last counted. What of it the
/// task polled is counted for its core as well; the rest is returned, and is to be.
static inline uint64_t wb_task_count(struct wb_task *task, struct wb_core *core, uint64_t now_ns)
{
    if (task->poll_mark_ns != 0)
        wb_task_count_polling(task, core, now_ns);
    const uint64_t busy_ns = now_ns - task->resumed_ns;
    task->resumed_ns = now_ns;
    wb_counter_add(&task->stats.busy_ns, busy_ns);
    return busy_ns;
}

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

/// The part that reports; NULL where none does.
static inline const struct wb_part_agents *wb_reporting(const struct wb_system *system)
{
    return system->reports ? wb_parts.agents : NULL;
}

#endif
