// SPDX-License-Identifier: Apache-2.0
// The conformance suite's harness in virtual time.

#define _GNU_SOURCE
#include "launcher.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol.h"
#include "sim_host.h"

const struct harness_sizes harness_sizes = { .memory_bytes = 8 << 20,
                                             .shared_bytes = 1 << 20,
                                             .stack_bytes = 64 << 10 };

// CONFORM_FAIR: the kernels share by weights, and look whether slices are over at ticks.
static const char *scheduling(void)
{
    return getenv("CONFORM_FAIR") == NULL
               ? ""
               : ",\"scheduling\":\"fair\",\"slice_ps\":20000000,\"tick_ps\":30000000";
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
                "\"leakage\":null,\"cache\":null,\"node\":[0,0]%s}",
                i == 0 ? "" : ",", scheduling());
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

// CONFORM_PREEMPTS=1: the kernels preempt; another number: and interrupts come at random, by it.
static uint64_t seed(void)
{
    const char *text = getenv("CONFORM_PREEMPTS");
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

bool harness_preempts(void)
{
    return seed() != 0 || *scheduling() != '\0';
}

struct harness *harness_open(const struct harness_config *config)
{
    struct harness *h =
        launcher_open(config, (uint64_t)1 << 60,
                      (struct wb_host_config){ .system.tasks = HARNESS_INDEXED_TASKS });
    char error[256] = "";
    char *json = platform(config->cores);

    if (!sim_host_platform(h->host, json, error, sizeof error))
        launcher_give_up(error);
    free(json);
    sim_preempt_by(seed());
    return h;
}

struct wb_host *harness_simulator(struct harness *h)
{
    return h->host;
}

bool harness_kill(struct harness *h, uint32_t core)
{
    sim_host_kill(h->host, core);
    return true;
}

bool harness_host(struct harness *h, struct wb_task *task, const char *entry)
{
    char why[200];

    if (wb_host_recreates(h->host, task, entry, why, sizeof why) != WB_OK)
        launcher_give_up(why);
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
    const uint32_t owner_state = wb_word_load(&task->owner_state, WB_SEQ_CST);
    const uint32_t core = wb_owner_of(owner_state);

    return task->mode == WB_RECREATE && !sim.cores[core].dead &&
           wb_owner_state_is_kept(owner_state, core);
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
