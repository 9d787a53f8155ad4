// SPDX-License-Identifier: Apache-2.0
#include "wb/descriptor.h"

#include "../base/base.h"
#include "buckets.h"
#include "marks.h"
#include "response.h"

enum { PART_BUCKETS = PARTS / 8 };  // of a part of the histogram that is told

static size_t bytes(const struct wb_system_config *config)
{
    const size_t buckets = sizeof(struct wb_bucket) * BUCKETS;

    return config->tasks * (sizeof(struct wb_response) + buckets) + (size_t)2 * WB_LINE_BYTES;
}

// What is looked at in every firing lies close together; what most tasks never touch, apart.
static bool init(struct wb_system *system)
{
    const uint32_t n = system->config.tasks;

    system->responses = wb_system_alloc(system, n * sizeof *system->responses, WB_LINE_BYTES);
    struct wb_bucket *buckets =
        wb_system_alloc(system, n * sizeof *buckets * BUCKETS, WB_LINE_BYTES);
    if (system->responses == NULL || buckets == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        system->responses[i].buckets = buckets + (size_t)i * BUCKETS;
    return true;
}

// Who is periodic from the start is released by time, not by messages.
static bool is_activated(const struct wb_channel *channel)
{
    return !channel->aside && channel->receiver != NULL && channel->receiver->task->period_ns == 0;
}

static void bind(struct wb_task *task)
{
    struct wb_response *response = &task->system->responses[task->id];

    task->response = response;
    response->is_source = true;
    for (struct wb_port *port = task->ports; port != NULL; port = port->next_of_task) {
        port->stamped = is_activated(port->channel);
        if (port->direction == WB_IN)
            response->is_source = false;
    }
    response->ready_ns = response->is_source ? task->system->start_ns + 1 : 0;
}

static void add_to_bucket(struct wb_response *response, uint32_t bucket, uint64_t n, uint64_t ns)
{
    for (uint32_t i = 0; i < WB_RESPONSES_FEW; i++) {
        struct wb_response_few *few = &response->few[i];
        if (few->n != 0 && few->bucket != bucket)
            continue;
        few->bucket = bucket;
        few->n += n;
        few->sum_ns += n * ns;
        return;
    }
    response->spilled = true;
    bucket_add(&response->buckets[bucket], n, n * ns);
}

// Takes over those of the same length that came one after the other.
static void settle(struct wb_response *response)
{
    const uint64_t ns = response->run_ns, n = response->run_n;

    if (n == 0)
        return;
    if (response->n == 0 || ns < response->min_ns)
        response->min_ns = ns;
    if (ns > response->max_ns)
        response->max_ns = ns;
    response->n += n;
    response->sum_ns += n * ns;
    add_to_bucket(response, bucket_of(ns), n, ns);
    response->run_n = 0;
}

static void begin_run(struct wb_response *response, uint64_t ns)
{
    settle(response);
    response->run_ns = ns;
    response->run_n = 1;
}

// A task comes for a message: it has ended the firing before, if it has taken all messages of that
// from here.
static void come(struct wb_port *in)
{
    if (!in->stamped)
        return;
    const struct wb_response *response = in->task->response;
    if (response->ready_ns != 0 &&
        wb_counter_get(&in->messages) >= (response->fired + 1) * in->rate)
        response_fired(in->task);
}

// A task has sent a message: one that only sends has ended a firing with its last one.
static void committed(const struct wb_port *out)
{
    struct wb_task *self = out->task;
    const struct wb_response *response = self->response;

    if (response == NULL || !response->is_source || self->job_deadline_ns != 0)
        return;
    const uint64_t next = response->fired + 1;
    for (const struct wb_port *port = self->ports; port != NULL; port = port->next_of_task)
        if (!port->channel->aside && wb_port_messages(port) < next * port->rate)
            return;
    response_fired(self);
}

// ---- What is told -------------------------------------------------------------------------------

static struct wb_bucket bucket_at(const struct wb_response *response, uint32_t bucket)
{
    struct wb_bucket sum = { 0, 0 };

    if (response->spilled)
        sum = response->buckets[bucket];
    for (uint32_t i = 0; i < WB_RESPONSES_FEW; i++)
        if (response->few[i].n != 0 && response->few[i].bucket == bucket)
            bucket_add(&sum, response->few[i].n, response->few[i].sum_ns);
    return sum;
}

// The mean of the bucket in which the one of this rank, from 1, is.
static uint64_t of_rank(const struct wb_response *response, uint64_t rank)
{
    uint64_t before = 0;

    for (uint32_t i = bucket_of(response->min_ns); i <= bucket_of(response->max_ns); i++) {
        const struct wb_bucket bucket = bucket_at(response, i);
        before += bucket.n;
        if (before >= rank)
            return bucket.sum_ns / bucket.n;
    }
    return response->max_ns;
}

// NULL: there are none.
static const struct wb_response *responses_of(const struct wb_task *task)
{
    if (task->response != NULL)
        settle(task->response);
    return task->response != NULL && task->response->n != 0 ? task->response : NULL;
}

bool wb_task_response(const struct wb_task *task, struct wb_response_times *times)
{
    const struct wb_response *response = responses_of(task);

    if (response == NULL)
        return false;
    // The smallest that at least this part of all does not exceed (nearest rank).
    const uint64_t n = response->n;
    *times = (struct wb_response_times){ .n = n,
                                         .min_ns = response->min_ns,
                                         .mean_ns = response->sum_ns / n,
                                         .max_ns = response->max_ns,
                                         .p50_ns = of_rank(response, n / 2 + n % 2),
                                         .p99_ns = of_rank(response, n - n / 100) };
    return true;
}

bool wb_task_response_next(const struct wb_task *task, uint32_t *at, struct wb_response_part *part)
{
    const struct wb_response *response = responses_of(task);

    if (response == NULL)
        return false;
    const uint32_t first = bucket_of(response->min_ns), last = bucket_of(response->max_ns);
    for (uint32_t i = *at < first ? first - first % PART_BUCKETS : *at; i <= last;) {
        *part = (struct wb_response_part){ .from_ns = bucket_from(i),
                                           .to_ns = bucket_from(i + PART_BUCKETS) };
        for (const uint32_t end = i + PART_BUCKETS; i < end; i++)
            part->n += bucket_at(response, i).n;
        *at = i;
        if (part->n != 0)
            return true;
    }
    return false;
}

static void send(const struct wb_port *out, void *slot)
{
    mark_put(out, slot, WB_MARK_SENT, wb_kernel_stamp_ns());
}

static void receive(struct wb_port *in, const void *slot)
{
    response_came(in, mark_get(in, slot, WB_MARK_SENT));
}

const struct wb_part_responses wb_part_responses = {
    .bytes = bytes,
    .init = init,
    .bind = bind,
    .send = send,
    .committed = committed,
    .come = come,
    .receive = receive,
    .begin_run = begin_run,
};
