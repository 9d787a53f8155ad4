// SPDX-License-Identifier: Apache-2.0
// A system of two cores at most, for one round of a benchmark.

#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { STACK_BYTES = 64 << 10, HEAP_BYTES = 64 << 10, LIMIT_MS = 60000 };

static cpu_set_t before_pin;

void bench_fail(const char *what)
{
    fprintf(stderr, "whimbrel-bench: %s\n", what);
    exit(2);
}

void bench_open(struct bench_system *b, const struct bench_options *options, uint32_t cores,
                uint64_t spin_ns)
{
    const struct wb_linux_config config = {
        .system = { .cores = cores,
                    .tasks = 4,
                    .channels = 4,
                    .ports = 8,
                    .shared_bytes = 4 << 20,
                    .offer_timeout_ns = 10000000000 },
        .memory_bytes = 4 << 20,
        .stacks_bytes = 4 * STACK_BYTES,
        .cpus = options->cpu,
        .spin_ns = spin_ns,
    };

    if (wb_linux_open(&b->lx, &config) != WB_OK)
        bench_fail("no globally visible memory");
    b->system = wb_linux_system(b->lx);
}

struct wb_task *bench_task(struct bench_system *b, const char *name, wb_task_entry *entry,
                           uint32_t core)
{
    const struct wb_task_config config = { .name = name,
                                           .core = core,
                                           .priority = 8,
                                           .entry = entry,
                                           .migratable = true,
                                           .stack = wb_linux_stack(b->lx, STACK_BYTES),
                                           .stack_bytes = STACK_BYTES,
                                           .heap_bytes = HEAP_BYTES };
    struct wb_task *task;

    if (wb_task_add(b->system, &config, &task) != WB_OK)
        bench_fail("a task cannot be added");
    return task;
}

void bench_channel(struct bench_system *b, const char *name, uint32_t slots, uint32_t slot_bytes,
                   struct wb_task *from, const char *out, struct wb_task *to, const char *in)
{
    const struct wb_channel_config config = { .name = name,
                                              .slots = slots,
                                              .slot_bytes = slot_bytes };
    struct wb_channel *channel;

    if (wb_channel_add(b->system, &config, &channel) != WB_OK ||
        wb_port_add(from, channel, WB_OUT, out, 0) != WB_OK ||
        wb_port_add(to, channel, WB_IN, in, 0) != WB_OK)
        bench_fail("a channel cannot be added");
}

void bench_start(struct bench_system *b, void *state)
{
    uint32_t bad_core;

    b->system->app.state = state;
    if (wb_linux_start(b->lx, &bad_core) != WB_OK)
        bench_fail("the kernels cannot be started");
    const struct wb_linux_event event = wb_linux_wait(b->lx, LIMIT_MS);
    if (event.kind == WB_LINUX_FAULT)
        bench_fail(b->system->fault.text);
    if (event.kind != WB_LINUX_ENDED)
        bench_fail("a round did not end");
}

void bench_run(struct bench_system *b, void *state)
{
    bench_start(b, state);
    wb_linux_close(b->lx);
}

void bench_pin_thread(unsigned int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        bench_fail("this thread cannot be pinned");
}

void bench_pin(unsigned int cpu)
{
    if (CPU_COUNT(&before_pin) == 0)
        sched_getaffinity(0, sizeof before_pin, &before_pin);
    bench_pin_thread(cpu);
}

void bench_unpin(void)
{
    if (CPU_COUNT(&before_pin) != 0)
        sched_setaffinity(0, sizeof before_pin, &before_pin);
}
