// SPDX-License-Identifier: Apache-2.0
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
#ifndef WB_NOTIFY_POLICY_H
#define WB_NOTIFY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/counter.h"
#include "wb/status.h"
#include "wb/word.h"

struct wb_channel;

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
    struct wb_counter looks;    // times that it looked by itself
    struct wb_counter hits;     // and found what it waited for
    struct wb_stamp mean_ns;    // adaptive: what it expects, of the estimate that it goes by
    struct wb_stamp spread_ns;  // and how far that is off, in the mean
    struct wb_counter noticed;  // messages of which it is known how long they waited to be seen
    struct wb_counter late_ns;  // for how long, all together
    struct wb_stamp worst_ns;   // the longest
    struct wb_stamp kernel_ns;  // the longest that a kernel took to let it run, once it was rung
                                // or had to look: more than the bound none is late but for this
};

// One for each channel of a system that has the part (wb/parts.h), beside wb_channel.notify_kind.
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

#endif
