// SPDX-License-Identifier: Apache-2.0
// Channels, ports and heaps as they lie in globally visible memory. Applications use wb/wb.h.
#ifndef WB_CHANNELS_H
#define WB_CHANNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/status.h"
#include "wb/word.h"

struct wb_channel;
struct wb_system;
struct wb_task;

// ---- Heaps --------------------------------------------------------------------------------------

// Heaps as they lie in globally visible memory: each task's own, and the pool that tasks share.
//
// Applications see wb/wb.h. A heap is used by its owner, a task or the launcher, and by nobody
// else but for what says so; a task runs on one core at a time, so nothing here needs a lock.

enum {
    WB_LINE_BYTES = 64,         // coherence granule that separates writers
    WB_HEAP_CLASSES = 26,       // 32 B to 1 GiB
    WB_POOL_PAGE_BYTES = 4096,  // what the pool is cut into
};

struct wb_heap {                       // used by its owner only, but for `returned`
    unsigned char *base, *next, *end;  // of a task's own heap: [base, next) was ever in use
    void *free[WB_HEAP_CLASSES];
    WB_SWAPPED(void *) returned;  // pushed by those who free a foreign block, taken by the owner
    size_t used_bytes, peak_bytes;
    size_t refused_bytes;  // of the last block that there was no room for
    uint32_t generation;   // restarts of the owner; the launcher
    bool is_private;       // fixed: elsewhere there is other memory at its addresses
};

enum { WB_SHARED_MAX = 1 << 30 };  // bytes of a pool

// Some pages in a row that hold blocks of one class. Kept at the first of them.
struct wb_extent {
    // NULL: no extent begins here; whoever has claimed the pages.
    _Alignas(WB_LINE_BYTES) WB_STORED(struct wb_shared *) owner;
    struct wb_extent *following;  // the owner's: the next of those that it is about to give back
    uint32_t size_class;          // the owner
    uint32_t block_bytes;         // the owner
    uint32_t epoch;               // the owner: that in which it was last counted as spare
    struct wb_compared used;      // blocks that are not free: the owner; after its end, anyone
};

struct wb_pool {
    // Fixed at the start.
    unsigned char *base;
    size_t bytes;
    uint32_t pages, n_words;
    struct wb_extent *extents;  // one per page
    struct wb_swapped *words;   // a bit per page, 1: claimed; any core, by compare-and-swap
};

// What one task, or the launcher, has of the pool.
struct wb_shared {
    struct wb_heap heap;
    struct wb_pool *pool;           // fixed; NULL: there is none
    size_t spare_bytes;             // of small runs that had no block in use, at some time of this
    uint32_t epoch;                 // epoch: from one look at them to the next, counted from 1
    uint32_t hint;                  // the word of the pool where it last found something
    struct wb_compared left_bytes;  // in use since before its end or its last restart; the owner;
                                    // after its end, anyone
};

/// How large the block was that an access to `address` can be meant for, as the heap had no room
/// for it and gave NULL; 0: none was.
static inline size_t wb_heap_missed(const struct wb_heap *heap, uintptr_t address)
{
    return address / WB_POOL_PAGE_BYTES <= heap->refused_bytes / WB_POOL_PAGE_BYTES
               ? heap->refused_bytes
               : 0;
}

/// An empty heap over memory that every kernel sees.
void wb_heap_init(struct wb_heap *heap, void *memory, size_t bytes);

/// Allocates from a given heap, for callers that are no task. wb_free() takes the block back.
///
/// Context: one caller at a time. Never blocks.
void *wb_heap_malloc(struct wb_heap *heap, size_t bytes);

/// The same three for memory that is shared, and for a launcher.
///
/// Context: the launcher, while no other thread of it does. Never blocks.
/// Returns: as those of wb/wb.h.
void *wb_system_shared_malloc(struct wb_system *system, size_t bytes);
void *wb_system_shared_realloc(struct wb_system *system, void *block, size_t bytes);
void wb_system_shared_free(struct wb_system *system, void *block);

/// How many bytes of what a task allocated are in use, and how many of them were left behind by
/// its end or by a life before its restart.
///
/// Context: any. Never blocks. Exact once the task is over or does not run.
size_t wb_shared_used_bytes(const struct wb_shared *shared);
size_t wb_shared_left_bytes(const struct wb_shared *shared);

// ---- Latency ------------------------------------------------------------------------------------

// Latency: how long frames are under way, from their source until the end of the application.
//
// A frame begins where a task receives from no channel: with the release of its job if the task is
// periodic, else when it is sent. Each message carries in its slot when its frame began. What a
// task sends belongs to the newest frame that it has received messages of. A frame has arrived with
// the last of its messages that a task that sends to no channel has received before those of
// another. Mailboxes have no part in it: a task looks into one when it likes.

enum {
    WB_MARK_BYTES = 8
};  // at the end of a slot: see struct wb_frame; before it, wb/descriptor.h

// The part that a port has in it.
enum wb_timing { WB_TIMED_NOT, WB_TIMED_SOURCE, WB_TIMED_WAY, WB_TIMED_END };

// The frame of the messages that a task has received; its own, and of the kernel that owns it.
struct wb_frame {
    uint64_t mark;    // as in a slot: when it began, plus one; 0: it is of no frame
    uint64_t end_ns;  // when its last message so far arrived at the end; 0: none did
};

/// The latency of frames in the median, over all that arrived: of those that all take equally long
/// it is exact, else right to a thirty-second part of itself.
///
/// Context: the launcher, once every kernel has ended. Never blocks.
/// Returns: false, with `ns` unchanged, if no frame arrived or they were not timed.
bool wb_system_latency(const struct wb_system *system, uint64_t *ns);

// ---- Notify policies ----------------------------------------------------------------------------

// Notify policies: how the receiver of a channel learns that a message waits for it, while it waits
// itself.
//
//   interrupt   the sender wakes it (the default); with a batch, once so many messages are there,
//               or the oldest of them has waited for the deadline
//   polling     it looks by itself, each so often; nobody wakes it
//   adaptive    it looks by itself when the message should be there; the sender wakes it only if
//               that is too late for a bound
//
// So each names a time within which a message is noticed, but for what the receiver's kernel takes
// to let it run.

enum wb_doorbell { WB_NOTIFY_INTERRUPT, WB_NOTIFY_POLLING, WB_NOTIFY_ADAPTIVE };

enum { WB_WITHIN_MAX_US = 1000000000 };

struct wb_notify_config {
    enum wb_doorbell doorbell;
    uint32_t batch;      // of an interrupt: it waits for so many messages; 0 or 1: for each
    uint32_t within_us;  // the time between two looks, the bound, or the deadline of a batch
};

// What the receiver expects of a time that it has seen before: V. Paxson and others, "Computing
// TCP's Retransmission Timer", RFC 6298, whose scaling keeps it exact (V. Jacobson, "Congestion
// Avoidance and Control", 1988).
struct wb_estimator {
    uint64_t mean_8th_ns;    // eight times the smoothed mean
    uint64_t spread_4th_ns;  // four times the smoothed deviation from it
    uint32_t n;              // times that were seen, up to some
};

struct wb_notify_stats {        // the receiver
    struct wb_counter waits;    // messages that it waited for
    struct wb_counter rings;    // times that a sender woke it
    struct wb_counter polls;    // times that it looked by itself
    struct wb_counter hits;     // and found what it waited for
    struct wb_stamp mean_ns;    // adaptive: what it expects, of the estimate that it goes by
    struct wb_stamp spread_ns;  // and how far that is off, in the mean
    struct wb_counter noticed;  // messages of which it is known how long they waited to be seen
    struct wb_counter late_ns;  // for how long, all together
    struct wb_stamp worst_ns;   // the longest
    struct wb_stamp kernel_ns;  // the longest that a kernel took to let it run, once it was rung
                                // or had to look: more than the bound none is late but for this
};

// One for each channel of a system that has the part (wb/system.h), beside wb_channel.notify_kind.
struct wb_notify_policy {
    // The launcher.
    struct wb_word within_us;

    // The receiver, before it says that it waits. What senders read there of a later wait does no
    // harm (see notify_policy.c).
    struct wb_word turn;      // the number of the wait
    struct wb_word from;      // its `claimed` then
    struct wb_stamp look_ns;  // when it looks by itself; WB_FOREVER: it does not

    // The receiver alone.
    struct wb_estimator rhythm;   // the time from one message to the next
    struct wb_estimator service;  // the time from when it begins to wait until the message
    uint64_t last_ns;             // when a message came, the last of which that is known
    uint64_t last;                // its number
    struct wb_notify_stats stats;
};

/// Whether such a notify policy makes sense for a channel of so many slots.
///
/// Context: any. Never blocks.
bool wb_notify_is_valid(const struct wb_notify_config *config, uint32_t slots);

/// What a channel has now; an interrupt for each message where the program has no notify policies.
///
/// Context: any core or the launcher. Never blocks.
struct wb_notify_config wb_channel_notify_policy(const struct wb_channel *channel);

/// Gives a channel another notify policy, also while messages pass. A receiver that waits looks at
/// once, and goes by the new one.
///
/// Context: the launcher. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL for one that makes no sense, or where the program has none.
WB_MUST_USE enum wb_status wb_channel_set_notify_policy(struct wb_channel *channel,
                                                        const struct wb_notify_config *config);

/// What was counted, or NULL where the program has no notify policies.
const struct wb_notify_stats *wb_channel_notify_stats(const struct wb_channel *channel);

// ---- Channels and ports -------------------------------------------------------------------------

enum { WB_NAME_BYTES = 32 };  // of a name, with the terminating zero

enum wb_direction { WB_IN, WB_OUT };

enum wb_waiting {
    WB_WAITS_NOT,
    WB_WAITS,             // and is to be woken
    WB_WAITS_FOR_NOTIFY,  // and is to be woken if its channel's notify policy says so
};

// In both of these what each message looks at comes together: lines of small caches have 16 bytes.

struct wb_port {
    // Fixed at the start.
    _Alignas(WB_LINE_BYTES) struct wb_channel *channel;
    struct wb_task *task;
    // Set by the owning task before it blocks, cleared by who wakes it: enum wb_waiting.
    struct wb_swapped waiting;
    struct wb_word closed;  // 1 for good: set by the owning task, or by recovery
    // Fixed at the start.
    char name[WB_NAME_BYTES];
    uint32_t index;
    uint32_t number;  // among the senders of its channel
    struct wb_port *next_of_task, *next_of_channel;
    uint32_t rate;  // messages per firing of its task
    void *scratch;  // sender: one slot, for what it sends again after a death

    // The owning task, now and then: the other side looks at them, and has their line to itself.
    // For the answers of a service: how often the task has begun to use it. What it has called for
    // earlier is answered no more (see wb/wb.h).
    struct wb_word session;
    // Sender: when it sent the first message of the receiver's wait of this number (see
    // notify_policy.c).
    struct wb_word came_turn;
    struct wb_stamp came_ns;

    // The owning task, at each message.
    _Alignas(WB_LINE_BYTES) uint32_t claimed;  // next index to claim or hold
    uint32_t committed;                        // next index to commit or release
    uint32_t cached_peer;                      // the other side's index as last loaded
    enum wb_direction direction : 8;           // fixed, as the next three
    enum wb_timing timing : 8;
    bool defer_release;  // receiver: what it releases is given back at the next checkpoint image
    bool stamped;        // its slots say when messages were sent (see wb/descriptor.h)
    struct wb_counter messages;
    struct wb_word high;   // receiver: most messages ever in its channel
    struct wb_word low;    // receiver: fewest left behind since it was full; before: slots + 1
    uint32_t resend_skip;  // sender: so many messages more have been sent before its task's death
    uint32_t resend_skipped;  // and so many of them are claimed
};

struct wb_channel {
    // Fixed at the start.
    _Alignas(WB_LINE_BYTES) unsigned char *data;
    struct wb_compared *tickets;  // mailboxes: the state of each slot (see mailbox.c); else NULL
    struct wb_port *receiver, *senders;
    uint32_t slots, slot_bytes, charged, stride_bytes;  // charged: the units of WB_ACTION_SEND and
                                                        // WB_ACTION_RECEIVE (see wb/kernel.h)
    struct wb_word senders_open;   // 1 until all of them are closed; the last of them
    struct wb_word receiver_open;  // 1 until it is closed; the receiver
    uint32_t initial;              // messages that were in it at the start
    struct wb_system *system;
    char name[WB_NAME_BYTES];
    uint32_t id, n_senders;
    bool claims_at_start;  // see wb_channel_config
    bool aside;            // a mailbox, or of answers: no part of what flows through the tasks
    // The launcher: enum wb_doorbell in bits 0-1, the batch above; 0: each message wakes the
    // receiver.
    struct wb_word notify_kind;
    struct wb_notify_policy *notify;  // fixed; NULL: there is no such part

    _Alignas(WB_LINE_BYTES) struct wb_compared tail;  // channel: the sender; mailbox: any sender
    _Alignas(WB_LINE_BYTES) struct wb_word head;      // the receiver
    struct wb_word high;                              // the receiver: most messages ever in it
    struct wb_word low;  // the receiver: fewest left behind since it was full; before: slots + 1
};

/// How many messages are in a channel now.
uint32_t wb_channel_depth(const struct wb_channel *channel);

#endif
