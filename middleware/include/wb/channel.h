// SPDX-License-Identifier: Apache-2.0
// Channels and ports as they lie in globally visible memory. Applications use wb/port.h.
#ifndef WB_CHANNELS_H
#define WB_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "wb/counter.h"
#include "wb/heap.h"
#include "wb/latency.h"
#include "wb/notify_policy.h"
#include "wb/word.h"

struct wb_system;
struct wb_task;

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

    // The owning task.
    _Alignas(WB_LINE_BYTES) uint32_t claimed;  // next index to claim or hold
    uint32_t committed;                        // next index to commit or release
    uint32_t cached_peer;                      // the other side's index as last loaded
    enum wb_direction direction : 8;           // fixed, as the next three
    enum wb_timing timing : 8;
    bool defer_release;  // receiver: what it releases is given back at the next checkpoint image
    bool stamped;        // its slots say when messages were sent (see wb/response.h)
    struct wb_counter messages;
    uint32_t resend_skip;  // sender: so many messages more have been sent before its task's death
    uint32_t resend_skipped;  // and so many of them are claimed
    // For the answers of a service: how often the task has begun to use it. What it has called for
    // earlier is answered no more (see wb/call.h). The owning task.
    struct wb_word session;
    // Sender: when it sent the first message of the receiver's wait of this number (see
    // notify_policy.c).
    struct wb_word came_turn;
    struct wb_stamp came_ns;
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
