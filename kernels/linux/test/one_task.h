// SPDX-License-Identifier: Apache-2.0
// A kernel with one task, which shares some memory with the test.
#ifndef WB_ONE_TASK_H
#define WB_ONE_TASK_H

#include <sched.h>

#include "check.h"
#include "host.h"
#include "wb/system.h"

/// Opens a system of one core and one task, with `state_bytes` of zeros in system->app.state.
/// `config` has the rest; the test starts it.
static inline struct wb_host *one_task_open(struct wb_host_config config, wb_task_entry *entry,
                                            size_t state_bytes)
{
    enum { STACK_BYTES = 64 << 10 };
    static unsigned int cpu;
    struct wb_host *host;
    struct wb_task *task;

    cpu = (unsigned int)sched_getcpu();  // one that is allowed
    config.system.cores = config.system.tasks = config.system.channels = config.system.ports = 1;
    config.memory_bytes = 1 << 20;
    config.stacks_bytes = STACK_BYTES;
    config.cpus = &cpu;
    CHECK(wb_host_open(&host, &config) == WB_OK);
    struct wb_system *system = wb_host_system(host);
    system->app.state = wb_app_alloc(&system->app, state_bytes);
    CHECK(system->app.state != NULL);
    const struct wb_task_config one = { .name = "task",
                                        .entry = entry,
                                        .stack = wb_host_stack(host, STACK_BYTES),
                                        .stack_bytes = STACK_BYTES,
                                        .heap_bytes = 4096 };
    CHECK(wb_task_add(system, &one, &task) == WB_OK);
    return host;
}

#endif
