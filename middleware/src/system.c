// SPDX-License-Identifier: Apache-2.0
// Laying out a system. Runs in the launcher only, before any kernel.

#include "wb/system.h"

#include "image.h"
#include "internal.h"
#include "latency.h"
#include "mem.h"
#include "transfer.h"

static size_t round_up(size_t n, size_t align)
{
    return (n + align - 1) & ~(align - 1);
}

static uint32_t inbox_words(const struct wb_system_config *config)
{
    return (config->tasks + 31) / 32;
}

// A core fills its alignment, so that a kernel may map its inbox by itself.
static size_t core_bytes(const struct wb_system_config *config)
{
    return round_up(sizeof(struct wb_core), config->core_align);
}

size_t wb_system_bytes(const struct wb_system_config *config)
{
    // The rings before each core end anywhere, so its alignment may cost nearly all of itself.
    const size_t core = core_bytes(config) + config->core_align + sizeof(struct wb_core *);
    const size_t words = round_up(sizeof(uint32_t) * inbox_words(config), WB_LINE_BYTES);
    const size_t rings = (size_t)config->record_events * (8 + sizeof(struct wb_event)) +
                         (size_t)config->record_migrations * (8 + sizeof(struct wb_migration)) +
                         (size_t)2 * WB_LINE_BYTES;

    return round_up(sizeof(struct wb_system), WB_LINE_BYTES) + config->cores * (core + words) +
           (config->cores + 1) * rings + config->tasks * sizeof(struct wb_task) +
           config->channels * sizeof(struct wb_channel) + config->ports * sizeof(struct wb_port) +
           config->params * sizeof(struct wb_param) + sizeof(struct wb_locks) +
           config->cores * (wb_report_bytes(config) + wb_latency_bytes(config)) +
           (size_t)9 * WB_LINE_BYTES + wb_pool_bytes(config->shared_bytes);
}

void *wb_system_alloc(struct wb_system *system, size_t bytes, size_t align)
{
    const uintptr_t at = round_up((uintptr_t)system->arena, align);

    if (at > (uintptr_t)system->arena_end || bytes > (uintptr_t)system->arena_end - at)
        return NULL;
    unsigned char *memory = system->arena + (at - (uintptr_t)system->arena);
    system->arena = memory + bytes;
    return memory;
}

static bool is_power_of_two_or_zero(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static bool ring_init(struct wb_system *system, struct wb_ring *ring, uint32_t slots,
                      uint32_t entry_bytes)
{
    ring->slots = slots;
    ring->entry_bytes = entry_bytes;
    if (slots == 0)
        return true;
    ring->data = wb_system_alloc(system, (size_t)slots * (8 + entry_bytes), WB_LINE_BYTES);
    return ring->data != NULL;
}

static bool record_init(struct wb_system *system, struct wb_record *record, uint32_t events)
{
    return ring_init(system, &record->events, events, sizeof(struct wb_event)) &&
           ring_init(system, &record->migrations, system->config.record_migrations,
                     sizeof(struct wb_migration));
}

static struct wb_core *core_new(struct wb_system *system, uint32_t index)
{
    const uint32_t words = inbox_words(&system->config);
    struct wb_core *core =
        wb_system_alloc(system, core_bytes(&system->config), system->config.core_align);

    if (core == NULL)
        return NULL;
    core->index = index;
    core->system = system;
    core->inbox.n_words = words;
    atomic_init(&core->wanted_point, WB_NO_POINT);
    core->inbox.words = words <= WB_NEAR_WORDS
                            ? core->inbox.near
                            : wb_system_alloc(system, words * sizeof(uint32_t), WB_LINE_BYTES);
    if (core->inbox.words == NULL ||
        !record_init(system, &core->record, system->config.record_events) ||
        !wb_report_init(system, &core->report) || !wb_latency_init(core))
        return NULL;
    return core;
}

static bool cores_init(struct wb_system *system)
{
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
    return true;
}

enum wb_status wb_system_init(struct wb_system **out, void *memory, size_t bytes,
                              const struct wb_system_config *config)
{
    struct wb_system *system = memory;

    if (config->cores == 0 || config->cores > WB_CORES_MAX || config->tasks > WB_HOLDERS_MAX ||
        config->coordinator >= config->cores || config->core_align < WB_LINE_BYTES ||
        (uintptr_t)memory % WB_LINE_BYTES != 0 || !is_power_of_two_or_zero(config->record_events) ||
        !is_power_of_two_or_zero(config->record_migrations) ||
        config->shared_bytes > WB_SHARED_MAX || config->kinds > WB_KINDS_MAX)
        return WB_ERR_INVAL;
    if (bytes < wb_system_bytes(config))
        return WB_ERR_NOMEM;

    *system = (struct wb_system){ .config = *config };
    system->arena = (unsigned char *)memory + sizeof *system;
    system->arena_end = (unsigned char *)memory + bytes;
    system->app.system = system;
    atomic_init(&system->control.coordinator, config->coordinator);
    system->tasks = wb_system_alloc(system, config->tasks * sizeof *system->tasks, WB_LINE_BYTES);
    system->channels =
        wb_system_alloc(system, config->channels * sizeof *system->channels, WB_LINE_BYTES);
    system->ports = wb_system_alloc(system, config->ports * sizeof *system->ports, WB_LINE_BYTES);
    system->params = wb_system_alloc(system, config->params * sizeof *system->params, 16);
    system->locks = wb_system_alloc(system, sizeof *system->locks, WB_LINE_BYTES);
    if (system->locks == NULL || system->tasks == NULL || system->channels == NULL ||
        system->ports == NULL || system->params == NULL ||
        !record_init(system, &system->record, 0) || !cores_init(system) || !wb_pool_init(system))
        return WB_ERR_NOMEM;
    *out = system;
    return WB_OK;
}

static bool name_is_good(const char *name)
{
    size_t n = 0;

    while (name[n] != '\0')
        n++;
    return n > 0 && n < WB_NAME_BYTES;
}

enum wb_status wb_task_add(struct wb_system *system, const struct wb_task_config *config,
                           struct wb_task **out)
{
    if (!name_is_good(config->name) || config->core >= system->n_cores || config->entry == NULL ||
        wb_task_find(&system->app, config->name, config->index) != NULL)
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
    task->index = config->index;
    task->priority = config->priority;
    atomic_init(&task->sync.priority, config->priority);
    task->migratable = config->migratable;
    task->restart = config->restart;
    task->mode = config->mode;
    atomic_init(&task->memory_core, config->core);
    task->checkpoint_every = config->checkpoint_every;
    task->replay = config->replay;
    task->entry = config->entry;
    task->stack = config->stack;
    task->stack_bytes = config->stack_bytes;
    task->period_ns = config->period_ns;
    task->relative_deadline_ns = config->deadline_ns != 0 ? config->deadline_ns : config->period_ns;
    task->offset_ns = config->offset_ns;
    task->follows_rate = config->follows_rate;
    atomic_init(&task->place, wb_place(WB_TASK_NEW, config->core));
    wb_heap_init(&task->heap, heap, config->heap_bytes);
    task->heap.is_private = config->mode != WB_HANDOFF;
    wb_shared_init(&task->shared, system->pool);
    *out = task;
    return WB_OK;
}

static const struct wb_channel *channel_find(const struct wb_system *system, const char *name)
{
    for (uint32_t i = 0; i < system->n_channels; i++)
        if (wb_text_equal(system->channels[i].name, name))
            return &system->channels[i];
    return NULL;
}

enum wb_status wb_channel_add(struct wb_system *system, const struct wb_channel_config *config,
                              struct wb_channel **out)
{
    enum { SLOTS_MAX = 1 << 15 };  // a mailbox numbers 2^17 laps of its slots in 32 bits

    if (!name_is_good(config->name) || config->slots == 0 || config->slots > SLOTS_MAX ||
        config->slot_bytes == 0 || config->initial > config->slots ||
        config->slot_bytes > UINT32_MAX - 2 * WB_LINE_BYTES ||
        (config->mailbox && config->initial != 0) || channel_find(system, config->name) != NULL)
        return WB_ERR_INVAL;
    const size_t mark_bytes = system->config.times_frames ? WB_MARK_BYTES : 0;
    const uint32_t stride = (uint32_t)round_up(config->slot_bytes + mark_bytes, WB_LINE_BYTES);
    unsigned char *data = wb_system_alloc(system, (size_t)stride * config->slots, WB_LINE_BYTES);
    _Atomic uint32_t *tickets = NULL;
    if (config->mailbox)
        tickets = wb_system_alloc(system, config->slots * sizeof *tickets, WB_LINE_BYTES);
    if (system->n_channels == system->config.channels || data == NULL ||
        (config->mailbox && tickets == NULL))
        return WB_ERR_NOMEM;

    struct wb_channel *channel = &system->channels[system->n_channels];
    channel->system = system;
    wb_text_copy(channel->name, config->name, sizeof channel->name);
    channel->id = system->n_channels++;
    channel->slots = config->slots;
    channel->slot_bytes = config->slot_bytes;
    channel->initial = config->initial;
    channel->stride_bytes = stride;
    channel->data = data;
    channel->tickets = tickets;
    atomic_init(&channel->tail, config->initial);
    atomic_init(&channel->high, config->initial);
    atomic_init(&channel->low, config->slots + 1);
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

    if (!name_is_good(name) || taken || wb_port_find(task, name, index) != NULL)
        return WB_ERR_INVAL;
    if (task->system->n_ports == task->system->config.ports || channel->n_senders == SENDERS_MAX)
        return WB_ERR_NOMEM;

    struct wb_port *port = port_new(task, channel, direction, name, index);
    if (direction == WB_IN) {
        port->seen = atomic_load_explicit(&channel->tail, memory_order_relaxed);
        channel->receiver = port;
        atomic_store_explicit(&channel->receiver_open, 1, memory_order_relaxed);
    } else {
        port->cursor = port->edge = atomic_load_explicit(&channel->tail, memory_order_relaxed);
        task->has_output = true;
        port->next_of_channel = channel->senders;
        channel->senders = port;
        port->number = channel->n_senders++;
        atomic_store_explicit(&channel->senders_open, 1, memory_order_relaxed);
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

static char *keep_text(struct wb_system *system, const char *text)
{
    size_t n = 0;

    while (text[n] != '\0')
        n++;
    char *copy = wb_system_alloc(system, n + 1, 1);
    if (copy != NULL)
        memcpy(copy, text, n + 1);
    return copy;
}

enum wb_status wb_param_add(struct wb_system *system, const char *key, const char *text,
                            const double *numbers, uint32_t n_numbers)
{
    if (system->n_params == system->config.params)
        return WB_ERR_NOMEM;
    struct wb_param *param = &system->params[system->n_params];
    param->key = keep_text(system, key);
    param->text = keep_text(system, text);
    param->numbers = wb_system_alloc(system, n_numbers * sizeof *numbers, sizeof *numbers);
    param->n_numbers = n_numbers;
    if (param->key == NULL || param->text == NULL || param->numbers == NULL)
        return WB_ERR_NOMEM;
    if (n_numbers != 0)
        memcpy(param->numbers, numbers, n_numbers * sizeof *numbers);
    system->n_params++;
    return WB_OK;
}

enum wb_status wb_system_start(struct wb_system *system, uint64_t start_ns)
{
    const enum wb_status transfer = wb_transfer_init(system);
    if (transfer != WB_OK)
        return transfer;
    system->start_ns = start_ns;
    atomic_store_explicit(&system->live, system->n_tasks, memory_order_relaxed);
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        if (!wb_images_init(task))
            return WB_ERR_NOMEM;
        wb_latency_bind(task);
        const enum wb_status status = wb_kernel_task_init(task);
        if (status != WB_OK)
            return status;
        task->release_ns = start_ns + task->offset_ns;
        task->job_deadline_ns = task->period_ns != 0 ? task->relative_deadline_ns : 0;
        wb_inbox_post(system->cores[wb_task_core(task)], i);
    }
    return WB_OK;
}

void wb_system_stop(struct wb_system *system)
{
    atomic_store_explicit(&system->stopping, 1, memory_order_relaxed);
    for (uint32_t i = 0; i < system->n_tasks; i++)
        wb_task_wake(&system->tasks[i]);
}

void wb_system_set_rate(struct wb_system *system, uint32_t rate_millihz)
{
    // Relaxed: the word is all there is to know.
    atomic_store_explicit(&system->rate_millihz, rate_millihz, memory_order_relaxed);
}

void wb_system_over(struct wb_system *system)
{
    atomic_store_explicit(&system->live, 0, memory_order_seq_cst);
    for (uint32_t i = 0; i < system->n_cores; i++)
        wb_kernel_doorbell(i);
}

// Never below zero: a sweep may have found that all are over before the last of them is counted.
void wb_system_task_over(struct wb_system *system)
{
    uint32_t live = atomic_load_explicit(&system->live, memory_order_relaxed);

    while (live > 1 &&
           !atomic_compare_exchange_weak_explicit(&system->live, &live, live - 1,
                                                  memory_order_acq_rel, memory_order_relaxed)) {}
    if (live == 1)
        wb_system_over(system);
}

void wb_system_fault(struct wb_system *system, enum wb_fault_kind kind, const struct wb_task *task,
                     const char *text)
{
    struct wb_fault *fault = &system->fault;

    if (atomic_exchange_explicit(&fault->taken, 1, memory_order_relaxed) != 0)
        return;
    fault->kind = kind;
    fault->core = wb_kernel_core();
    fault->task = task != NULL ? task->id : UINT32_MAX;
    wb_text_copy(fault->text, text, sizeof fault->text);
    // Release: the launcher reads the fault once it sees that it is complete.
    atomic_store_explicit(&fault->complete, 1, memory_order_release);
}
