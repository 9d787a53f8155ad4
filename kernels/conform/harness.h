// SPDX-License-Identifier: Apache-2.0
// What the conformance suite needs of a kernel besides wb/kernel.h: how a system is made, started,
// watched and broken.
//
// Each realisation writes these functions once (`conform/harness.c` beside it). The cases call
// nothing but them, suite.h and wb/*.h. "Outside" is wherever the suite itself runs: no core of the
// system under test.
#ifndef WB_HARNESS_H
#define WB_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/system.h"

struct harness;

struct harness_config {
    uint32_t cores;
    uint64_t poll_ns;           // how long an idle kernel polls before it sleeps, if it can choose
    uint64_t offer_timeout_ns;  // 0: longer than any case takes
    enum wb_transport transport;
    uint64_t agent_period_ns;  // 0: agents do not report
    uint32_t coordinator;
};

enum harness_event {
    HARNESS_NOTHING,  // the time allowed has passed
    HARNESS_DIED,     // a kernel was killed; its tasks have been taken over
    HARNESS_FAULT,    // see system->fault; everything else has been ended
    HARNESS_ENDED,    // every task is over
};

// What a system of the suite needs at most.
enum {
    HARNESS_TASKS = 16,
    HARNESS_CHANNELS = 16,
    HARNESS_PORTS = 48,
};

/// What a system of the suite may use of the machine: each realisation has its own.
struct harness_sizes {
    size_t memory_bytes;  // for channels, heaps and what the cases allocate
    size_t shared_bytes;
    size_t stack_bytes;  // of each task
};

extern const struct harness_sizes harness_sizes;

/// Makes an empty system. Processors may be fewer than cores: kernels then share them.
///
/// Context: outside, while no other system is open. Ends the program when it cannot be had.
struct harness *harness_open(const struct harness_config *config);

/// Context: outside, between harness_open() and harness_close().
struct wb_system *harness_system(struct harness *h);

/// A stack of harness_sizes.stack_bytes whose overflow is noticed.
///
/// Context: outside, before harness_start(). Ends the program when there is none.
void *harness_stack(struct harness *h);

/// `bytes` of the kernels' private memory for a task that starts on `core`; of stacks and heaps no
/// more than harness_sizes.stack_bytes each.
///
/// Context: outside, before harness_start().
/// Returns: the address, the same in every kernel; NULL where there is no private memory.
void *harness_private(struct harness *h, uint32_t core, size_t bytes);

/// Starts every kernel.
///
/// Context: outside. Ends the program when it cannot be done.
void harness_start(struct harness *h);

/// Supervises until something happens or `limit_ms` has passed.
///
/// Context: outside. Blocks.
enum harness_event harness_wait(struct harness *h, uint32_t limit_ms);

/// Kills a kernel in the midst of whatever it does. harness_wait() tells when that is noticed.
///
/// Context: outside. Never blocks.
/// Returns: false where kernels cannot be killed one by one; nothing has happened then.
bool harness_kill(struct harness *h, uint32_t core);

/// True where a kernel takes the core from a task that computes.
bool harness_preempts(void);

/// Keeps the calling task's core from looking at its inbox, or lets it look again. Where kernels do
/// not preempt it does not look anyway, while the task computes.
///
/// Context: a task, which makes no other call meanwhile.
void harness_irq_save(bool close);

/// Makes a task hold, or let go of, something of its kernel that cannot move with it.
///
/// Context: the task itself. Never blocks.
/// Returns: false where there is no such thing.
bool harness_hold(struct wb_task *self, bool hold);

/// Makes an added task of mode WB_RECREATE run function `entry` of the suite's program
/// (program/recreated.c), with a heap of its own.
///
/// Context: outside, before harness_start().
/// Returns: false where tasks are not recreated.
bool harness_host(struct harness *h, struct wb_task *task, const char *entry);

/// True where the program of a task is a process of its own, which may be killed or end by itself.
bool harness_has_processes(void);

/// Kills the program of a task in the midst of whatever it does.
///
/// Context: outside. Never blocks.
/// Returns: false where there is none now.
bool harness_kill_program(struct harness *h, const struct wb_task *task);

/// Leaves a kernel without memory for programs, or gives it some again.
///
/// Context: outside. Never blocks.
/// Returns: false where that is impossible.
bool harness_starve(struct harness *h, uint32_t core, bool starve);

/// How many programs of tasks living kernels have now, running or over but not accounted for.
uint32_t harness_programs(struct harness *h);

/// How many bytes of memory a living kernel uses; 0 where that is not known.
size_t harness_memory(struct harness *h, uint32_t core);

/// Ends what still runs and gives everything back.
///
/// Context: outside. Blocks until all of it has ended.
void harness_close(struct harness *h);

/// What counts are multiplied by: below 1 on slow emulators, above it for a soak test.
double harness_scale(void);

#endif
