// SPDX-License-Identifier: Apache-2.0
// Latency: how long frames are under way, from their source until the end of the application.
//
// A frame begins where a task receives from no channel: with the release of its job if the task is
// periodic, else when it is sent. Each message carries in its slot when its frame began. What a
// task sends belongs to the newest frame that it has received messages of. A frame has arrived with
// the last of its messages that a task that sends to no channel has received before those of
// another. Mailboxes have no part in it: a task looks into one when it likes.
#ifndef WB_LATENCY_H
#define WB_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

struct wb_latency;
struct wb_system;

enum { WB_MARK_BYTES = 8 };  // at the end of a slot: see struct wb_frame; before it, wb/response.h

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

#endif
