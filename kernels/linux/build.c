// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "build.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wb/energy.h"

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
    const struct wb_linux_config config = {
        .system = { .cores = plan->n_cpus,
                    .tasks = plan->n_tasks,
                    .channels = plan->n_channels,
                    .ports = plan->n_ports,
                    .params = plan->n_params,
                    .record_events = plan->record != NULL ? RECORD_EVENTS : 0,
                    .record_migrations = RECORD_MIGRATIONS,
                    .offer_timeout_ns = plan->offer_ns },
        .memory_bytes = plan_memory_bytes(plan),
        .stacks_bytes = plan_stacks_bytes(plan),
        .module_bytes = MODULE_BYTES,
        .cpus = plan->cpus,
        .spin_ns = plan->spin_ns,
        .launcher_fds = build->launcher_fds,
        .n_launcher_fds = sizeof build->launcher_fds / sizeof build->launcher_fds[0],
    };

    if (wb_linux_open(&build->lx, &config) == WB_OK)
        return true;
    char text[256];
    snprintf(text, sizeof text, "%zu bytes of globally visible memory cannot be had: %s",
             config.memory_bytes + config.stacks_bytes, strerror(errno));
    return fail(build, error, "memory", "", text);
}

static bool add_points(struct build *build, const struct plan *plan, struct tell_error *error)
{
    struct wb_system *system = wb_linux_system(build->lx);
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
    struct wb_system *system = wb_linux_system(build->lx);

    for (uint32_t i = 0; i < plan->n_tasks; i++) {
        struct wb_task_config config = plan->tasks[i].config;
        struct wb_task *task;
        *(void **)&config.entry = dlsym(module, plan->tasks[i].entry);
        config.stack = wb_linux_stack(build->lx, config.stack_bytes);
        if (config.entry == NULL) {
            fail(build, error, "symbol", plan->tasks[i].entry, "the module does not define it");
            error->task = config.name;
            error->index = config.index;
            return false;
        }
        if (config.stack == NULL || wb_task_add(system, &config, &task) != WB_OK) {
            fail(build, error, "plan", "", "a task cannot be added");
            error->task = config.name;
            error->index = config.index;
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
    struct wb_system *system = wb_linux_system(build->lx);
    struct wb_channel *channel;

    for (uint32_t i = 0; i < plan->n_channels; i++)
        if (wb_channel_add(system, &plan->channels[i], &channel) != WB_OK)
            return fail(build, error, "plan", plan->channels[i].name, "a channel cannot be added");
    for (uint32_t i = 0; i < plan->n_ports; i++) {
        const struct plan_port *port = &plan->ports[i];
        struct wb_task *task = wb_task_find(&system->app, port->task, port->task_index);
        channel = find_channel(system, port->channel);
        if (task == NULL || channel == NULL ||
            wb_port_add(task, channel, port->direction, port->name, port->index) != WB_OK)
            return fail(build, error, "plan", port->name, "a port cannot be bound");
    }
    return true;
}

static bool add_params(struct build *build, const struct plan *plan, struct tell_error *error)
{
    struct wb_system *system = wb_linux_system(build->lx);

    for (uint32_t i = 0; i < plan->n_params; i++) {
        const struct plan_param *p = &plan->params[i];
        if (wb_param_add(system, p->key, p->text, p->numbers, p->n_numbers) != WB_OK)
            return fail(build, error, "plan", p->key, "a parameter cannot be added");
    }
    return true;
}

static bool set_up(struct build *build, void *module, struct tell_error *error)
{
    enum wb_status (*setup)(struct wb_app *);

    *(void **)&setup = dlsym(module, "wb_app_setup");
    *(void **)&build->finish = dlsym(module, "wb_app_finish");
    build->app = &wb_linux_system(build->lx)->app;
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
    void *module = wb_linux_module(build->lx, plan->module, text, sizeof text);
    if (module == NULL)
        return fail(build, error, "module", plan->module, text);
    return add_points(build, plan, error) && add_params(build, plan, error) &&
           add_tasks(build, plan, module, error) && add_channels(build, plan, error) &&
           set_up(build, module, error);
}
