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
    bool dead;      // its death has been handled; under `lock`
    bool reported;  // and reported
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
    const char *start_error;
    uint64_t over_ns;  // when the last of this machine's kernels had ended; 0: not yet
    bool has_watcher, fault_reported, end_reported, killed;
    struct wb_word closing;
    pthread_mutex_t lock;  // deaths are handled once, by the watcher or by wb_host_wait()
};

/// Handles deaths as they happen: the first detector, a thread of its own.
void *supervise_watch(void *host);

#endif
