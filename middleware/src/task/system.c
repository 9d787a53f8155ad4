// SPDX-License-Identifier: Apache-2.0
// Laying out a system. Runs in the launcher only, before any kernel.

#include "wb/system.h"
#include "wb/launcher.h"

#include "../word/mem.h"
#include "../word/names.h"
#include "life.h"

static uint32_t inbox_words(const struct wb_system_config *config)
{
    return (config->tasks + 31) / 32;
}

// A core fills its alignment, so that a kernel may map its inbox by itself.
static size_t core_bytes(const struct wb_system_config *config)
{
    return wb_round_up(sizeof(struct wb_core), config->core_align);
}

// What the parts that are there take for each core.
static size_t bytes_of_parts(const struct wb_system_config *config)
{
    size_t bytes = 0;

    if (config->agent_period_ns != 0 && wb_parts.agents != NULL)
        bytes += wb_parts.agents->bytes(config);
    if (config->times_frames && wb_parts.latency != NULL)
        bytes += wb_parts.latency->bytes;
    return bytes;
}

size_t wb_system_bytes(const struct wb_system_config *config)
{
    // The rings before each core end anywhere, so its alignment may cost nearly all of itself.
    const size_t core = core_bytes(config) + config->core_align + sizeof(struct wb_core *);
    const size_t words = wb_round_up(sizeof(uint32_t) * inbox_words(config), WB_LINE_BYTES);
    const size_t rings = (size_t)config->record_events * (8 + sizeof(struct wb_event)) +
                         (size_t)config->record_migrations * (8 + sizeof(struct wb_migration)) +
                         (size_t)2 * WB_LINE_BYTES;

    return wb_round_up(sizeof(struct wb_system), WB_LINE_BYTES) + config->cores * (core + words) +
           (config->cores + 1) * rings + config->tasks * sizeof(struct wb_task) +
           (config->times_tasks && wb_parts.responses != NULL ? wb_parts.responses->bytes(config)
                                                              : 0) +
           config->channels * sizeof(struct wb_channel) + config->ports * sizeof(struct wb_port) +
           wb_names_slots(config->tasks + config->channels) * sizeof(struct wb_name) +
           config->params * sizeof(struct wb_param) + sizeof(struct wb_locks) +
           config->cores * bytes_of_parts(config) + (size_t)11 * WB_LINE_BYTES +
           (config->shared_bytes != 0 && wb_parts.pool != NULL
                ? wb_parts.pool->bytes(config->shared_bytes)
                : 0) +
           (wb_parts.reenter != NULL ? wb_programs_bytes(config) : 0) +
           (wb_parts.waiters != NULL ? wb_parts.waiters->bytes(config) : 0);
}

static bool is_power_of_two_or_zero(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static bool names_init(struct wb_system *system)
{
    const uint32_t slots = wb_names_slots(system->config.tasks + system->config.channels);
    struct wb_names *names = &system->names;

    names->slots = wb_system_alloc(system, slots * sizeof *names->slots, WB_LINE_BYTES);
    names->mask = slots - 1;
    return names->slots != NULL;
}

static bool record_init(struct wb_system *system, struct wb_record *record, uint32_t events)
{
    return wb_parts.records == NULL || wb_parts.records->init(system, record, events);
}

static struct wb_core *core_new(struct wb_system *system, uint32_t index)
{
    struct wb_core *core =
        wb_system_alloc(system, core_bytes(&system->config), system->config.core_align);

    if (core == NULL)
        return NULL;
    core->index = core->memory = index;
    core->system = system;
    core->inbox.n_words = inbox_words(&system->config);
    wb_word_init(&core->wanted_point, WB_NO_POINT);
    wb_word_init(&core->report.temperature_mc, WB_NO_TEMPERATURE);
    core->report.obeyed_point = WB_NO_POINT;
    return core;
}

// Together, as those of many tasks are pages.
static bool inboxes_init(struct wb_system *system)
{
    const uint32_t n = inbox_words(&system->config);
    const size_t bytes = wb_round_up(n * sizeof(struct wb_swapped), WB_LINE_BYTES);
    unsigned char *words = NULL;

    if (n > WB_NEAR_WORDS) {
        words = wb_system_alloc(system, system->n_cores * bytes, WB_LINE_BYTES);
        if (words == NULL)
            return false;
    }
    for (uint32_t i = 0; i < system->n_cores; i++) {
        struct wb_inbox *inbox = &system->cores[i]->inbox;
        inbox->words =
            words != NULL ? (struct wb_swapped *)(void *)(words + i * bytes) : inbox->near;
    }
    return true;
}

// What every core has lies together, what most never touch apart: an idle core takes few pages.
static bool cores_init(struct wb_system *system)
{
    bool done = true;

    system->cores =
        wb_system_alloc(system, system->config.cores * sizeof(struct wb_core *), WB_LINE_BYTES);
    if (system->cores == NULL)
        return false;
    for (uint32_t i = 0; i < system->config.cores; i++) {
        system->cores[i] = core_new(system, i);
        if (system->cores[i] == NULL)
            return false;
    }
    system->n_cores = system->config.cores;
    for (uint32_t i = 0; i < system->n_cores && done; i++)
        done = record_init(system, &system->cores[i]->record, system->config.record_events);
    return done && inboxes_init(system) &&
           (!system->config.times_frames || wb_parts.latency->init(system)) &&
           (system->config.agent_period_ns == 0 || wb_parts.agents->init(system));
}

static bool has_parts(const struct wb_system_config *config)
{
    return (config->agent_period_ns == 0 || wb_parts.agents != NULL) &&
           (!config->times_frames || wb_parts.latency != NULL) &&
           ((config->record_events | config->record_migrations) == 0 || wb_parts.records != NULL) &&
           (!config->times_tasks || wb_parts.responses != NULL) &&
           (config->shared_bytes == 0 || wb_parts.pool != NULL) &&
           (config->programs <= 1 || wb_parts.reenter != NULL);
}

enum wb_status wb_system_init(struct wb_system **out, void *memory, size_t bytes,
                              const struct wb_system_config *config)
{
    struct wb_system *system = memory;

    if (config->cores == 0 || config->cores > WB_CORES_MAX || config->tasks > WB_HOLDERS_MAX ||
        config->coordinator >= config->cores || config->core_align < WB_LINE_BYTES ||
        (uintptr_t)memory % WB_LINE_BYTES != 0 || !is_power_of_two_or_zero(config->record_events) ||
        !is_power_of_two_or_zero(config->record_migrations) ||
        config->shared_bytes > WB_SHARED_MAX || config->kinds > WB_KINDS_MAX ||
        config->programs > config->cores || !has_parts(config))
        return WB_ERR_INVAL;
    if (bytes < wb_system_bytes(config))
        return WB_ERR_NOMEM;

    *system = (struct wb_system){ .config = *config,
                                  .reports = config->agent_period_ns != 0,
                                  .shares = (wb_kernel_can() & WB_CAN_SHARE) != 0 };
    system->arena = (unsigned char *)memory + sizeof *system;
    system->arena_end = (unsigned char *)memory + bytes;
    system->app.system = system;
    wb_word_init(&system->control.coordinator, config->coordinator);
    system->tasks = wb_system_alloc(system, config->tasks * sizeof *system->tasks, WB_LINE_BYTES);
    system->channels =
        wb_system_alloc(system, config->channels * sizeof *system->channels, WB_LINE_BYTES);
    system->ports = wb_system_alloc(system, config->ports * sizeof *system->ports, WB_LINE_BYTES);
    system->params = wb_system_alloc(system, config->params * sizeof *system->params, 16);
    system->locks = wb_system_alloc(system, sizeof *system->locks, WB_LINE_BYTES);
    if (system->locks == NULL || system->tasks == NULL || system->channels == NULL ||
        system->ports == NULL || system->params == NULL || !names_init(system) ||
        !record_init(system, &system->record, 0) || !cores_init(system) ||
        (config->times_tasks && !wb_parts.responses->init(system)) ||
        (wb_parts.reenter != NULL && config->programs > 1 && !wb_programs_init(system)) ||
        (config->shared_bytes != 0 && !wb_parts.pool->init(system)) ||
        (wb_parts.waiters != NULL && !wb_parts.waiters->init(system)))
        return WB_ERR_NOMEM;
    *out = system;
    return WB_OK;
}

// The transfer buffer is as large as the largest context that may travel through it; there is none
// if no task needs it.
bool wb_system_reserve(struct wb_system *system)
{
    size_t most = 0;
    bool done = true;

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        const struct wb_migration_ops *ops = wb_migration_ops_of(task);
        if (ops != NULL) {
            const size_t bytes = ops->room(task);
            most = bytes > most ? bytes : most;
            system->transfer_is_needed |= ops->needs_buffer;
        }
        if (task->checkpoint_every != 0)
            done &= wb_parts.images->init(task);
    }
    if (most == 0)
        return done;
    system->transfer = wb_system_alloc(system, most, WB_LINE_BYTES);
    system->transfer_bytes = most;
    return done && system->transfer != NULL;
}

static bool is_reserved(const struct wb_task *task)
{
    return (task->checkpoint_every == 0 || task->images.bytes != 0) &&
           (wb_task_is_handed_off(task) || task->mode == WB_REENTER ||
            task->system->transfer != NULL);
}

enum wb_status wb_system_start(struct wb_system *system, uint64_t start_ns)
{
    system->start_ns = start_ns;
    wb_word_init(&system->live, system->n_tasks);
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        if (!is_reserved(task))
            return WB_ERR_INVAL;
        if (system->config.times_frames)
            wb_parts.latency->bind(task);
        if (system->config.times_tasks)
            wb_parts.responses->bind(task);
        // Of another program: its kernel does so, when it takes the task in.
        const enum wb_status status =
            wb_core_of(task)->program == 0 ? wb_kernel_task_init(task) : WB_OK;
        if (status != WB_OK)
            return status;
        wb_period_begin(task, start_ns);
        wb_inbox_post(system->cores[wb_task_core(task)], i);
    }
    return WB_OK;
}
