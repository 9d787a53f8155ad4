// SPDX-License-Identifier: Apache-2.0
// The conformance suite's harness in virtual time.

#define _GNU_SOURCE
#include "harness.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"
#include "sim_host.h"

struct harness {
    struct wb_host *host;
};

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "conform: %s\n", what);
    exit(2);
}

// Alike cores of 1 GHz; what the middleware does takes as long as it does on a small processor, so
// that every step of it is a moment of its own.
static char *platform(uint32_t cores)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fputs("{\"name\":\"conform\",\"cores\":[", out);
    for (uint32_t i = 0; i < cores; i++)
        fprintf(out,
                "%s{\"kind\":\"core\",\"points\":[{\"hz\":1000000000,\"microvolts\":0,"
                "\"active_uw\":1000,\"idle_uw\":100,\"static_uw\":0}],\"start\":0,"
                "\"transition\":{\"time_ps\":0,\"energy_pj\":0},\"idle_states\":[],"
                "\"leakage\":null,\"cache\":null,\"node\":[0,0]}",
                i == 0 ? "" : ",");
    fputs("],\"costs\":{\"actions\":[", out);
    for (int i = 0; i < 15; i++)
        fprintf(out, "%s{\"cycles\":%d,\"cycles_per_unit\":%s,\"ps\":0}", i == 0 ? "" : ",",
                40 + 7 * i, i < 2 ? "0.25" : "0");
    fputs("],\"switch\":{\"cycles\":90,\"cycles_per_unit\":0,\"ps\":0},"
          "\"clock\":{\"cycles\":200,\"cycles_per_unit\":0,\"ps\":0},"
          "\"copy\":{\"cycles\":50,\"cycles_per_unit\":0.25,\"ps\":0},"
          "\"load\":{\"cycles\":1000,\"cycles_per_unit\":0.5,\"ps\":0}},"
          "\"memories\":[],\"interconnect\":null,"
          "\"doorbell\":{\"kind\":\"interrupt\",\"send\":{\"cycles\":30,\"cycles_per_unit\":0,"
          "\"ps\":0},\"latency_ps\":150000,\"receive\":{\"cycles\":120,\"cycles_per_unit\":0,"
          "\"ps\":0},\"interval_ps\":0},\"thermal\":null,\"work\":[]}",
          out);
    fclose(out);
    return text;
}

struct harness *harness_open(const struct harness_config *config)
{
    const uint64_t for_ever_ns = (uint64_t)1 << 60;
    struct harness *h = calloc(1, sizeof *h);
    const struct wb_host_config hc = {
        .system = { .cores = config->cores,
                    .tasks = HARNESS_TASKS,
                    .channels = HARNESS_CHANNELS,
                    .ports = HARNESS_PORTS,
                    .shared_bytes = HARNESS_SHARED_BYTES,
                    .record_events = 1024,
                    .record_migrations = 1024,
                    .offer_timeout_ns =
                        config->offer_timeout_ns != 0 ? config->offer_timeout_ns : for_ever_ns,
                    .transport = config->transport,
                    .agent_period_ns = config->agent_period_ns,
                    .coordinator = config->coordinator },
        .memory_bytes = HARNESS_MEMORY_BYTES,
        .stacks_bytes = HARNESS_TASKS * HARNESS_STACK_BYTES,
        .private_bytes = (size_t)2 * HARNESS_TASKS * HARNESS_STACK_BYTES,
        .private_parts = 2 * HARNESS_TASKS,
    };
    char error[256] = "";
    char *json = platform(config->cores);

    if (h == NULL || wb_host_open(&h->host, &hc) != WB_OK)
        give_up("no globally visible memory");
    if (!sim_host_platform(h->host, json, error, sizeof error))
        give_up(error);
    free(json);
    return h;
}

struct wb_host *harness_simulator(struct harness *h)
{
    return h->host;
}

struct wb_system *harness_system(struct harness *h)
{
    return wb_host_system(h->host);
}

void *harness_stack(struct harness *h)
{
    void *stack = wb_host_stack(h->host, HARNESS_STACK_BYTES);

    if (stack == NULL)
        give_up("no room for a stack");
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
        give_up("the kernels cannot be started");
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
    case WB_HOST_NOTHING:
        break;
    }
    return HARNESS_NOTHING;
}

bool harness_kill(struct harness *h, uint32_t core)
{
    sim_host_kill(h->host, core);
    return true;
}

bool harness_hold(struct wb_task *self, bool hold)
{
    kernel_task(self)->mutexes = hold;
    return true;
}

bool harness_host(struct harness *h, struct wb_task *task, const char *entry)
{
    if (wb_host_recreates(h->host, task, entry) != WB_OK)
        give_up("there is no such task");
    return true;
}

bool harness_has_processes(void)
{
    return false;
}

bool harness_kill_program(struct harness *h, const struct wb_task *task)
{
    (void)h;
    (void)task;
    return false;
}

bool harness_starve(struct harness *h, uint32_t core, bool starve)
{
    (void)h;
    sim.cores[core].starved = starve;
    return true;
}

static bool has_program(const struct wb_task *task)
{
    const uint32_t place = atomic_load(&task->place);
    const enum wb_task_state state = wb_place_state(place);

    return task->mode == WB_RECREATE && !sim.cores[wb_place_owner(place)].dead &&
           (state == WB_TASK_READY || state == WB_TASK_RUNNING || state == WB_TASK_BLOCKED);
}

uint32_t harness_programs(struct harness *h)
{
    const struct wb_system *system = harness_system(h);
    uint32_t n = 0;

    for (uint32_t i = 0; i < system->n_tasks; i++)
        n += has_program(&system->tasks[i]);
    return n;
}

size_t harness_memory(struct harness *h, uint32_t core)
{
    (void)h;
    (void)core;
    return 0;
}

void harness_close(struct harness *h)
{
    wb_host_close(h->host);
    free(h);
}

double harness_scale(void)
{
    const char *text = getenv("CONFORM_SCALE");
    const double scale = text != NULL ? strtod(text, NULL) : 1;

    if (!(scale > 0))
        give_up("CONFORM_SCALE is no positive number");
    return scale;
}
