// SPDX-License-Identifier: Apache-2.0
#include "../base/base.h"
#include "buckets.h"
#include "marks.h"

enum { PART_SHIFT = 6, PART = 1 << PART_SHIFT };  // of buckets: there are 30 parts

// Written by the core's own kernel, read once all kernels have ended. One part of each core follows
// the other, then the next parts: most frames take as long as others, and the other parts no pages.
static bool init(struct wb_system *system)
{
    const size_t n = system->config.cores;
    struct wb_bucket *buckets =
        wb_system_alloc(system, n * BUCKETS * sizeof *buckets, WB_LINE_BYTES);

    for (uint32_t i = 0; i < n && buckets != NULL; i++)
        system->cores[i]->latency = buckets + (size_t)i * PART;
    return buckets != NULL;
}

static struct wb_bucket *bucket_at(const struct wb_core *core, uint32_t bucket)
{
    const size_t parts = (size_t)(bucket >> PART_SHIFT) * core->system->n_cores;

    return &core->latency[parts * PART + bucket % PART];
}

static bool has_channel(const struct wb_task *task, enum wb_direction direction)
{
    for (const struct wb_port *port = task->ports; port != NULL; port = port->next_of_task)
        if (port->direction == direction && !port->channel->aside)
            return true;
    return false;
}

static void bind(struct wb_task *task)
{
    const enum wb_timing timing = !has_channel(task, WB_IN)    ? WB_TIMED_SOURCE
                                  : !has_channel(task, WB_OUT) ? WB_TIMED_END
                                                               : WB_TIMED_WAY;

    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task)
        if (!port->channel->aside)
            port->timing = timing;
}

static uint64_t begin_frame(const struct wb_task *task)
{
    return 1 + (task->job_deadline_ns != 0 ? task->release.ns : wb_kernel_stamp_ns());
}

static void count_frame(struct wb_task *task, struct wb_core *core)
{
    struct wb_frame *frame = &task->frame;

    if (frame->end_ns == 0)
        return;
    // The clocks of two cores may differ by a little.
    const uint64_t began_ns = frame->mark - 1;
    const uint64_t ns = frame->end_ns > began_ns ? frame->end_ns - began_ns : 0;
    const uint32_t bucket = bucket_of(ns);
    // Before: who sums up leaves out memory that nothing was written to.
    core->latency_parts |= 1u << (bucket >> PART_SHIFT);
    bucket_add(bucket_at(core, bucket), 1, ns);
    frame->end_ns = 0;
}

static void arrive(struct wb_task *task, uint64_t mark)
{
    struct wb_frame *frame = &task->frame;

    if (mark == 0)
        return;
    if (mark != frame->mark)
        count_frame(task, wb_core_here(task->system));
    frame->mark = mark;
    frame->end_ns = wb_kernel_stamp_ns();
}

static void send(const struct wb_port *out, void *slot)
{
    const struct wb_task *task = out->task;
    const uint64_t mark = out->timing == WB_TIMED_SOURCE ? begin_frame(task) : task->frame.mark;

    mark_put(out, slot, WB_MARK_FRAME, mark);
}

static void receive(struct wb_port *in, const void *slot)
{
    const uint64_t mark = mark_get(in, slot, WB_MARK_FRAME);

    if (in->timing == WB_TIMED_END)
        arrive(in->task, mark);
    else
        frame_on_way(in, mark);
}

static struct wb_bucket over_all_cores(const struct wb_system *system, uint32_t bucket)
{
    struct wb_bucket sum = { 0, 0 };

    for (uint32_t i = 0; i < system->n_cores; i++) {
        const struct wb_core *core = system->cores[i];
        if ((core->latency_parts >> (bucket >> PART_SHIFT) & 1) == 0)
            continue;
        const struct wb_bucket *own = bucket_at(core, bucket);
        bucket_add(&sum, own->n, own->sum_ns);
    }
    return sum;
}

bool wb_system_latency(const struct wb_system *system, uint64_t *ns)
{
    uint64_t frames = 0, before = 0;

    for (uint32_t i = 0; system->config.times_frames && i < BUCKETS; i++)
        frames += over_all_cores(system, i).n;
    for (uint32_t i = 0; 2 * before < frames; i++) {
        const struct wb_bucket bucket = over_all_cores(system, i);
        before += bucket.n;
        if (2 * before >= frames)
            *ns = bucket.sum_ns / bucket.n;
    }
    return frames != 0;
}

const struct wb_part_latency wb_part_latency = {
    .bytes = BUCKETS * sizeof(struct wb_bucket) + WB_LINE_BYTES,
    .init = init,
    .bind = bind,
    .send = send,
    .receive = receive,
    .count = count_frame,
};
