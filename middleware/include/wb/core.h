// SPDX-License-Identifier: Apache-2.0
// A core as it lies in globally visible memory: its inbox, and what its kernel counts and reports.
#ifndef WB_CORE_H
#define WB_CORE_H

#include <stddef.h>
#include <stdint.h>

#include "wb/agent.h"
#include "wb/counter.h"
#include "wb/heap.h"
#include "wb/latency.h"
#include "wb/policy.h"
#include "wb/record.h"
#include "wb/word.h"

struct wb_system;

enum {
    WB_NEAR_WORDS = 12,          // inbox words that share the summary's line
    WB_KERNEL_CORE_BYTES = 128,  // a kernel's own part of a core
    WB_CORES_MAX = 4095,         // cores fit 12 bits of an owner_state
};

// Notes to a core, one bit per task: "look at this task". Setting a bit twice is the same as once,
// so a lost, late or repeated doorbell does no harm; what to do is read from the task itself.
struct wb_inbox {
    // Bit b: some word w with w % 32 == b is set.
    _Alignas(WB_LINE_BYTES) struct wb_swapped summary;
    uint32_t n_words;          // fixed
    struct wb_swapped *words;  // set by any core, taken by the core that owns the inbox
    struct wb_swapped near[WB_NEAR_WORDS];
};

enum wb_core_state {
    WB_CORE_DOWN,     // its kernel has not started
    WB_CORE_UP,       // serves its inbox
    WB_CORE_STOPPED,  // its kernel has ended in order
    WB_CORE_DEAD,     // its kernel was killed
};

struct wb_core_stats {          // written by the core's own kernel
    struct wb_counter busy_ns;  // in tasks, without polling
    struct wb_counter switches;
    struct wb_counter polling_ns;  // in tasks that poll a channel
    struct wb_counter sleeps;      // times the kernel slept for want of work
    struct wb_counter notes;       // inbox notes served
};

struct wb_core {
    struct wb_inbox inbox;
    _Alignas(WB_LINE_BYTES) struct wb_word state;  // UP, STOPPED: its kernel; DEAD: the launcher
    uint32_t index;                                // fixed
    uint32_t kind;                                 // fixed: below wb_system_config.kinds
    struct wb_system *system;                      // fixed
    struct wb_core_stats stats;
    struct wb_record record;
    const struct wb_point *points;   // fixed: from the lowest frequency to the highest
    uint32_t n_points;               // fixed; 0: its frequency is not known and cannot be set
    struct wb_residency *residency;  // one per point; its own kernel
    struct wb_latency *latency;      // of frames that ended here; its own kernel, or NULL
    bool has_latency;                // any did; the same
    struct wb_word point;            // the present one; the core's own kernel
    uint32_t emptying;               // its own kernel: the use of the transfer buffer, and how
    size_t emptied;                  // many bytes of that are here
    struct wb_swapped wanted_point;  // the coordinator, or its own agent; or WB_NO_POINT
    _Alignas(WB_LINE_BYTES) struct wb_core_report report;
    _Alignas(WB_LINE_BYTES) unsigned char kernel[WB_KERNEL_CORE_BYTES];
};

/// Whether the core is to be off while it has no tasks (WB_POINT_OFF).
///
/// Context: any. Never blocks.
static inline bool wb_core_is_let_off(const struct wb_core *core)
{
    // Relaxed: the word is all there is to know.
    return wb_word_load(&core->wanted_point, WB_RELAXED) == WB_POINT_OFF;
}

#endif
