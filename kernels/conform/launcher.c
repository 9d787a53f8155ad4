// SPDX-License-Identifier: Apache-2.0
// The part of the harness that is the same wherever kernels have a launcher.

#include "launcher.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void launcher_give_up(const char *what)
{
    fprintf(stderr, "conform: %s\n", what);
    exit(2);
}

struct harness *launcher_open(const struct harness_config *config, uint64_t for_ever_ns,
                              struct wb_host_config more)
{
    struct harness *h = calloc(1, sizeof *h);

    more.system = (struct wb_system_config){
        .cores = config->cores,
        .tasks = more.system.tasks != 0 ? more.system.tasks : HARNESS_TASKS,
        .channels = HARNESS_CHANNELS,
        .ports = HARNESS_PORTS,
        .shared_bytes = harness_sizes.shared_bytes,
        .record_events = 1024,
        .record_migrations = 1024,
        .offer_timeout_ns = config->offer_timeout_ns != 0 ? config->offer_timeout_ns : for_ever_ns,
        .transport = config->transport,
        .agent_period_ns = config->agent_period_ns,
        .coordinator = config->coordinator,
    };
    more.memory_bytes = harness_sizes.memory_bytes;
    more.stacks_bytes = HARNESS_TASKS * harness_sizes.stack_bytes;
    more.private_bytes = (size_t)2 * HARNESS_TASKS * harness_sizes.stack_bytes;
    more.private_parts = 2 * HARNESS_TASKS;
    if (h == NULL || wb_host_open(&h->host, &more) != WB_OK)
        launcher_give_up("no globally visible memory");
    return h;
}

struct wb_system *harness_system(struct harness *h)
{
    return wb_host_system(h->host);
}

void *harness_stack(struct harness *h)
{
    void *stack = wb_host_stack(h->host, harness_sizes.stack_bytes);

    if (stack == NULL)
        launcher_give_up("no room for a stack");
    return stack;
}

void *harness_private(struct harness *h, uint32_t core, size_t bytes)
{
    return wb_host_private(h->host, core, bytes);
}

void harness_start(struct harness *h)
{
    uint32_t bad_core;

    if (wb_host_start(h->host, &bad_core) != WB_OK)
        launcher_give_up("the kernels cannot be started");
}

enum harness_event harness_wait(struct harness *h, uint32_t limit_ms)
{
    switch (wb_host_wait(h->host, (int)limit_ms).kind) {
    case WB_HOST_DIED:
        return HARNESS_DIED;
    case WB_HOST_FAULT:
        return HARNESS_FAULT;
    case WB_HOST_ENDED:
        return HARNESS_ENDED;
    case WB_HOST_RESTARTED:
    case WB_HOST_NOTHING:
        break;
    }
    return HARNESS_NOTHING;
}
