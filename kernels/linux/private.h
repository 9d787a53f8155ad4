// SPDX-License-Identifier: Apache-2.0
// What the files of the Linux kernels share among themselves.
#ifndef WB_LINUX_PRIVATE_H
#define WB_LINUX_PRIVATE_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"
#include "process.h"
#include "wb/system.h"

#include "../template/ready.h"

// A copy that a kernel makes, and another helps with (joint_copy.c). Its kernel writes it, and the
// helper the state.
struct linux_copy {
    struct wb_compared state;
    struct wb_swapped taken;  // chunks from the front, and above 16 bits from the end; both
    unsigned char *to;
    const unsigned char *from;
    size_t bytes;
};

// A kernel's own part of a core (wb_core.kernel).
struct linux_core {
    struct wb_swapped sleeping;  // futex: 1 while the kernel sleeps or is about to
    // Robust futex: the kernel's thread id while it lives; Linux sets FUTEX_OWNER_DIED in it when
    // the kernel is killed. `robust_next` is the list node that Linux finds it by.
    void *robust_next;
    struct wb_compared alive;
    // The operating point that the launcher has set last in the place of this kernel, and when.
    struct wb_word point;
    struct wb_counter point_ns;
    struct wb_swapped asked;  // the core that asks this one to help with a copy, + 1; any core
    _Alignas(WB_LINE_BYTES) struct linux_copy copy;
};

_Static_assert(sizeof(struct linux_core) <= WB_KERNEL_CORE_BYTES, "raise WB_KERNEL_CORE_BYTES");

static inline struct linux_core *linux_core(struct wb_core *core)
{
    return (struct linux_core *)(void *)core->kernel;
}

// ---- ready.c, timers.c: besides ../template/ready.h
// ----------------------------------------------

/// From now on a task runs until it waits, whoever is more urgent.
void ready_run_to_completion(void);

/// True if any task is ready.
bool ready_any(void);

/// True if a task of this priority gives way to a task of these priorities: bit p stands for p.
bool ready_gives_way(uint32_t levels, uint32_t priority);

/// Room for every task of the system, from this process's own memory. False: no memory.
bool timers_init(uint32_t tasks);
void timers_move(struct wb_task *task);  // to its effective priority

// ---- alarm.c ------------------------------------------------------------------------------------

/// Prepares this process for alarms: `ring` is called in a signal handler.
void alarm_init(void (*ring)(void));

/// Rings at `at_ns`, or earlier; once. Times are clock_now_ns()'s.
void alarm_set(uint64_t at_ns, uint64_t now_ns);

// ---- doorbell.c ---------------------------------------------------------------------------------

/// Sleeps until somebody rings, every task is over, or `until_ns` has come. `idle`: for want of
/// work, which is recorded. Returns false when there was no reason to.
bool doorbell_sleep(struct wb_core *core, uint64_t until_ns, bool idle);

/// From now on `core` is rung by the eventfd `doorbell`, which an emulator knows as well, and
/// sleeps there unless it is a guest's. Of every core of a system with guests; or none again.
///
/// Context: the launcher, before the kernels are forked.
void doorbell_use(uint32_t core, int doorbell, bool is_guest);
void doorbell_use_none(void);

// ---- frequency.c: the operating point of this core ----------------------------------------------

enum { SLICE_NS = 1000000 };  // how long a task runs before an emulated core is slow

/// How operating points are set. In the launcher, before the kernels are forked.
void frequency_use(enum frequency_mode mode);

/// Sets the frequencies that kernels have been asked for and have not looked at yet, because their
/// tasks compute. Nothing where frequencies are emulated: those go with what a kernel counts.
///
/// Context: the launcher, while the kernels run.
void frequency_follow(struct wb_system *system);

/// Brings this core to the point it begins at.
void frequency_start(struct wb_core *core, uint64_t now_ns);

/// True while this core is emulated to be slower than this machine.
bool frequency_slows(void);

/// Tasks run from here on; count what they ran up to here. Nothing unless it slows.
void frequency_begin_run(void);
void frequency_count_run(uint64_t now_ns);

/// The running task has also run for so long in a process of its own.
void frequency_add_run(uint64_t ran_ns);

/// When this core would be done with what has run; true while that is far enough ahead to wait for.
uint64_t frequency_until_ns(void);
bool frequency_owes(uint64_t now_ns);

/// After no task ran since `since_ns`; `idle`: none was ready. Returns for how long of it the core
/// would have been busy still.
uint64_t frequency_rest(uint64_t since_ns, uint64_t now_ns, bool idle);

// ---- compute.c: wb_kernel_compute()
// --------------------------------------------------------------

/// The highest frequency that any core of a system has, 0: none is known.
uint64_t core_highest_hz(const struct wb_system *system);

// ---- portable.c: what tasks keep that are re-entered --------------------------------------------

/// Whether the user wants it checked: the environment has WHIMBREL_CHECK_STATE.
bool portable_is_wanted(void);

/// Ends the run if the running task keeps what is of this program alone.
///
/// Context: the task. Blocks for as long as reading its heap takes.
void portable_check(struct wb_task *task);

// ---- cpufreq.c: frequencies by sysfs ------------------------------------------------------------

/// Takes over the frequencies of `n` processors below `root` (usually /sys). What they were is
/// written to the file `journal` before the first change.
///
/// Context: the launcher, before the kernels are forked.
/// Returns: NULL, or what is wrong, with the processor in `*bad`; everything is then as before.
const char *cpufreq_open(const char *root, const unsigned int *cpus, uint32_t n,
                         const char *journal, unsigned int *bad);

/// True if this is the frequency of a core's processor that was set last.
bool cpufreq_is(uint32_t core, uint64_t hz);

/// Sets the frequency of a core's processor, unless it is set. False: Linux did not take it.
///
/// Context: the core's kernel or the launcher.
bool cpufreq_set(uint32_t core, uint64_t hz);

/// Restores the frequencies and removes the journal. False: not all could be restored, and the
/// journal is still there.
bool cpufreq_restore(const char *journal);

// ---- sensors.c: temperatures and energy by sysfs ------------------------------------------------

/// Looks for what this machine has below `root` (usually /sys), but for cores whose `guest` is not
/// 0. In the launcher, before the fork.
void sensors_open(const char *root, const unsigned int *cpus, const uint32_t *guest, uint32_t n);

// ---- kernel.c -----------------------------------------------------------------------------------

/// Becomes the kernel of `core` in this process; returns when every task of the system has ended.
/// `adapts`: an idle kernel polls for less than `spin_ns` where that is of no use.
void kernel_run(struct wb_core *core, uint64_t spin_ns, bool adapts, bool to_completion);

/// When the running task has to stop polling; `spin_ns`: how long each wait may poll at most.
uint64_t kernel_poll_end_ns(uint64_t *spin_ns);

// ---- robust.c -----------------------------------------------------------------------------------

/// Makes Linux set FUTEX_OWNER_DIED in `word` when this process ends, by its own will or not, while
/// the word holds its thread id. `node`: memory beside the word, for Linux to find it by.
bool robust_mark(void **node, const void *word);

/// Makes Linux mark `core` when this process is killed. False where robust futexes are missing.
bool robust_arm(struct wb_core *core);

/// Ends in order: the death of this process is no longer news.
void robust_disarm(struct wb_core *core);

/// Blocks until one of the kernels that `watched` marks is killed, or `timeout_ns` has passed.
/// Returns false where waiting on several futexes at once is not supported.
bool robust_wait(struct wb_system *system, const bool *watched, uint64_t timeout_ns);
bool robust_is_dead(struct wb_core *core);

// ---- restart.c ----------------------------------------------------------------------------------

/// Calls `take` for each file that this process has open; it may close the file.
void files_each(void (*take)(int fd, void *state), void *state);

// ---- private_mapping.c: private memory, one file per kernel, at the same address in each
// -----------------

struct private_mapping_part {
    size_t at, bytes;
    uint32_t core;  // whose it is at the start
};

struct private_mapping {
    int *fds;  // one per core
    uint32_t cores;
    size_t bytes, used;
    struct private_mapping_part *parts;
    uint32_t n_parts, room;
};

/// Reserves `bytes` of private memory for each of `cores`, in at most `parts` parts. False, with
/// errno, when it cannot be had. `bytes` 0: there is none.
bool private_mapping_open(struct private_mapping *private_mapping, uint32_t cores, size_t bytes,
                          uint32_t parts);

/// Takes the next part, page-aligned, zeroed, with GUARD_BYTES of inaccessible memory below it. The
/// launcher sees that of `core` there. NULL when it is used up.
void *private_mapping_take(struct private_mapping *private_mapping, uint32_t core, size_t bytes);

/// Becomes the private memory of kernel `core` in this process; the others' can be read.
bool private_mapping_enter(struct private_mapping *private_mapping, uint32_t core);

void private_mapping_close(struct private_mapping *private_mapping);

/// Where this process sees the private memory that `core` has at `address`.
void *private_mapping_alias(uint32_t core, const void *address);

/// The core whose private memory is seen at `alias`, or WB_CORE_NONE.
uint32_t private_mapping_core(const void *alias);

// ---- joint_copy.c -------------------------------------------------------------------------------

/// Copies with another kernel, if one has asked this core for it.
///
/// Context: the kernel of `core`, while no task runs. Blocks for as long as that takes.
void joint_copy_help(struct wb_core *core);

/// Ends what a killed kernel of `core` had to do with joint copies.
///
/// Context: a kernel that starts. Blocks while another one helps the killed one.
void joint_copy_start(struct wb_core *core);

long futex(const void *word, int operation, uint32_t value, uint64_t timeout_ns);

#endif
