// SPDX-License-Identifier: Apache-2.0
// What the launcher's files share: host.c lays out and starts, supervise.c watches.
#ifndef WB_SUPERVISE_H
#define WB_SUPERVISE_H

#include <pthread.h>

#include "guests.h"
#include "host.h"
#include "private.h"

enum { TICK_MS = 20 };  // how often the launcher looks, should no detector ring

struct kernel_process {
    pid_t pid;  // 0: reaped; of a guest's cores that of the emulator
    int pidfd;  // -1: not supported here
    unsigned int cpu;
    int wait_status;
    bool dead;          // its death has been handled; under `lock`
    bool reported;      // and reported
    bool returning;     // it is to be started again; under `lock`
    bool asked;         // that is the wish of wb_host_restart()
    uint32_t restarts;  // by itself, so far
    uint64_t since_ns;  // it has been started again, and was not there before; 0: it is there
    struct wb_host_event death;
};

struct wb_host {
    struct gvm gvm;
    struct private_mapping private_mapping;
    struct guests guests;
    struct wb_system *system;
    struct wb_host_config config;
    struct kernel_process *kernels;
    void *module;
    int epoll, wake;  // wake: the watcher has news
    pthread_t watcher;
    size_t pinned_bytes;  // of channels in internal memory
    int *files;           // that were open when the first kernel was started
    uint32_t n_files;
    const char *start_error;
    struct fault_trace *traces;  // of each core's kernel, in globally visible memory
    uint64_t fault_ns;           // when a fault was seen first; 0: there was none
    uint64_t over_ns;            // when the last of this machine's kernels had ended; 0: not yet
    bool has_watcher, fault_reported, end_reported, killed;
    struct wb_word closing;
    pthread_mutex_t lock;  // deaths are handled once, by the watcher or by wb_host_wait()
};

/// Handles deaths as they happen: the first detector, a thread of its own.
void *supervise_watch(void *host);

/// Makes a process that is the kernel of a core. `again`: it has only the files of the first ones.
///
/// Context: the launcher's first thread, which the kernels end with.
bool supervise_fork(struct wb_host *host, uint32_t core, bool again);

/// Has wb_host_wait() wake up for a descriptor.
void supervise_listen(const struct wb_host *host, int fd);

// ---- stall.c ------------------------------------------------------------------------------------

typedef void stall_teller(void *to, const struct wb_stall *stall);

/// Looks for tasks that keep their core to themselves, now and then, and tells each of them once.
///
/// Context: the launcher, while the kernels run.
void stalls_look(struct wb_host *host, stall_teller *teller, void *to);

/// Tells which tasks did so when the run was ended by force.
void stalls_tell_at_end(const struct wb_host *host, stall_teller *teller, void *to);

// ---- restart.c ----------------------------------------------------------------------------------

/// Notes which files are open, for kernels that are started later, and which cores return.
///
/// Context: the launcher, before the first kernel is started.
void restart_prepare(struct wb_host *host);

/// Closes, in a kernel that is started later, what the first one had not.
void restart_close_files(struct wb_host *host);

/// Starts those again whose deaths have been reported.
void restart_dead(struct wb_host *host);

/// Whether one of them is there, which is then told.
bool restart_event(struct wb_host *host, struct wb_host_event *event);

#endif
