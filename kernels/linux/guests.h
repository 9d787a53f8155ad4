// SPDX-License-Identifier: Apache-2.0
// Guests of a system (launcher/api/guest.h): programs with cores of their own, in emulators.
#ifndef WB_GUESTS_H
#define WB_GUESTS_H

#include <pthread.h>

#include "guest.h"
#include "host.h"
#include "private.h"

struct guest {
    const struct plan_guest *plan;
    struct wb_guest *page;
    pid_t pid;  // of its emulator; 0: not started, or reaped
    int pidfd;  // -1: not supported here
    int line;   // the launcher's end of what ivshmem takes its memory and its doorbells from
    char error[512];
    // One that is started again boots in a thread, until `booted` says that this is over.
    struct guests *guests;
    struct wb_system *system;
    pthread_t thread;
    bool has_thread;
    struct wb_word booted;
};

struct guests {
    struct guest *all;
    uint32_t n;
    const struct wb_host_config *config;
    int doorbells[WB_GUEST_CORES];
    int nobody;  // a doorbell that nobody hears: of the launcher's vector 0
};

/// How many bytes of globally visible memory guests make of so many: a power of two, with a page
/// for each of them at its end. 0: there are too many.
size_t guests_memory(const struct wb_host_config *config, size_t bytes);

/// Clears the guests' pages and makes a doorbell for every core.
///
/// Context: the launcher, with an empty system in `gvm`. Never blocks.
/// Returns: WB_OK; WB_ERR_NOMEM with errno; WB_ERR_INVAL for more cores than a system with guests
///          can have.
WB_MUST_USE enum wb_status guests_open(struct guests *guests, const struct gvm *gvm,
                                       const struct wb_host_config *config,
                                       struct wb_system *system);

/// Starts the emulators and waits until each guest is ready: it sees the memory, is of the same
/// layout and plan, its clock is known, and its atomics are common to both.
///
/// Context: the launcher, before any thread. Blocks for as long as a guest takes to boot, at most
/// 20 s.
/// Returns: true; or false with the guest in `*bad` and the reason in its `error`.
bool guests_boot(struct guests *guests, const struct gvm *gvm, uint32_t *bad);

/// Lets the kernels of the guests start in the system, whose time has begun, and waits for that.
///
/// Context: as guests_boot().
/// Returns: as guests_boot().
bool guests_go(struct guests *guests, struct wb_system *system, uint32_t *bad);

/// Starts the emulator of a guest anew, which has ended, into the system as it is now. It boots in
/// a thread of its own: guests_look() sees when it has.
///
/// Context: the launcher's first thread. Blocks until the emulator's program is executed.
/// Returns: true; or false with the reason in `error`.
bool guests_start_again(struct guests *guests, struct guest *guest, const struct gvm *gvm,
                        struct wb_system *system);

/// Ends an emulator whose guest could not boot again, for the reason in `error`.
void guests_look(struct guest *guest);

/// Its emulator has ended and was reaped.
/// Returns: whether its kernels had been there.
bool guests_end(struct guest *guest);

/// Ends all that still run, reaps them, and gives everything back.
void guests_close(struct guests *guests);

#endif
