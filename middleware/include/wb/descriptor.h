// SPDX-License-Identifier: Apache-2.0
// The descriptor of a task: all that the kernels share about it.
#ifndef WB_DESCRIPTOR_H
#define WB_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/agent.h"
#include "wb/channel.h"
#include "wb/counter.h"
#include "wb/heap.h"
#include "wb/latency.h"
#include "wb/owner_state.h"
#include "wb/record.h"
#include "wb/response.h"
#include "wb/sync.h"
#include "wb/task.h"
#include "wb/word.h"
#include "wb/work.h"

// A kernel's own part of a task. All that is linked together is compiled with the same.
#ifndef WB_KERNEL_TASK_BYTES
#define WB_KERNEL_TASK_BYTES 128
#endif

// How a task moves (acquaviva2008 section 4.2; hand-off: holmbacka2013 section IV).
enum wb_mode {
    WB_HANDOFF,    // its memory is globally visible; only the owner of its descriptor changes
    WB_REPLICATE,  // each kernel has private memory for it at one address; its content is copied
    WB_RECREATE,   // it ends on the source, is loaded again on the target, and its state is copied
};

enum wb_by { WB_BY_USER, WB_BY_TASK, WB_BY_POLICY };  // who asked for a migration

struct wb_task_stats {  // written by the kernel that owns the task
    struct wb_counter busy_ns;
    struct wb_counter runs;  // times it was switched to
    struct wb_counter polling_ns;
    struct wb_counter preemptions;  // times another took its core, of kernels that count them
    struct wb_counter jobs;         // periods ended
    struct wb_counter misses;
    struct wb_counter migrations;
    struct wb_counter chosen;   // times that another core than its last chose it (WB_CAN_SHARE)
    struct wb_counter refused;  // migrations that left it on its source
    struct wb_stamp worst_late_ns;
    struct wb_counter firings;  // that ended; of code of its own, that began to compute
};

// What a kernel has to do before a task that it takes in can run.
enum wb_revival {
    WB_REVIVE_NOT,    // its context is complete
    WB_REVIVE_ENTRY,  // it starts again from its entry
    WB_REVIVE_IMAGE,  // it goes on from its newest checkpoint image
};

// Checkpoint images: two, so that one is whole while the other is written.
struct wb_images {
    void *buffer[2];  // fixed; NULL: the task keeps none
    size_t bytes;     // fixed; of each
    // The kernel that runs the task; recovery when that is dead.
    struct wb_word newest;  // 1 + the position of the newest whole one; 0: there is none
    uint32_t since;         // checkpoints since one was taken
    struct wb_counter taken;
    // Recovery.
    uint32_t resumed, damaged;   // how often the task went on from one; how many were not whole
    uint64_t replayed, skipped;  // messages that came again, or were not processed
};

// When a job is released. Release n of a task that follows the frame rate is at n * 10^12 / rate
// after the first, rounded down: what is lost by rounding goes along, in parts of a nanosecond.
struct wb_release {
    uint64_t ns;
    uint32_t rest, rate;  // rest: so many parts, of a nanosecond that has `rate` of them
};

// When a job may begin, after its release.
struct wb_arrival {
    uint64_t jitter_ns, gap_ns;  // fixed at the start, see wb_task_config
    uint64_t ready_ns;           // of the current job
    uint64_t random;             // where the stream of its draws is
};

struct wb_task {
    // Fixed at the start. What each switch looks at comes first.
    struct wb_system *system;
    struct wb_port *ports;      // list by next_of_task
    unsigned char *stack;       // lowest address
    uint32_t checkpoint_every;  // an image each so many checkpoints; 0: none
    char name[WB_NAME_BYTES];
    uint32_t id, index;
    struct wb_word priority;  // its own; the task
    bool migratable, restart, has_output, moves_at_waits;
    enum wb_mode mode;
    bool replay;  // what came since the image is processed again, else it is skipped
    wb_task_entry *entry;
    size_t stack_bytes;
    uint64_t period_ns, relative_deadline_ns, offset_ns;
    uint32_t rate_millihz, period_rest, offset_rest;  // see wb_task_config; a rate of 1 for none
    bool follows_rate;  // its period is one frame, whatever the frame rate is

    // Shared: who may change a word depends on the state in it (see migration.c).
    _Alignas(WB_LINE_BYTES) struct wb_compared owner_state;
    struct wb_compared request;
    // One bit each: the cores that choose among themselves which of them runs it next; 0: it stays
    // where it is. Written by the launcher, then by the core that takes in what somebody has moved.
    struct wb_word cores;
    // Of the last migration that a user asked for; written before request goes NONE.
    struct wb_word outcome;
    struct wb_word requester;  // task id + 1 to wake at the end, 0 for none
    // The last request of this task's own: the requester says that it awaits it, who ends it swaps
    // that for what became of it, and fails if the requester has gone on.
    struct wb_swapped answer;
    struct wb_migration migration;  // of the request; written by whoever holds its phase
    struct wb_stamp deadline_ns;    // of the request, or of the offer if that is earlier
    struct wb_sync sync;

    // The task itself and the kernel that owns it.
    _Alignas(WB_LINE_BYTES) uint64_t resumed_ns;  // when it was last switched to
    uint64_t poll_mark_ns;                        // polling time to take off the current run
    bool open;                                    // `settled` waits for the first output
    struct wb_task_stats stats;
    struct wb_task_report report;
    struct wb_heap heap;
    struct wb_shared shared;
    struct wb_work work;
    struct wb_response *response;  // fixed; NULL: its response times are not measured
    void *state;
    wb_task_step *step;  // NULL: only the task itself goes on (see wb/kernel.h)
    struct wb_frame frame;
    struct wb_release release;  // of the current job
    struct wb_arrival arrival;
    uint64_t job_deadline_ns;  // of the current job, after its release; 0: none
    uint32_t restarts;         // written by recovery
    // The same: how often it was cut short, and went on or started again.
    struct wb_swapped incarnation;
    struct wb_word revive;       // enum wb_revival: recovery; cleared by the kernel that took it in
    struct wb_word memory_core;  // mode replicate: whose private memory holds its context
    struct wb_images images;
    struct wb_migration settled;   // done, but for its first output
    struct wb_scripted *scripted;  // fixed; NULL: it has no script
    _Alignas(WB_LINE_BYTES) unsigned char kernel[WB_KERNEL_TASK_BYTES];
};

/// The task's own priority, whatever it has inherited.
static inline uint32_t wb_own_priority(const struct wb_task *task)
{
    // Relaxed: exact for the task and its kernel, a hint for the others.
    return wb_word_load(&task->priority, WB_RELAXED);
}

#endif
