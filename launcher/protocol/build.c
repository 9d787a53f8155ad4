// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "build.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "choose.h"
#include "count.h"
#include "layout.h"

enum { MODULE_BYTES = 64 << 20 };

static bool fail(struct build *build, struct plan_error *error, const char *kind, const char *key,
                 const char *text)
{
    snprintf(build->text, sizeof build->text, "%s", text);
    *error = (struct plan_error){
        .kind = kind, .task = "", .key = key, .text = build->text, .core = WB_CORE_NONE
    };
    return false;
}

static bool open_system(struct build *build, const struct plan *plan, struct plan_error *error)
{
    size_t arena_bytes;

    if (!count_memory(plan, &arena_bytes, error))
        return false;
    const struct wb_host_config config = {
        .system = plan_system(plan),
        .memory_bytes = arena_bytes,
        .stacks_bytes = plan_stacks_bytes(plan),
        .private_bytes = plan_private_bytes(plan),
        .private_parts = plan_private_parts(plan),
        .module_bytes = MODULE_BYTES,
        .cpus = build->cpus,
        .to_completion = build->to_completion,
        .guests = plan->guests,
        .n_guests = plan->n_guests,
        .guest = build->guest,
        .plan_hash = plan->hash,
        .spin_ns = plan->spin_ns,
        .spin_adapts = plan->spin_adapts,
        .restarts = plan->restarts,
        .launcher_fds = build->launcher_fds,
        .n_launcher_fds = sizeof build->launcher_fds / sizeof build->launcher_fds[0],
    };

    if (wb_host_open(&build->host, &config) == WB_OK)
        return true;
    const int error_number = errno;
    char text[256];
    snprintf(text, sizeof text,
             "%" PRIu64 " bytes of globally visible memory are not available: %s",
             (uint64_t)config.memory_bytes + config.stacks_bytes + plan->shared_bytes,
             strerror(error_number));
    (void)fail(build, error, "memory", "", text);
    error->error_number = error_number;
    return false;
}

// By default it lies beside the module and has its name: NAME.task for NAME.so.
static bool open_program(struct build *build, const struct plan *plan, struct plan_error *error)
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

// ---- What the layout asks for -------------------------------------------------------------------

static wb_task_entry *find_entry(void *state, const char *symbol)
{
    const struct build *build = state;
    wb_task_entry *entry;

    *(void **)&entry = wb_host_symbol(build->host, symbol);
    return entry;
}

static bool take_memory(void *state, struct wb_task_config *config)
{
    struct build *build = state;

    if (config->mode != WB_REPLICATE) {
        errno = 0;
        config->stack = wb_host_stack(build->host, config->stack_bytes);
        build->no_guard = config->stack == NULL && errno == ENOMEM;
        return config->stack != NULL;
    }
    config->stack = wb_host_private(build->host, config->core, config->stack_bytes);
    config->heap = wb_host_private(build->host, config->core, config->heap_bytes);
    return config->stack != NULL && config->heap != NULL;
}

static const char *pin(void *state, struct wb_channel *channel)
{
    struct build *build = state;
    const size_t bytes = (size_t)channel->stride_bytes * channel->slots;

    return wb_host_lock_memory(build->host, channel->data, bytes, build->text, sizeof build->text)
               ? NULL
               : build->text;
}

static const char *recreate(void *state, struct wb_task *task, const char *symbol)
{
    struct build *build = state;
    const enum wb_status status =
        wb_host_recreates(build->host, task, symbol, build->text, sizeof build->text);

    return status == WB_OK ? NULL : build->text;
}

static bool lay_out(struct build *build, const struct plan *plan, struct plan_error *error)
{
    const struct layout_host host = {
        .state = build,
        .entry = find_entry,
        .memory = take_memory,
        .internal = pin,
        .recreates = recreate,
    };

    if (layout_system(wb_host_system(build->host), plan, &host, error))
        return true;
    return !build->no_guard ? false
                            : fail(build, error, "memory", "",
                                   "before version 6.15, Linux needs two mappings for each task, "
                                   "and allows no more (raise vm.max_map_count by sysctl)");
}

// ---- All of it ----------------------------------------------------------------------------------

static bool choose(struct build *build, const struct plan *plan, struct plan_error *error)
{
    char why[256] = "";

    return plan->policy.name == NULL ||
           choose_policy(build->host, &plan->policy, why, sizeof why) ||
           fail(build, error, "policy", plan->policy.name, why);
}

static bool set_up(struct build *build, struct plan_error *error)
{
    enum wb_status (*setup)(struct wb_app *);

    *(void **)&setup = wb_host_symbol(build->host, "wb_app_setup");
    *(void **)&build->finish = wb_host_symbol(build->host, "wb_app_finish");
    build->app = &wb_host_system(build->host)->app;
    if (setup == NULL || setup(build->app) == WB_OK)
        return true;
    build->finish = NULL;
    return fail(build, error, "setup", "", build->app->error);
}

bool build_system(struct build *build, const struct plan *plan, struct plan_error *error)
{
    char text[768] = "";

    build->cpus = calloc(plan->n_cores, sizeof *build->cpus);
    build->to_completion = calloc(plan->n_cores, sizeof *build->to_completion);
    build->guest = calloc(plan->n_cores, sizeof *build->guest);
    if (build->cpus == NULL || build->to_completion == NULL || build->guest == NULL)
        return fail(build, error, "memory", "", "there is none for the plan's cores");
    for (uint32_t i = 0; i < plan->n_cores; i++) {
        build->cpus[i] = plan->cores[i].cpu;
        build->to_completion[i] = plan->cores[i].to_completion;
        build->guest[i] = plan->cores[i].guest;
    }
    if (!open_system(build, plan, error))
        return false;
    if (wb_host_module(build->host, plan->module, text, sizeof text) == NULL)
        return fail(build, error, "module", plan->module, text);
    return open_program(build, plan, error) && lay_out(build, plan, error) &&
           choose(build, plan, error) && set_up(build, error);
}
