// SPDX-License-Identifier: Apache-2.0
// Whether a plan makes sense, and how much memory it needs beside its arena. Needs no C library.

#include "plan.h"
#include "wb/channel.h"
#include "wb/descriptor.h"
#include "wb/launcher.h"
#include "wb/policy.h"
#include "wb/system.h"
#include "wb/wb.h"

// What the command counts with before it builds an image, where pointers have 32 bits, and twice as
// much where they have 64: the same numbers are in crates/model/src/board/need.rs.
#define AT_MOST(name, bytes)                                                                       \
    _Static_assert(sizeof(struct wb_##name) <= (bytes) * (sizeof(void *) / 4),                     \
                   "raise it, in need.rs as well")
AT_MOST(advice, 256);
AT_MOST(notify_policy, 256);
AT_MOST(channel, 320);
AT_MOST(core, 1024);
AT_MOST(event, 24);
AT_MOST(locks, 4096);
AT_MOST(migration, 80);
AT_MOST(name, 8);
AT_MOST(object, 96);
AT_MOST(param, 32);
AT_MOST(port, 256);
AT_MOST(response, 192);
AT_MOST(script, 64);
AT_MOST(script_event, 40);
AT_MOST(scripted, 128);
AT_MOST(snapshot_core, 48);
AT_MOST(snapshot_task, 64);
AT_MOST(system, 1536);
AT_MOST(table_row, 32);
AT_MOST(task, 1536);

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

size_t plan_stacks_bytes(const struct plan *plan)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < plan->n_tasks; i++)
        if (plan->tasks[i].config.mode != WB_REPLICATE)
            bytes += plan->tasks[i].config.stack_bytes;
    return bytes;
}

// ---- The system and whether all of it fits ------------------------------------------------------

enum { RECORD_EVENTS = 1 << 16, RECORD_MIGRATIONS = 1 << 11, AGENTS_LEAST_NS = 100000 };

static uint32_t kinds(const struct plan *plan)
{
    uint32_t n = 1;

    for (uint32_t i = 0; i < plan->n_cores; i++)
        if (plan->cores[i].kind >= n)
            n = plan->cores[i].kind + 1;
    return n;
}

struct wb_system_config plan_system(const struct plan *plan)
{
    return (struct wb_system_config){ .cores = plan->n_cores,
                                      .tasks = plan->n_tasks,
                                      .channels = plan->n_channels,
                                      .ports = plan->n_ports,
                                      .params = plan->n_params,
                                      .shared_bytes = plan->shared_bytes,
                                      .record_events = plan->record != NULL ? RECORD_EVENTS : 0,
                                      .record_migrations = RECORD_MIGRATIONS,
                                      .offer_timeout_ns = plan->offer_ns,
                                      .agent_period_ns = plan->agents_ns,
                                      .coordinator = plan->coordinator,
                                      .transport = plan->transport,
                                      .kinds = kinds(plan),
                                      .programs = plan->n_guests != 0 ? plan->n_guests + 1 : 0,
                                      .models_compute = plan->models_compute,
                                      .times_frames = true,
                                      .times_tasks = true,
                                      .seed = plan->seed };
}

static const char *validate_rows(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->n_rows; i++) {
        if (i != 0 && plan->rows[i].rate_millihz <= plan->rows[i - 1].rate_millihz)
            return "the rates of the rows do not ascend";
        for (uint32_t t = 0; t < plan->n_tasks; t++)
            if (plan->rows[i].cores[t] >= plan->n_cores)
                return "a row has a core that does not exist";
    }
    return NULL;
}

static const char *validate_ports(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->n_ports; i++)
        if (plan->ports[i].task >= plan->n_tasks || plan->ports[i].channel >= plan->n_channels)
            return "a port has a task or a channel that does not exist";
    return NULL;
}

static const char *validate_scripts(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->n_tasks; i++)
        if (plan->tasks[i].script > plan->n_scripts)
            return "a task has a script that does not exist";
    return NULL;
}

static const char *validate_work(const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->n_tasks; i++) {
        const struct wb_work_config *work = plan->tasks[i].work;
        if (work != NULL && (work->n_cycles == 0 || work->n_cycles > WB_KINDS_MAX))
            return "the work of a task has no cycles, or more than there may be kinds of cores";
    }
    return NULL;
}

static const char *validate_guests(const struct plan *plan)
{
    bool has_own = false;

    for (uint32_t i = 0; i < plan->n_cores; i++) {
        const struct plan_core *core = &plan->cores[i];
        if (core->guest == 0)
            has_own = true;
        else if (core->guest > plan->n_guests)
            return "a core has a guest that does not exist";
        else if (core->cpu >= plan->guests[core->guest - 1].cores)
            return "a core has a core of a guest that does not exist";
        else if (core->n_points != 0)
            return "a core of a guest has operating points";
        for (uint32_t j = 0; core->guest != 0 && j < i; j++)
            if (plan->cores[j].guest == core->guest && plan->cores[j].cpu == core->cpu)
                return "two cores have the same core of a guest";
    }
    if (plan->n_guests != 0 && plan->hash == NULL)
        return "there is no hash for their images";
    if (!has_own)
        return "no core is this machine's";
    return NULL;
}

bool plan_check(const struct plan *plan, struct plan_error *error)
{
    const char *key = "", *text = NULL;

    if (plan->n_cores == 0 || plan->n_tasks == 0)
        text = "it has no core or no task";
    else if (plan->coordinator >= plan->n_cores)
        key = "coordinator", text = "there is no such core";
    else if (plan->agents_ns != 0 && plan->agents_ns < AGENTS_LEAST_NS)
        key = "agents_ns", text = "agents that report so often would do nothing else";
    else if (plan->policy.name != NULL && plan->policy.name[0] == '\0')
        key = "policy", text = "it has no name";
    else if ((text = validate_guests(plan)) != NULL)
        key = "guests";
    else if ((text = validate_work(plan)) != NULL)
        key = "tasks";
    else if ((text = validate_scripts(plan)) != NULL)
        key = "scripts";
    else if ((text = validate_rows(plan)) != NULL)
        key = "rows";
    else if ((text = validate_ports(plan)) != NULL)
        key = "ports";
    *error = (struct plan_error){
        .kind = "plan", .task = "", .key = key, .text = text, .core = WB_CORE_NONE
    };
    return text == NULL;
}
