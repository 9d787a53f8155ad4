// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "build.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose.h"
#include "wb/energy.h"
#include "wb/port.h"

enum { RECORD_EVENTS = 1 << 16, RECORD_MIGRATIONS = 1 << 11, MODULE_BYTES = 64 << 20 };

static bool fail(struct build *build, struct tell_error *error, const char *kind, const char *key,
                 const char *text)
{
    snprintf(build->text, sizeof build->text, "%s", text);
    *error = (struct tell_error){
        .kind = kind, .task = "", .key = key, .text = build->text, .core = WB_CORE_NONE
    };
    return false;
}

static bool open_system(struct build *build, const struct plan *plan, struct tell_error *error)
{
    const struct wb_host_config config = {
        .system = { .cores = plan->n_cpus,
                    .tasks = plan->n_tasks,
                    .channels = plan->n_channels,
                    .ports = plan->n_ports,
                    .params = plan->n_params,
                    .shared_bytes = plan->shared_bytes,
                    .record_events = plan->record != NULL ? RECORD_EVENTS : 0,
                    .record_migrations = RECORD_MIGRATIONS,
                    .offer_timeout_ns = plan->offer_ns,
                    .agent_period_ns = plan->policy.agents_ns,
                    .coordinator = plan->policy.coordinator,
                    .transport = plan->transport,
                    .kinds = plan_kinds(plan),
                    .models_compute = plan->works.models_compute,
                    .times_frames = true,
                    .seed = plan->works.seed },
        .memory_bytes = plan_memory_bytes(plan),
        .stacks_bytes = plan_stacks_bytes(plan),
        .private_bytes = plan_private_bytes(plan),
        .private_parts = plan_private_parts(plan),
        .module_bytes = MODULE_BYTES,
        .cpus = plan->cpus,
        .spin_ns = plan->spin_ns,
        .launcher_fds = build->launcher_fds,
        .n_launcher_fds = sizeof build->launcher_fds / sizeof build->launcher_fds[0],
    };

    if (wb_host_open(&build->host, &config) == WB_OK)
        return true;
    char text[256];
    snprintf(text, sizeof text, "%zu bytes of globally visible memory cannot be had: %s",
             config.memory_bytes + config.stacks_bytes + plan->shared_bytes, strerror(errno));
    return fail(build, error, "memory", "", text);
}

static bool take_memory(struct wb_host *host, struct wb_task_config *config)
{
    if (config->mode != WB_REPLICATE) {
        config->stack = wb_host_stack(host, config->stack_bytes);
        return config->stack != NULL;
    }
    config->stack = wb_host_private(host, config->core, config->stack_bytes);
    config->heap = wb_host_private(host, config->core, config->heap_bytes);
    return config->stack != NULL && config->heap != NULL;
}

// By default it lies beside the module and has its name: NAME.task for NAME.so.
static bool open_program(struct build *build, const struct plan *plan, struct tell_error *error)
{
    char path[4096];
    const size_t n = strlen(plan->module);
    const bool so = n > 3 && strcmp(plan->module + n - 3, ".so") == 0;

    if (!plan_recreates(plan))
        return true;
    snprintf(path, sizeof path, "%.*s.task", (int)(so ? n - 3 : n), plan->module);
    if (wb_host_program(build->host, plan->program != NULL ? plan->program : path) == WB_OK)
        return true;
    char text[512];
    snprintf(text, sizeof text, "its program %.400s is not there, or is not static",
             plan->program != NULL ? plan->program : path);
    return fail(build, error, "module", plan->module, text);
}

static bool host_program(struct build *build, const struct plan_task *planned, struct wb_task *task,
                         struct tell_error *error)
{
    if (task->mode != WB_RECREATE || wb_host_recreates(build->host, task, planned->entry) == WB_OK)
        return true;
    fail(build, error, "symbol", planned->entry, "the program does not define it");
    error->task = planned->config.name;
    error->index = planned->config.index;
    return false;
}

static bool add_points(struct build *build, const struct plan *plan, struct tell_error *error)
{
    struct wb_system *system = wb_host_system(build->host);
    bool added = true;

    for (uint32_t i = 0; i < plan->n_points; i++)
        added = added && plan->points[i].core < system->n_cores;
    for (uint32_t core = 0; added && core < system->n_cores; core++) {
        struct wb_point *points = calloc(plan->n_points + 1, sizeof *points);
        uint32_t n = 0, start = UINT32_MAX;
        for (uint32_t i = 0; points != NULL && i < plan->n_points; i++)
            if (plan->points[i].core == core) {
                start = plan->points[i].start ? n : start;
                points[n++] = plan->points[i].point;
            }
        added = points != NULL &&
                (n == 0 || wb_core_set_points(system->cores[core], points, n,
                                              start != UINT32_MAX ? start : n - 1) == WB_OK);
        free(points);
    }
    return added || fail(build, error, "plan", "point", "operating points cannot be added");
}

static bool add_tasks(struct build *build, const struct plan *plan, void *module,
                      struct tell_error *error)
{
    struct wb_system *system = wb_host_system(build->host);

    for (uint32_t i = 0; i < plan->n_tasks; i++) {
        struct wb_task_config config = plan->tasks[i].config;
        struct wb_task *task;
        *(void **)&config.entry = dlsym(module, plan->tasks[i].entry);
        const bool has_memory = take_memory(build->host, &config);
        if (config.entry == NULL) {
            fail(build, error, "symbol", plan->tasks[i].entry, "the module does not define it");
            error->task = config.name;
            error->index = config.index;
            return false;
        }
        if (!has_memory || wb_task_add(system, &config, &task) != WB_OK) {
            fail(build, error, "plan", "", "a task cannot be added");
            error->task = config.name;
            error->index = config.index;
            return false;
        }
        if (!host_program(build, &plan->tasks[i], task, error))
            return false;
    }
    return true;
}

static bool set_kinds(struct build *build, const struct plan *plan, struct tell_error *error)
{
    struct wb_system *system = wb_host_system(build->host);
    bool set = true;

    for (uint32_t core = 0; set && core < system->n_cores; core++)
        set = wb_core_set_kind(system->cores[core], plan->kinds[core]) == WB_OK;
    return set || fail(build, error, "plan", "core", "there is no such kind of cores");
}

static bool add_works(struct build *build, const struct plan *plan, struct tell_error *error)
{
    struct wb_system *system = wb_host_system(build->host);

    for (uint32_t i = 0; i < plan->works.n; i++) {
        const struct plan_work *work = &plan->works.all[i];
        struct wb_task *task = wb_task_find(&system->app, work->task, work->index);
        if (task == NULL || wb_task_set_work(task, &work->config) != WB_OK) {
            fail(build, error, "plan", "work", "its work cannot be added");
            error->task = work->task;
            error->index = work->index;
            return false;
        }
    }
    return true;
}

static struct wb_channel *find_channel(struct wb_system *system, const char *name)
{
    for (uint32_t i = 0; i < system->n_channels; i++)
        if (strcmp(system->channels[i].name, name) == 0)
            return &system->channels[i];
    return NULL;
}

static bool add_channels(struct build *build, const struct plan *plan, struct tell_error *error)
{
    struct wb_system *system = wb_host_system(build->host);
    struct wb_channel *channel;

    for (uint32_t i = 0; i < plan->n_channels; i++)
        if (wb_channel_add(system, &plan->channels[i], &channel) != WB_OK)
            return fail(build, error, "plan", plan->channels[i].name, "a channel cannot be added");
    for (uint32_t i = 0; i < plan->n_ports; i++) {
        const struct plan_port *port = &plan->ports[i];
        struct wb_task *task = wb_task_find(&system->app, port->task, port->task_index);
        channel = find_channel(system, port->channel);
        if (task == NULL || channel == NULL ||
            wb_port_add(task, channel, port->direction, port->name, port->index) != WB_OK ||
            wb_port_set_rate(wb_port_find(task, port->name, port->index), port->rate) != WB_OK)
            return fail(build, error, "plan", port->name, "a port cannot be bound");
    }
    return true;
}

static bool add_params(struct build *build, const struct plan *plan, struct tell_error *error)
{
    struct wb_system *system = wb_host_system(build->host);

    for (uint32_t i = 0; i < plan->n_params; i++) {
        const struct plan_param *p = &plan->params[i];
        if (wb_param_add(system, p->key, p->text, p->numbers, p->n_numbers) != WB_OK)
            return fail(build, error, "plan", p->key, "a parameter cannot be added");
    }
    return true;
}

static bool choose(struct build *build, const struct plan *plan, struct tell_error *error)
{
    char why[256] = "";

    return choose_planned(wb_host_system(build->host), build->module, plan, why, sizeof why) ||
           fail(build, error, "policy", plan->policy.name != NULL ? plan->policy.name : "", why);
}

static bool set_up(struct build *build, void *module, struct tell_error *error)
{
    enum wb_status (*setup)(struct wb_app *);

    *(void **)&setup = dlsym(module, "wb_app_setup");
    *(void **)&build->finish = dlsym(module, "wb_app_finish");
    build->app = &wb_host_system(build->host)->app;
    if (setup == NULL || setup(build->app) == WB_OK)
        return true;
    build->finish = NULL;
    return fail(build, error, "setup", "", build->app->error);
}

bool build_system(struct build *build, const struct plan *plan, struct tell_error *error)
{
    char text[768] = "";

    if (!open_system(build, plan, error))
        return false;
    void *module = wb_host_module(build->host, plan->module, text, sizeof text);
    if (module == NULL)
        return fail(build, error, "module", plan->module, text);
    build->module = module;
    return set_kinds(build, plan, error) && add_points(build, plan, error) &&
           add_params(build, plan, error) && open_program(build, plan, error) &&
           add_tasks(build, plan, module, error) && add_works(build, plan, error) &&
           add_channels(build, plan, error) && choose(build, plan, error) &&
           set_up(build, module, error);
}
