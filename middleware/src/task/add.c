// SPDX-License-Identifier: Apache-2.0
// What a system consists of: tasks, channels, ports and parameters, added by the launcher before
// the start.

#include "../word/mem.h"
#include "../word/names.h"
#include "life.h"
#include "wb/launcher.h"

static bool name_is_valid(const char *name)
{
    size_t n = 0;

    while (name[n] != '\0')
        n++;
    return n > 0 && n < WB_NAME_BYTES;
}

static void name_add(const struct wb_names *names, const char *name, uint32_t index,
                     uint32_t number)
{
    const uint32_t hash = wb_name_hash(name, index);
    struct wb_name *slot = wb_names_next(names, hash, NULL);

    while (slot->number != 0)
        slot = wb_names_next(names, hash, slot);
    *slot = (struct wb_name){ .hash = hash, .number = number };
}

static bool has_parts(const struct wb_task_config *config)
{
    return (config->mode != WB_REPLICATE || wb_parts.replicate != NULL) &&
           (config->mode != WB_RECREATE || wb_parts.recreate != NULL) &&
           // It leaves its stack behind, so an image would be of no use.
           (config->mode != WB_REENTER ||
            (wb_parts.reenter != NULL && config->checkpoint_every == 0)) &&
           ((config->jitter_ns | config->gap_ns) == 0 || wb_parts.arrivals != NULL) &&
           (config->checkpoint_every == 0 || wb_parts.images != NULL);
}

static bool is_shared(const struct wb_task_config *config)
{
    return (config->cores & (config->cores - 1)) != 0;
}

uint32_t wb_task_needs(const struct wb_task_config *config)
{
    return (config->mode == WB_REPLICATE ? WB_CAN_REPLICATE : 0u) |
           (config->mode == WB_RECREATE ? WB_CAN_RECREATE : 0u) |
           (config->checkpoint_every != 0 ? WB_CAN_CAPTURE : 0u) |
           (is_shared(config) ? WB_CAN_SHARE : 0u);
}

// What is shared moves without being asked, and as it is.
static bool is_valid_for_all(const struct wb_system *system, const struct wb_task_config *config)
{
    return !is_shared(config) ||
           ((config->cores >> config->core % 32 & 1) != 0 && config->mode == WB_HANDOFF &&
            config->migratable && config->core < 32 &&
            (system->n_cores >= 32 || config->cores >> system->n_cores == 0));
}

enum wb_status wb_task_add(struct wb_system *system, const struct wb_task_config *config,
                           struct wb_task **out)
{
    if (!name_is_valid(config->name) || config->core >= system->n_cores || config->entry == NULL ||
        wb_task_find(&system->app, config->name, config->index) != NULL)
        return WB_ERR_INVAL;
    if ((wb_task_needs(config) & ~wb_core_can(system->cores[config->core])) != 0)
        return WB_ERR_UNABLE;
    if (!has_parts(config) || !is_valid_for_all(system, config))
        return WB_ERR_INVAL;
    unsigned char *heap = config->heap != NULL
                              ? config->heap
                              : wb_system_alloc(system, config->heap_bytes, WB_LINE_BYTES);
    if (system->n_tasks == system->config.tasks || heap == NULL)
        return WB_ERR_NOMEM;

    struct wb_task *task = &system->tasks[system->n_tasks];
    task->system = system;
    wb_text_copy(task->name, config->name, sizeof task->name);
    task->id = system->n_tasks++;
    name_add(&system->names, config->name, config->index, system->n_tasks);
    task->index = config->index;
    wb_word_init(&task->priority, config->priority);
    wb_word_init(&task->sync.priority, config->priority);
    task->migratable = config->migratable;
    task->restart = config->restart;
    task->moves_at_waits = config->moves_at_waits;
    task->mode = config->mode;
    wb_word_init(&task->memory_core,
                 wb_has_programs(system) ? system->cores[config->core]->memory : config->core);
    task->checkpoint_every = config->checkpoint_every;
    task->replay = config->replay;
    task->entry = config->entry;
    task->stack = config->stack;
    task->stack_bytes = config->stack_bytes;
    task->period_ns = config->period_ns;
    task->relative_deadline_ns = config->deadline_ns != 0 ? config->deadline_ns : config->period_ns;
    task->offset_ns = config->offset_ns;
    task->rate_millihz = config->rate_millihz != 0 ? config->rate_millihz : 1;
    task->period_rest = config->period_rest;
    task->offset_rest = config->offset_rest;
    task->arrival = (struct wb_arrival){ .jitter_ns = config->jitter_ns, .gap_ns = config->gap_ns };
    task->follows_rate = config->follows_rate;
    wb_word_init(&task->owner_state, wb_owner_state(WB_TASK_NEW, config->core));
    wb_word_init(&task->cores, is_shared(config) ? config->cores : 0);
    wb_heap_init(&task->heap, heap, config->heap_bytes);
    task->heap.is_private = config->mode == WB_REPLICATE || config->mode == WB_RECREATE;
    task->shared.pool = system->pool;
    task->shared.epoch = 1;
    *out = task;
    return WB_OK;
}

static bool channel_is_known(const struct wb_system *system, const char *name)
{
    const uint32_t hash = wb_name_hash(name, 0);
    const struct wb_name *slot = NULL;

    while ((slot = wb_names_next(&system->names, hash, slot))->number != 0)
        if ((slot->number & WB_NAMES_CHANNEL) != 0 &&
            wb_text_equal(system->channels[(slot->number ^ WB_NAMES_CHANNEL) - 1].name, name))
            return true;
    return false;
}

static enum wb_status add_notify(struct wb_system *system, struct wb_channel *channel,
                                 const struct wb_channel_config *config)
{
    if (wb_parts.notify != NULL)
        return wb_parts.notify->add(system, channel, config);
    // Without a time it is the one that needs no such part.
    return config->notify.within_us == 0 ? WB_OK : WB_ERR_INVAL;
}

enum wb_status wb_channel_add(struct wb_system *system, const struct wb_channel_config *config,
                              struct wb_channel **out)
{
    enum { SLOTS_MAX = 1 << 15 };  // a mailbox numbers 2^17 laps of its slots in 32 bits

    if (wb_parts.channels == NULL || !name_is_valid(config->name) || config->slots == 0 ||
        config->slots > SLOTS_MAX || config->slot_bytes == 0 || config->initial > config->slots ||
        config->slot_bytes > UINT32_MAX - 2 * WB_LINE_BYTES ||
        (config->mailbox &&
         (config->initial != 0 || config->claims_at_start || wb_parts.mailboxes == NULL)) ||
        channel_is_known(system, config->name))
        return WB_ERR_INVAL;
    const size_t mark_bytes = system->config.times_tasks    ? 2 * WB_MARK_BYTES
                              : system->config.times_frames ? WB_MARK_BYTES
                                                            : 0;
    const uint32_t stride = (uint32_t)wb_round_up(config->slot_bytes + mark_bytes, WB_LINE_BYTES);
    unsigned char *data = wb_system_alloc(system, (size_t)stride * config->slots, WB_LINE_BYTES);
    struct wb_compared *tickets = NULL;
    if (config->mailbox) {
        tickets = wb_system_alloc(system, config->slots * sizeof *tickets, WB_LINE_BYTES);
        data = tickets != NULL ? data : NULL;
    }
    if (system->n_channels == system->config.channels || data == NULL)
        return WB_ERR_NOMEM;

    struct wb_channel *channel = &system->channels[system->n_channels];
    const enum wb_status status = add_notify(system, channel, config);
    if (status != WB_OK)
        return status;
    channel->system = system;
    wb_text_copy(channel->name, config->name, sizeof channel->name);
    channel->id = system->n_channels++;
    name_add(&system->names, config->name, 0, system->n_channels | WB_NAMES_CHANNEL);
    channel->slots = config->slots;
    channel->slot_bytes = channel->charged = config->slot_bytes;
    channel->initial = config->initial;
    channel->claims_at_start = config->claims_at_start;
    channel->aside = config->mailbox || config->answers;
    channel->stride_bytes = stride;
    channel->data = data;
    channel->tickets = tickets;
    wb_word_init(&channel->tail, config->initial);
    *out = channel;
    return WB_OK;
}

static struct wb_port *port_new(struct wb_task *task, struct wb_channel *channel,
                                enum wb_direction direction, const char *name, uint32_t index)
{
    struct wb_system *system = task->system;
    struct wb_port *port = &system->ports[system->n_ports++];

    port->channel = channel;
    port->task = task;
    port->direction = direction;
    port->index = index;
    port->rate = 1;
    wb_text_copy(port->name, name, sizeof port->name);
    struct wb_port **last = &task->ports;
    while (*last != NULL)
        last = &(*last)->next_of_task;
    *last = port;
    return port;
}

enum wb_status wb_port_add(struct wb_task *task, struct wb_channel *channel,
                           enum wb_direction direction, const char *name, uint32_t index)
{
    enum { SENDERS_MAX = 1 << 13 };  // a mailbox numbers its senders in 13 bits
    const bool taken = direction == WB_IN ? channel->receiver != NULL
                                          : channel->senders != NULL && channel->tickets == NULL;

    if (!name_is_valid(name) || taken || wb_port_find_any(task, name, index) != NULL)
        return WB_ERR_INVAL;
    if (task->system->n_ports == task->system->config.ports || channel->n_senders == SENDERS_MAX)
        return WB_ERR_NOMEM;

    struct wb_port *port = port_new(task, channel, direction, name, index);
    if (direction == WB_IN) {
        port->cached_peer = wb_word_load(&channel->tail, WB_RELAXED);
        wb_word_init(&port->high, channel->initial);
        wb_word_init(&port->low, channel->slots + 1);
        channel->receiver = port;
        wb_word_store(&channel->receiver_open, 1, WB_RELAXED);
    } else {
        port->claimed = port->committed = wb_word_load(&channel->tail, WB_RELAXED);
        task->has_output = true;
        port->next_of_channel = channel->senders;
        channel->senders = port;
        port->number = channel->n_senders++;
        wb_word_store(&channel->senders_open, 1, WB_RELAXED);
    }
    return WB_OK;
}

enum wb_status wb_port_set_rate(struct wb_port *port, uint32_t rate)
{
    if (rate == 0 || rate > WB_RATE_MAX)
        return WB_ERR_INVAL;
    port->rate = rate;
    return WB_OK;
}

enum wb_status wb_param_add(struct wb_system *system, const char *key, const char *text,
                            const double *numbers, uint32_t n_numbers)
{
    if (system->n_params == system->config.params)
        return WB_ERR_NOMEM;
    struct wb_param *param = &system->params[system->n_params];
    param->key = wb_system_keep_text(system, key);
    param->text = wb_system_keep_text(system, text);
    param->numbers = wb_system_alloc(system, n_numbers * sizeof *numbers, sizeof *numbers);
    param->n_numbers = n_numbers;
    if (param->key == NULL || param->text == NULL || param->numbers == NULL)
        return WB_ERR_NOMEM;
    if (n_numbers != 0)
        memcpy(param->numbers, numbers, n_numbers * sizeof *numbers);
    system->n_params++;
    return WB_OK;
}
