// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

#include "wb/launcher.h"
#include "wb/system.h"
#include "wb/wb.h"

static bool fail(struct plan_error *error, const char *key, const char *text)
{
    *error = (struct plan_error){
        .kind = "plan", .task = "", .key = key, .text = text, .core = WB_CORE_NONE
    };
    return false;
}

static bool fail_task(struct plan_error *error, const struct plan_task *task, const char *kind,
                      const char *key, const char *text)
{
    fail(error, key, text);
    error->kind = kind;
    error->task = task->config.name;
    error->index = task->config.index;
    return false;
}

// What could not be added: the arena is used up, or the plan makes no sense.
static bool fail_status(struct plan_error *error, enum wb_status status, const char *key,
                        const char *text)
{
    fail(error, key, text);
    if (status == WB_ERR_NOMEM)
        error->kind = "memory";
    return false;
}

static bool fail_to_add_task(struct plan_error *error, const struct plan_task *task,
                             enum wb_status status, const char *key, const char *text)
{
    return fail_task(error, task, status == WB_ERR_NOMEM ? "memory" : "plan", key, text);
}

// Before anything is laid out, so that nothing starts that would fail when a task first moves.
static bool check_core(const struct plan_core *core, uint32_t can, struct plan_error *error)
{
    if (core->n_points < 2 || (can & WB_CAN_SET_POINTS) != 0)
        return true;
    fail(error, "points", "its kernels cannot change the frequency of a core: give each core one");
    error->kind = "unable";
    return false;
}

static bool check_task(const struct plan_task *task, uint32_t can, struct plan_error *error)
{
    const uint32_t lacks = wb_task_needs(&task->config) & ~can;
    const char *key = "mode", *text = NULL;

    if ((task->config.mode == WB_RECREATE || task->config.mode == WB_REENTER) &&
        task->config.moves_at_waits)
        return fail_task(error, task, "plan", "move",
                         "what is recreated or re-entered moves at its checkpoints only");
    if ((lacks & WB_CAN_REPLICATE) != 0)
        text = "its kernels have no private memory to replicate it in: move it by \"handoff\"";
    else if ((lacks & WB_CAN_RECREATE) != 0)
        text = "its kernels load no programs of tasks to recreate it from: move it by \"handoff\"";
    else if ((lacks & WB_CAN_CAPTURE) != 0)
        key = "checkpoint_every", text = "its kernels keep no images of tasks: leave it out";
    else if ((lacks & WB_CAN_SHARE) != 0)
        key = "cores", text = "its kernels share no tasks: give it one by `core`";
    return text == NULL || fail_task(error, task, "unable", key, text);
}

// Guests have no memory of their own that others could read, and a hosted process would not know
// how to ring them.
static uint32_t can_do(const struct plan *plan, uint32_t core)
{
    return core < plan->n_cores && plan->cores[core].guest != 0 ? 0
           : plan->n_guests != 0 ? wb_kernel_can() & ~(uint32_t)WB_CAN_RECREATE
                                 : wb_kernel_can();
}

static bool check_kernels(const struct plan *plan, struct plan_error *error)
{
    for (uint32_t i = 0; i < plan->n_cores; i++)
        if (!check_core(&plan->cores[i], can_do(plan, i), error))
            return false;
    for (uint32_t i = 0; i < plan->n_tasks; i++)
        if (!check_task(&plan->tasks[i], can_do(plan, plan->tasks[i].config.core), error))
            return false;
    return true;
}

static bool set_cores(struct wb_system *system, const struct plan *plan, struct plan_error *error)
{
    for (uint32_t i = 0; i < plan->n_cores; i++) {
        const struct plan_core *core = &plan->cores[i];
        if (wb_core_set_kind(system->cores[i], core->kind) != WB_OK)
            return fail(error, "cores", "there is no such kind of cores");
        if (core->n_points == 0)
            continue;
        const enum wb_status status =
            wb_core_set_points(system->cores[i], core->points, core->n_points, core->start);
        if (status != WB_OK)
            return fail_status(error, status, "points", "operating points cannot be added");
    }
    return true;
}

static bool add_params(struct wb_system *system, const struct plan *plan, struct plan_error *error)
{
    for (uint32_t i = 0; i < plan->n_params; i++) {
        const struct plan_param *p = &plan->params[i];
        const enum wb_status status =
            wb_param_add(system, p->key, p->text, p->numbers, p->n_numbers);
        if (status != WB_OK)
            return fail_status(error, status, p->key, "a parameter cannot be added");
    }
    return true;
}

static bool recreates(struct wb_task *task, const struct plan_task *planned,
                      const struct layout_host *host, struct plan_error *error)
{
    const char *why = NULL;

    if (task->mode == WB_RECREATE && host->recreates != NULL)
        why = host->recreates(host->state, task, planned->entry);
    return why == NULL || fail_task(error, planned, "recreate", planned->entry, why);
}

static bool add_task(struct wb_system *system, const struct plan_task *planned,
                     const struct layout_host *host, struct plan_error *error)
{
    struct wb_task_config config = planned->config;
    struct wb_task *task;

    if (config.entry == NULL && host->entry != NULL)
        config.entry = host->entry(host->state, planned->entry);
    if (config.entry == NULL)
        return fail_task(error, planned, "symbol", planned->entry != NULL ? planned->entry : "",
                         "the module does not define it");
    if (config.stack == NULL && host->memory != NULL && !host->memory(host->state, &config))
        return fail_task(error, planned, "memory", "",
                         "there is no room for its stack and its heap");
    enum wb_status status = wb_task_add(system, &config, &task);
    if (status == WB_ERR_NOMEM)
        return fail_to_add_task(error, planned, status, "", "there is no room for its heap");
    if (status != WB_OK)
        return fail_to_add_task(error, planned, status, "", "a task cannot be added");
    if (!recreates(task, planned, host, error))
        return false;
    if (planned->work != NULL && (status = wb_task_set_work(task, planned->work)) != WB_OK)
        return fail_to_add_task(error, planned, status, "work", "its work cannot be added");
    return true;
}

static bool set_scripts(struct wb_system *system, const struct plan *plan,
                        struct wb_script *const *scripts, struct plan_error *error)
{
    for (uint32_t i = 0; i < plan->n_tasks; i++) {
        const struct plan_task *planned = &plan->tasks[i];
        if (planned->script == 0)
            continue;
        const enum wb_status status =
            wb_task_set_script(&system->tasks[i], scripts[planned->script - 1]);
        if (status != WB_OK)
            return fail_to_add_task(error, planned, status, "script", "its script cannot be added");
    }
    return true;
}

static bool add_scripts(struct wb_system *system, const struct plan *plan, struct plan_error *error)
{
    struct wb_object *objects;
    struct wb_script **scripts;

    if (plan->n_scripts == 0)
        return true;
    enum wb_status status = wb_objects_add(system, plan->objects, plan->n_objects, &objects);
    if (status != WB_OK)
        return fail_status(error, status, "objects", "what scripts have in common cannot be added");
    scripts = wb_system_alloc(system, plan->n_scripts * sizeof(void *), sizeof(void *));
    if (scripts == NULL)
        return fail_status(error, WB_ERR_NOMEM, "scripts", "there is no room for its scripts");
    for (uint32_t i = 0; i < plan->n_scripts; i++) {
        status = wb_script_add(system, &plan->scripts[i], objects, plan->n_objects, &scripts[i]);
        if (status != WB_OK)
            return fail_status(error, status, "scripts", "a script cannot be added");
    }
    return set_scripts(system, plan, scripts, error);
}

static bool place(struct wb_channel *channel, const struct layout_host *host,
                  struct plan_error *error)
{
    const char *why = host->internal != NULL
                          ? host->internal(host->state, channel)
                          : "its cores have no internal memory that all see: leave `memory` out";

    channel->charged |= WB_INTERNAL;
    if (why == NULL)
        return true;
    fail(error, channel->name, why);
    error->kind = "unable";
    return false;
}

static bool add_channels(struct wb_system *system, const struct plan *plan,
                         const struct layout_host *host, struct plan_error *error)
{
    struct wb_channel *channel;

    for (uint32_t i = 0; i < plan->n_channels; i++) {
        const char *name = plan->channels[i].name;
        const enum wb_status status = wb_channel_add(system, &plan->channels[i], &channel);
        if (status != WB_OK)
            return fail_status(error, status, name,
                               status == WB_ERR_NOMEM ? "there is no room for a channel's slots"
                                                      : "a channel cannot be added");
        if (plan->channels[i].internal && !place(channel, host, error))
            return false;
    }
    for (uint32_t i = 0; i < plan->n_ports; i++) {
        const struct plan_port *port = &plan->ports[i];
        struct wb_task *task = &system->tasks[port->task];
        channel = &system->channels[port->channel];
        if (wb_port_add(task, channel, port->direction, port->name, port->index) != WB_OK ||
            wb_port_set_rate(wb_port_find_any(task, port->name, port->index), port->rate) != WB_OK)
            return fail(error, port->name, "a port cannot be bound");
    }
    return true;
}

static const uint32_t *copied(struct wb_system *system, const uint32_t *numbers, uint32_t n)
{
    uint32_t *copy = wb_system_alloc(system, n * sizeof *copy, sizeof *copy);

    for (uint32_t i = 0; copy != NULL && i < n; i++)
        copy[i] = numbers[i];
    return copy;
}

static bool add_rows(struct wb_system *system, const struct plan *plan, struct plan_error *error)
{
    const uint32_t n = plan->n_rows;
    struct wb_table_row *rows = wb_system_alloc(system, n * sizeof *rows, sizeof(uint64_t));

    for (uint32_t i = 0; rows != NULL && i < n; i++) {
        rows[i] =
            (struct wb_table_row){ .rate_millihz = plan->rows[i].rate_millihz,
                                   .points = copied(system, plan->rows[i].points, plan->n_cores),
                                   .cores = copied(system, plan->rows[i].cores, plan->n_tasks) };
        if (rows[i].points == NULL || rows[i].cores == NULL)
            rows = NULL;
    }
    if (rows == NULL)
        return fail_status(error, WB_ERR_NOMEM, "rows",
                           "there is no room for the rows of its table");
    system->control.rows = rows;
    system->control.n_rows = n;
    return true;
}

static bool lay_out(struct wb_system *system, const struct plan *plan,
                    const struct layout_host *host, struct plan_error *error)
{
    if (!plan_check(plan, error) || !check_kernels(plan, error) ||
        !set_cores(system, plan, error) || !add_params(system, plan, error))
        return false;
    for (uint32_t i = 0; i < plan->n_tasks; i++)
        if (!add_task(system, &plan->tasks[i], host, error))
            return false;
    wb_system_set_rate(system, plan->rate_millihz);
    return add_scripts(system, plan, error) && add_channels(system, plan, host, error) &&
           add_rows(system, plan, error);
}

// The application takes its part before the kernels' launcher reserves: here it is given back.
static bool check_room(struct wb_system *system, size_t of_application, struct plan_error *error)
{
    unsigned char *arena = system->arena;
    const bool is_enough =
        wb_system_reserve(system) && of_application <= (size_t)(system->arena_end - system->arena);

    system->arena = arena;
    return is_enough ||
           fail_status(error, WB_ERR_NOMEM, "",
                       "there is no room for the application's `memory` or for images of tasks");
}

bool layout_system(struct wb_system *system, const struct plan *plan,
                   const struct layout_host *host, struct plan_error *error)
{
    return lay_out(system, plan, host, error) && check_room(system, plan->memory_bytes, error);
}

// ---- Counting -----------------------------------------------------------------------------------

struct counted {
    struct wb_system *system;
    size_t recreated_bytes;
    unsigned char *anywhere;  // an address for what is not in the arena
};

static int never_runs(struct wb_task *self)
{
    (void)self;
    return 0;
}

static wb_task_entry *count_entry(void *state, const char *symbol)
{
    (void)state;
    (void)symbol;
    return never_runs;
}

static bool count_memory(void *state, struct wb_task_config *config)
{
    const struct counted *counted = state;

    config->stack = counted->anywhere;
    if (config->mode == WB_REPLICATE)
        config->heap = counted->anywhere;
    return config->mode != WB_RECREATE ||
           wb_system_alloc(counted->system, counted->recreated_bytes, WB_LINE_BYTES) != NULL;
}

static const char *count_internal(void *state, struct wb_channel *channel)
{
    (void)state;
    (void)channel;
    return NULL;
}

bool layout_count(void *scratch, size_t scratch_bytes, const struct plan *plan,
                  size_t recreated_bytes, size_t *bytes, struct plan_error *error)
{
    struct counted counted = { .recreated_bytes = recreated_bytes, .anywhere = scratch };
    const struct layout_host counting = {
        .state = &counted, .entry = count_entry, .memory = count_memory, .internal = count_internal
    };
    struct wb_system_config config = plan_system(plan);
    config.core_align = WB_LINE_BYTES;
    const enum wb_status status = wb_system_init(&counted.system, scratch, scratch_bytes, &config);
    if (status != WB_OK)
        return fail_status(error, status, "", "its system cannot be made");

    // Two lines more than it takes from the beginning of a line, since no block asks for more than
    // that alignment: the real arena may begin within one; and so may what is reserved, behind what
    // the application takes.
    const unsigned char *begin = wb_system_alloc(counted.system, 0, WB_LINE_BYTES);
    if (!lay_out(counted.system, plan, &counting, error))
        return false;
    if (!wb_system_reserve(counted.system))
        return fail_status(error, WB_ERR_NOMEM, "", "there is no room for images of its tasks");
    *bytes = (size_t)(counted.system->arena - begin) + 2 * WB_LINE_BYTES + plan->memory_bytes;
    return true;
}

// Of KEY=VALUE.
static bool set_param(const struct wb_policy *policy, int64_t *values, const char *text)
{
    char key[64];

    for (size_t i = 0; i < sizeof key && text[i] != '\0'; i++) {
        key[i] = text[i] == '=' ? '\0' : text[i];
        if (text[i] == '=')
            return wb_policy_param_set(policy, values, key, text + i + 1) == WB_OK;
    }
    return false;
}

enum wb_status layout_policy(struct wb_system *system, const struct wb_policy *policy,
                             const struct plan_policy *planned, uint32_t *bad)
{
    int64_t values[WB_POLICY_PARAMS] = { 0 };

    wb_policy_defaults(policy, values);
    for (*bad = 0; *bad < planned->n_params; ++*bad)
        if (!set_param(policy, values, planned->params[*bad]))
            return WB_ERR_INVAL;
    return wb_system_set_policy(system, policy, values) == WB_OK ? WB_OK : WB_ERR_GONE;
}
