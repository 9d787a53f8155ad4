// SPDX-License-Identifier: Apache-2.0
// A system of two cores at most, for one round of a benchmark.

#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { STACK_BYTES = 64 << 10, HEAP_BYTES = 64 << 10, LIMIT_MS = 60000 };

static cpu_set_t before_pin;

void bench_fail(const char *what)
{
    fprintf(stderr, "whimbrel-bench: %s\n", what);
    exit(2);
}

char *bench_path(const char *name)
{
    // The root of a source tree, above its bin; or what `make install` puts beside this program.
    static const char *const places[] = { "..", ".", "../../share/whimbrel" };
    char self[4096], *path = NULL;
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n < 0)
        bench_fail("cannot find itself");
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        free(path);
        if (asprintf(&path, "%s/%s/%s", self, places[i], name) < 0)
            bench_fail("no memory");
        if (access(path, R_OK) == 0)
            break;
    }
    return path;
}

void bench_open_as(struct bench_system *b, const struct wb_host_config *config)
{
    if (wb_host_open(&b->host, config) != WB_OK)
        bench_fail("no globally visible memory");
    b->system = wb_host_system(b->host);
}

void bench_open(struct bench_system *b, const struct bench_options *options, uint32_t cores,
                uint64_t spin_ns)
{
    bench_open_for(b, options, cores, spin_ns, HEAP_BYTES);
}

void bench_open_for(struct bench_system *b, const struct bench_options *options, uint32_t cores,
                    uint64_t spin_ns, size_t heap_bytes)
{
    const size_t context_bytes = heap_bytes + STACK_BYTES + HEAP_BYTES;
    const struct wb_host_config config = {
        .system = { .cores = cores,
                    .tasks = 4,
                    .channels = 4,
                    .ports = 8,
                    .shared_bytes = 4 << 20,
                    .offer_timeout_ns = 10000000000 },
        // The heap, and two images or a transfer buffer.
        .memory_bytes = (4 << 20) + 3 * context_bytes,
        .stacks_bytes = 4 * STACK_BYTES,
        .private_bytes = context_bytes,
        .private_parts = 2,
        .cpus = options->cpu,
        .spin_ns = spin_ns,
    };

    bench_open_as(b, &config);
}

struct wb_task *bench_task(struct bench_system *b, const char *name, wb_task_entry *entry,
                           uint32_t core)
{
    return bench_task_with(
        b, &(struct wb_task_config){
               .name = name, .entry = entry, .core = core, .heap_bytes = HEAP_BYTES });
}

struct wb_task *bench_task_with(struct bench_system *b, const struct wb_task_config *wanted)
{
    struct wb_task_config config = *wanted;
    struct wb_task *task;

    config.priority = 8;
    config.migratable = true;
    config.stack_bytes = STACK_BYTES;
    if (config.mode == WB_REPLICATE) {
        config.stack = wb_host_private(b->host, config.core, STACK_BYTES);
        config.heap = wb_host_private(b->host, config.core, config.heap_bytes);
    } else {
        config.stack = wb_host_stack(b->host, STACK_BYTES);
    }
    if (wb_task_add(b->system, &config, &task) != WB_OK)
        bench_fail("a task cannot be added");
    return task;
}

void bench_channel(struct bench_system *b, const char *name, uint32_t slots, uint32_t slot_bytes,
                   struct wb_task *from, uint32_t out, struct wb_task *to, uint32_t in)
{
    const struct wb_channel_config config = { .name = name,
                                              .slots = slots,
                                              .slot_bytes = slot_bytes };
    struct wb_channel *channel;

    if (wb_channel_add(b->system, &config, &channel) != WB_OK ||
        wb_port_add(from, channel, WB_OUT, "out", out) != WB_OK ||
        wb_port_add(to, channel, WB_IN, "in", in) != WB_OK)
        bench_fail("a channel cannot be added");
}

void bench_start(struct bench_system *b, void *state)
{
    uint32_t bad_core;

    b->system->app.state = state;
    if (wb_host_start(b->host, &bad_core) != WB_OK)
        bench_fail("the kernels cannot be started");
    const struct wb_host_event event = wb_host_wait(b->host, LIMIT_MS);
    if (event.kind == WB_HOST_FAULT)
        bench_fail(b->system->fault.text);
    if (event.kind != WB_HOST_ENDED)
        bench_fail("a round did not end");
}

void bench_run(struct bench_system *b, void *state)
{
    bench_start(b, state);
    wb_host_close(b->host);
}

void bench_compute(uint64_t ns)
{
    const uint64_t until_ns = wb_now_ns() + ns;

    while (wb_now_ns() < until_ns) {}
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
