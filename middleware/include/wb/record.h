// SPDX-License-Identifier: Apache-2.0
// What a kernel leaves behind about the run: events (with --record) and completed migrations
// (always), in rings that the launcher drains. A full ring drops the newest and counts it, unless
// something makes room in it.
#ifndef WB_RECORD_H
#define WB_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/word.h"

// Numbers are part of the recorded-run format (docs/recorded-run.md): add at the end.
enum wb_event_kind {
    WB_EVENT_RUN = 1,         // task is switched to
    WB_EVENT_READY = 2,       // task gives its core up, ready; value: as of WB_EVENT_BLOCK
    WB_EVENT_BLOCK = 3,       // task blocks; object: what it waits for (enum wb_wait_for); value:
                              // ns since it was switched to that it polled
    WB_EVENT_END = 4,         // task ends; value: as of WB_EVENT_BLOCK
    WB_EVENT_SEND = 5,        // task commits to channel `object`; value: depth after it
    WB_EVENT_RECEIVE = 6,     // task releases from channel `object`; value: depth after it
    WB_EVENT_MISS = 7,        // task missed a deadline; value: nanoseconds late (at most 2^32 - 1)
    WB_EVENT_PARK = 8,        // task is parked; object: target core; value: as of WB_EVENT_BLOCK
    WB_EVENT_ATTACH = 9,      // task is attached here; object: source core
    WB_EVENT_RETURN = 10,     // task is taken back by its source; object: target core
    WB_EVENT_SLEEP = 11,      // the kernel sleeps
    WB_EVENT_AWAKE = 12,      // the kernel is awake
    WB_EVENT_OUTPUT = 13,     // first output of the task after a migration
    WB_EVENT_FREQUENCY = 14,  // the core enters an operating point; value: kHz
    WB_EVENT_POWER = 15,      // value: what the core consumes from here on, in microwatts
    WB_EVENT_TEMPERATURE = 16,  // value: of the core, thousandths of a degree Celsius, signed
    WB_EVENT_DOORBELL = 17,     // the core is rung; object: by which core
    WB_EVENT_CALL = 18,  // task has done a step of a call over mailbox `object`; value: the call's
                         // number, and in the lowest WB_CALL_STEP_BITS the step (enum wb_call_step)
};

// The steps of a call (lee2009 figure 3), each when it is done; the middle ones by the service.
enum wb_call_step {
    WB_CALL_BEGUN = 0,        // nothing yet
    WB_CALL_COPIED_IN = 1,    // the data lie in the shared memory
    WB_CALL_DESCRIBED = 2,    // so does the control message
    WB_CALL_NOTIFIED = 3,     // the service has been told
    WB_CALL_SEEN = 4,         // the service has the control message
    WB_CALL_FOUND = 5,        // it has the data, and the place for the answer
    WB_CALL_SERVED = 6,       // the answer lies in the shared memory
    WB_CALL_ANSWERED = 7,     // so does its control message
    WB_CALL_BACK = 8,         // the caller has been told
    WB_CALL_RECEIVED = 9,     // the caller has the control message
    WB_CALL_COPIED_OUT = 10,  // it has the answer
    WB_CALL_STEP_BITS = 4,    // the lowest bits of an event's value; the rest: the call's number
};

// What a task that blocks waits for: the upper bits of `object`, and which in the lower ones.
enum wb_wait_for {
    WB_WAIT_UNTOLD = 0,   // a time, a file, a migration, or whichever of several things comes first
    WB_WAIT_OBJECT = 1,   // of scripts, by its place in their list (wb_objects_add())
    WB_WAIT_CHANNEL = 2,  // a message in it, or room, by its number
    WB_WAIT_MUTEX = 3,    // one of the application's own, as are the next
    WB_WAIT_SEMAPHORE = 4,  //
    WB_WAIT_CONDITION = 5,  //
    WB_WAIT_BARRIER = 6,    //
    WB_WAIT_SHIFT = 28,     // where the upper bits begin
};

struct wb_event {  // 24 bytes, little-endian in files
    uint64_t time_ns;
    uint16_t kind, core;
    uint32_t task;    // UINT32_MAX: none
    uint32_t object;  // what it is about, by kind
    uint32_t value;
};

struct wb_migration {
    uint64_t request_ns, parked_ns, attached_ns, running_ns, output_ns;  // 0: not reached
    uint64_t copied_ns;  // the context is on the target; 0 for a hand-off, which copies nothing
    uint64_t bytes;      // of context that were copied
    uint32_t task, source, target;
    int32_t status;  // enum wb_status
    uint32_t mode;   // enum wb_mode
    uint32_t by;     // enum wb_by
};

// Writers are one core's kernel, tasks and interrupts; the reader is the launcher. A slot starts
// with a word that says whether it is complete, so a writer may interrupt another.
struct wb_ring {
    struct wb_compared tail;    // writers
    struct wb_word head;        // the reader
    struct wb_swapped dropped;  // writers
    uint32_t slots;             // fixed; a power of two; 0: nothing is kept
    uint32_t entry_bytes;       // fixed
    unsigned char *data;        // fixed
    // Takes entries until there is room, while a writer waits; NULL: nothing does. Fixed, and only
    // where the writers and the reader are one thread.
    void (*make_room)(void);
};

struct wb_record {
    struct wb_ring events, migrations;
};

struct wb_core;

/// Puts an entry into a ring, or counts it as dropped. Blocks only in `make_room`.
void wb_ring_put(struct wb_ring *ring, const void *entry);

/// Takes the oldest complete entry.
///
/// Context: the one reader. Never blocks.
/// Returns: false when there is none.
bool wb_ring_take(struct wb_ring *ring, void *entry);

/// Notes an event of this core. Costs one branch when the run is not recorded. What a task that
/// blocks waits for is looked up here.
///
/// Context: the core's own kernel or its tasks. Blocks only in the ring's `make_room`.
void wb_record_event(struct wb_core *core, enum wb_event_kind kind, uint32_t task, uint32_t object,
                     uint64_t value, uint64_t time_ns);

#endif
