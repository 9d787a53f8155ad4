// SPDX-License-Identifier: Apache-2.0
// Kernels for their launcher: lay out, start, supervise, end. Each kind of kernels realises this in
// its host.c.
//
//   wb_host_open -> wb_host_stack, wb_*_add, wb_host_module -> wb_host_start -> wb_host_wait …
//   -> wb_host_close
//
// One launcher per process. It stays single-threaded until wb_host_start() has started the kernels.
#ifndef WB_HOST_H
#define WB_HOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wb/launcher.h"
#include "wb/system.h"

struct plan_guest;
struct wb_host;

struct wb_host_config {
    struct wb_system_config system;  // core_align and offer_timeout_ns have defaults for 0
    size_t memory_bytes;        // for channels, heaps and the application, beyond wb_system_bytes()
    size_t stacks_bytes;        // sum of the stacks
    size_t private_bytes;       // per core: sum of the stacks and heaps of replicated tasks
    uint32_t private_parts;     // how many stacks and heaps that are
    size_t module_bytes;        // writable segments of the module; 0: 8 MiB
    const unsigned int *cpus;   // one per core: the processor to run on
    const bool *to_completion;  // one per core: tasks leave it only where they wait; NULL: none
    const struct plan_guest *guests;  // programs that have cores of their own (guest.h)
    uint32_t n_guests;
    const uint32_t *guest;    // one per core: whose it is, from 1, 0: this machine's; NULL: all are
    const char *plan_hash;    // of the plan, which that of a guest must equal
    const int *launcher_fds;  // descriptors that are no business of the kernels
    uint32_t n_launcher_fds;
    uint64_t spin_ns;   // how long an idle kernel polls before it sleeps; WB_FOREVER: never sleeps
    bool spin_adapts;   // that long at most: as what came of late makes it worth
    uint32_t restarts;  // how often a kernel that was killed is started again; 0: never
};

enum wb_host_event_kind {
    WB_HOST_NOTHING,    // the time allowed has passed
    WB_HOST_DIED,       // a kernel was killed; its tasks have been taken over
    WB_HOST_RESTARTED,  // one that was killed is there again
    WB_HOST_FAULT,      // a task failed: see system->fault; the other kernels have been ended
    WB_HOST_ENDED,      // every task is over, every kernel has ended
};

struct wb_host_event {
    enum wb_host_event_kind kind;
    uint32_t core, lost, restarted, resumed, moved;  // DIED
    struct wb_task *running;                         // DIED: the task it was running, or NULL
    int signal;                                      // DIED: what killed it; 0: no signal
    pid_t pid;
    bool returns;          // DIED: it is started again
    uint64_t detected_ns;  // on the run's clock; ENDED: when the kernels had ended, 0: unknown
    uint64_t took_ns;      // RESTARTED: since its death was noticed
    const char *by;   // DIED: what noticed it: `robust-futex`, `pidfd`, `watchdog` or `restart`
    const char *why;  // DIED: what is known of it, mostly NULL
};

/// Maps globally visible memory and lays out an empty system in it.
///
/// Returns: WB_OK; WB_ERR_NOMEM with errno when the memory or its address cannot be had;
///          WB_ERR_INVAL for a bad config.
WB_MUST_USE enum wb_status wb_host_open(struct wb_host **host, const struct wb_host_config *config);
struct wb_system *wb_host_system(struct wb_host *host);

/// The size of globally visible memory, in bytes of address space.
size_t wb_host_gvm_bytes(const struct wb_host *host);

/// A stack with a guard below it; NULL when `stacks_bytes` is used up.
void *wb_host_stack(struct wb_host *host, size_t bytes);

/// The same, or a heap, in the private memory of every kernel, for a replicated task that starts on
/// `core`; NULL when `private_bytes` or `private_parts` are used up.
void *wb_host_private(struct wb_host *host, uint32_t core, size_t bytes);

/// Keeps a part of globally visible memory where the cores are nearest to it: internal memory.
///
/// Returns: true; or false with the reason in `why`, in words for the user.
bool wb_host_lock_memory(struct wb_host *host, void *at, size_t bytes, char *why, size_t why_bytes);

/// Loads a module: its globals become common to all kernels, its heap calls go to the task's heap.
///
/// Returns: the module, or NULL with the reason in `error`.
void *wb_host_module(struct wb_host *host, const char *path, char *error, size_t error_bytes);

/// What the module itself defines under a name; NULL: nothing.
void *wb_host_symbol(struct wb_host *host, const char *name);

/// Names the program that tasks are recreated from: a static one, linked to fixed addresses.
///
/// Returns: WB_OK; WB_ERR_INVAL when `path` is no such program for this processor; WB_ERR_NOMEM.
WB_MUST_USE enum wb_status wb_host_program(struct wb_host *host, const char *path);

/// How many bytes of the arena wb_host_recreates() keeps of each task.
size_t wb_host_recreated_bytes(uint32_t cores);

/// Makes an added task one that is hosted: function `entry` of the program, in a process of its
/// own.
///
/// Memory:  its heap is that process's own; what wb_task_add() set aside for it is not used.
/// Returns: WB_OK; WB_ERR_INVAL when the program does not define `entry` or cannot be loaded;
///          WB_ERR_NOMEM. But for WB_OK, the reason is in `why`, in words for the user.
WB_MUST_USE enum wb_status wb_host_recreates(struct wb_host *host, struct wb_task *task,
                                             const char *entry, char *why, size_t why_bytes);

/// Starts time and one kernel per core.
///
/// Returns: WB_OK; WB_ERR_INVAL with `*bad_core` when a processor cannot be used or has not booted;
///          WB_ERR_NOMEM as wb_system_reserve(); else as wb_system_start(). On an error nothing
///          runs.
WB_MUST_USE enum wb_status wb_host_start(struct wb_host *host, uint32_t *bad_core);

/// Why wb_host_start() refused a core.
const char *wb_host_start_error(const struct wb_host *host);

/// Supervises until something happens or `timeout_ms` has passed. Also withdraws overdue
/// migrations.
struct wb_host_event wb_host_wait(struct wb_host *host, int timeout_ms);

/// A descriptor that is readable when wb_host_wait(…, 0) has something to tell.
int wb_host_fd(const struct wb_host *host);

/// True of a blocked task that waits without a time limit.
bool wb_host_waits_for_ever(struct wb_task *task);

// A task that keeps its core to itself.
struct wb_stall {
    const struct wb_task *task;
    const char *call;  // the system call in which it waits; "": it reaches no checkpoint
    uint32_t core;
    uint64_t for_ms;
    bool at_end;  // and the run was ended by force
};

/// For how long the running task has kept its core to itself, in milliseconds: it computes without
/// a checkpoint, or waits in a system call. 0: that is short, or not known.
uint32_t wb_host_stalled_ms(const struct wb_task *task);

/// What the clock of the run is made of: `counter`, `monotonic` or `virtual`.
const char *wb_host_clock(const struct wb_host *host);

/// The last reading of a core's sensor in thousandths of a degree Celsius; WB_NO_TEMPERATURE.
int32_t wb_host_temperature_mc(uint32_t core);

/// How long a core has been active and idle at one of its operating points; what its energy comes
/// from.
struct wb_residence wb_host_residence(const struct wb_core *core, uint32_t point, uint64_t now_ns);

/// The energy of a core since the start, in microjoules; 0 where nothing is known.
uint64_t wb_host_core_energy(const struct wb_core *core, uint64_t now_ns);

/// The energy of the whole machine since the start, in microjoules, and where it comes from:
/// `powercap`, `simulation`, or "" where there is nothing.
const char *wb_host_energy(uint64_t *uj);

/// Process id of a kernel, 0 once it has been reaped; of the launcher for WB_CORE_NONE. 0 where
/// there are no processes.
pid_t wb_host_pid(const struct wb_host *host, uint32_t core);

/// Starts the kernel of a core again, whether it was killed or runs: then it is killed first. With
/// it begin those that are in its process. WB_HOST_RESTARTED follows, or another WB_HOST_DIED.
///
/// Context: the launcher, between two calls of wb_host_wait(). Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL for a core that does not exist; WB_ERR_BUSY while it is started;
///          WB_ERR_GONE at the end of the run; WB_ERR_UNABLE where that cannot be done. But for
///          WB_OK, the reason is in `*why`, in words for the user.
WB_MUST_USE enum wb_status wb_host_restart(struct wb_host *host, uint32_t core, const char **why);

enum { WB_FRAMES = 24 };

// A place in the code of a task, for a debugger or addr2line.
struct wb_host_frame {
    const char *file, *function;  // function: "" where its file exports none
    uint64_t offset;              // as the file's own addresses are
};

/// Where a fault happened, and the calls that led there, the innermost first.
///
/// Returns: how many of the WB_FRAMES places it has filled in; 0 where that is not known.
uint32_t wb_host_frames(const struct wb_host *host, const struct wb_fault *fault,
                        struct wb_host_frame *frames);

/// Ends every kernel at once.
void wb_host_kill(struct wb_host *host);

/// Ends what still runs and gives everything back.
void wb_host_close(struct wb_host *host);

#endif
