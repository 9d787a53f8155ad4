// SPDX-License-Identifier: Apache-2.0
// The marks behind the content of a slot: at its end that of the frame which the message belongs to
// (latency.c), before it the time at which the message was sent (response.c). Inline is what every
// message in the midst of a graph passes through.
#ifndef WB_MARKS_H
#define WB_MARKS_H

#include "../word/mem.h"
#include "wb/system.h"

enum wb_mark { WB_MARK_FRAME = 1, WB_MARK_SENT = 2 };

static inline void mark_put(const struct wb_port *port, void *slot, enum wb_mark which,
                            uint64_t value)
{
    const size_t at = port->channel->stride_bytes - (size_t)which * WB_MARK_BYTES;

    memcpy((unsigned char *)slot + at, &value, WB_MARK_BYTES);
}

static inline uint64_t mark_get(const struct wb_port *port, const void *slot, enum wb_mark which)
{
    const size_t at = port->channel->stride_bytes - (size_t)which * WB_MARK_BYTES;
    uint64_t value;

    memcpy(&value, (const unsigned char *)slot + at, WB_MARK_BYTES);
    return value;
}

/// The youngest frame that the task has had a message of.
static inline void frame_on_way(struct wb_port *in, uint64_t mark)
{
    struct wb_frame *frame = &in->task->frame;

    if (mark > frame->mark)
        frame->mark = mark;
}

/// The latest message since the task has responded.
static inline void response_came(struct wb_port *in, uint64_t sent_ns)
{
    struct wb_response *response = in->task->response;

    if (sent_ns == 0)
        sent_ns = in->task->system->start_ns;
    if (sent_ns >= response->ready_ns)
        response->ready_ns = sent_ns + 1;
}

#endif
