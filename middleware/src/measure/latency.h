// SPDX-License-Identifier: Apache-2.0
// What wb/channel.h measures, for the files of the middleware that have to do with frames. Inline
// is what every message passes through.
#ifndef WB_FRAME_H
#define WB_FRAME_H

#include "../parts.h"
#include "../word/mem.h"
#include "wb/system.h"

static inline size_t latency_mark_at(const struct wb_port *port)
{
    return port->channel->stride_bytes - WB_MARK_BYTES;
}

/// Marks a slot before it is sent.
static inline void latency_send(const struct wb_port *out, void *slot)
{
    if (out->timing == WB_TIMED_NOT)
        return;
    const struct wb_task *task = out->task;
    const uint64_t mark =
        out->timing == WB_TIMED_SOURCE ? wb_parts.latency->begin(task) : task->frame.mark;
    memcpy((unsigned char *)slot + latency_mark_at(out), &mark, WB_MARK_BYTES);
}

/// Looks at a message that was received.
static inline void latency_receive(struct wb_port *in, const void *slot)
{
    struct wb_frame *frame = &in->task->frame;
    uint64_t mark;

    if (in->timing == WB_TIMED_NOT)
        return;
    memcpy(&mark, (const unsigned char *)slot + latency_mark_at(in), WB_MARK_BYTES);
    if (in->timing == WB_TIMED_END)
        wb_parts.latency->arrive(in->task, mark);
    else if (mark > frame->mark)
        frame->mark = mark;
}

#endif
