// SPDX-License-Identifier: Apache-2.0
// What a task may ask for: checkpoints, time, periods, its parameters, migration.
//
// A task is a function `int NAME(struct wb_task *self)` of the application module. It runs on
// exactly one kernel at a time, and moves only inside wb_checkpoint(): whatever it holds between
// two checkpoints may belong to the kernel it runs on (a file it opened, a lock, a C++ exception).
#ifndef WB_TASK_H
#define WB_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/status.h"
#include "wb/word.h"

WB_BEGIN_C

struct wb_app;
struct wb_task;

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
#define TASK_IN_SAFE_STATE() wb_checkpoint()

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
void wb_task_set_state(struct wb_task *self, void *state);

/// Ends the run with an error that names the task.
///
/// Context: a task. Does not return.
/// Memory:  `text` is copied (at most 255 bytes are kept).
WB_NORETURN void wb_task_fail(struct wb_task *self, const char *text);

WB_END_C

#endif
