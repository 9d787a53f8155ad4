// SPDX-License-Identifier: Apache-2.0
// How much memory a plan needs, of which kind.

#include <string.h>

#include "plan.h"
#include "wb/energy.h"

static size_t stride_bytes(const struct wb_channel_config *channel)
{
    const size_t bytes = (size_t)channel->slot_bytes + WB_MARK_BYTES;
    return (bytes + WB_LINE_BYTES - 1) / WB_LINE_BYTES * WB_LINE_BYTES;
}

static size_t channel_bytes(const struct wb_channel_config *channel)
{
    return (stride_bytes(channel) + sizeof(uint32_t)) * channel->slots + (size_t)2 * WB_LINE_BYTES;
}

// What a context has beside the heap and the stack, with some room to spare.
enum { CONTEXT_BYTES = 16 << 10 };

static size_t image_bytes(const struct plan *plan, const struct wb_task_config *task)
{
    size_t bytes = 2 * (task->heap_bytes + task->stack_bytes + CONTEXT_BYTES);

    for (uint32_t i = 0; i < plan->n_ports; i++)
        bytes += 2 * WB_LINE_BYTES;
    // A scratch slot for each port it sends through; which those are is not known here.
    for (uint32_t i = 0; i < plan->n_channels; i++)
        bytes += stride_bytes(&plan->channels[i]) + WB_LINE_BYTES;
    return bytes;
}

static size_t task_bytes(const struct plan *plan, const struct plan_task *task)
{
    const struct wb_task_config *config = &task->config;

    return (config->mode == WB_REPLICATE ? 0 : config->heap_bytes) + WB_LINE_BYTES +
           (config->checkpoint_every != 0 ? image_bytes(plan, config) : 0);
}

size_t plan_private_bytes(const struct plan *plan)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < plan->n_tasks; i++)
        if (plan->tasks[i].config.mode == WB_REPLICATE)
            bytes += plan->tasks[i].config.stack_bytes + plan->tasks[i].config.heap_bytes;
    return bytes;
}

uint32_t plan_private_parts(const struct plan *plan)
{
    uint32_t parts = 0;

    for (uint32_t i = 0; i < plan->n_tasks; i++)
        parts += plan->tasks[i].config.mode == WB_REPLICATE ? 2 : 0;
    return parts;
}

bool plan_recreates(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->n_tasks; i++)
        if (plan->tasks[i].config.mode == WB_RECREATE)
            return true;
    return false;
}

// The transfer buffer, and the words between a kernel and each program it may host.
static size_t recreation_bytes(const struct plan *plan)
{
    enum { HOSTED_BYTES = 256 };
    size_t largest = 0, bytes = 0;

    for (uint32_t i = 0; i < plan->n_tasks; i++) {
        const struct wb_task_config *task = &plan->tasks[i].config;
        const size_t context = task->heap_bytes + task->stack_bytes + CONTEXT_BYTES +
                               (size_t)plan->n_ports * 2 * WB_LINE_BYTES;
        if (task->mode == WB_HANDOFF)
            continue;
        largest = context > largest ? context : largest;
        bytes += (size_t)plan->n_cpus * HOSTED_BYTES;
    }
    return bytes + largest;
}

size_t plan_memory_bytes(const struct plan *plan)
{
    size_t bytes = plan->memory_bytes + (64 << 10) + recreation_bytes(plan) +
                   plan_policy_bytes(plan) + plan_work_bytes(plan);

    bytes += plan->n_points * (sizeof(struct wb_point) + sizeof(struct wb_residency)) +
             (size_t)plan->n_cpus * 2 * WB_LINE_BYTES;
    for (uint32_t i = 0; i < plan->n_channels; i++)
        bytes += channel_bytes(&plan->channels[i]);
    for (uint32_t i = 0; i < plan->n_tasks; i++)
        bytes += task_bytes(plan, &plan->tasks[i]);
    for (uint32_t i = 0; i < plan->n_params; i++)
        bytes += strlen(plan->params[i].key) + strlen(plan->params[i].text) + WB_LINE_BYTES +
                 plan->params[i].n_numbers * sizeof(double);
    return bytes;
}

size_t plan_stacks_bytes(const struct plan *plan)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < plan->n_tasks; i++)
        if (plan->tasks[i].config.mode != WB_REPLICATE)
            bytes += plan->tasks[i].config.stack_bytes;
    return bytes;
}
