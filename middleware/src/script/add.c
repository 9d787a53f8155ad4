// SPDX-License-Identifier: Apache-2.0
// Scripts as the launcher lays them out: copies in globally visible memory, checked, so that
// whoever runs one need not look.

#include "../word/mem.h"
#include "run.h"
#include "wb/launcher.h"

// ---- What they have in common -------------------------------------------------------------------

static enum wb_status make_barrier(struct wb_system *system, struct wb_barrier *barrier,
                                   uint32_t tasks)
{
    struct wb_participant *participants =
        wb_system_alloc(system, tasks * sizeof *participants, WB_LINE_BYTES);

    return participants != NULL ? wb_barrier_init(barrier, participants, tasks) : WB_ERR_NOMEM;
}

static enum wb_status make(struct wb_system *system, struct wb_object *object,
                           const struct wb_object_config *config)
{
    wb_text_copy(object->name, config->name, sizeof object->name);
    object->kind = config->kind;
    switch (config->kind) {
    case WB_OBJECT_MUTEX:
        wb_mutex_init(&object->mutex);
        return WB_OK;
    case WB_OBJECT_CONDITION:
        wb_condition_init(&object->condition);
        return WB_OK;
    case WB_OBJECT_BARRIER:
        return make_barrier(system, &object->barrier, config->value);
    case WB_OBJECT_TIMER:
        object->timer = (struct wb_shared_timer){ .timer = { .begun = false } };
        return WB_OK;
    case WB_OBJECT_SEMAPHORE:
        return wb_semaphore_init(&object->semaphore, config->value, config->most);
    }
    return WB_ERR_INVAL;
}

enum wb_status wb_objects_add(struct wb_system *system, const struct wb_object_config *configs,
                              uint32_t n, struct wb_object **objects)
{
    enum wb_status status = WB_OK;

    *objects = wb_system_alloc(system, n * sizeof **objects, WB_LINE_BYTES);
    if (*objects == NULL)
        return WB_ERR_NOMEM;
    for (uint32_t i = 0; i < n && status == WB_OK; i++)
        status = make(system, &(*objects)[i], &configs[i]);
    system->objects = *objects;
    system->n_objects = n;
    return status;
}

// ---- Whether a script makes sense ---------------------------------------------------------------

struct among {  // what its events name
    const struct wb_script_config *config;
    const struct wb_object *objects;
    uint32_t n_objects, kinds;
};

static bool is_of(const struct among *among, uint32_t object, enum wb_object_kind kind)
{
    return object < among->n_objects && among->objects[object].kind == kind;
}

static bool has_cycles(const struct among *among, const struct wb_script_event *event)
{
    for (uint32_t i = 0; i < event->n_numbers; i++)
        if (event->numbers[i] > WB_CYCLES_MAX)
            return false;
    return event->n_numbers == 1 || event->n_numbers == among->kinds;
}

// A loop and its end name each other. An empty one has no event that a turn begins with.
static bool is_closed(const struct among *among, uint32_t at)
{
    const struct wb_script_event *events = among->config->events, *event = &events[at];
    const bool begins = event->verb == WB_SCRIPT_LOOP;
    const uint32_t other = event->other;

    return event->object < WB_SCRIPT_DEPTH && other < among->config->n_events &&
           (begins ? other > at + 1 : other < at) && events[other].other == at &&
           events[other].verb == (begins ? WB_SCRIPT_END : WB_SCRIPT_LOOP);
}

static bool is_valid(const struct among *among, uint32_t at)
{
    const struct wb_script_event *event = &among->config->events[at];

    switch (event->verb) {
    case WB_SCRIPT_RUN:
        return has_cycles(among, event);
    case WB_SCRIPT_TIMER:
        return event->other == WB_SCRIPT_NONE ? event->object < among->config->n_timers
                                              : is_of(among, event->other, WB_OBJECT_TIMER);
    case WB_SCRIPT_LOCK:
    case WB_SCRIPT_UNLOCK:
        return is_of(among, event->object, WB_OBJECT_MUTEX);
    case WB_SCRIPT_WAIT:
        if (event->other != WB_SCRIPT_NONE && !is_of(among, event->other, WB_OBJECT_MUTEX))
            return false;
        // fall through
    case WB_SCRIPT_SIGNAL:
    case WB_SCRIPT_BROADCAST:
        return is_of(among, event->object, WB_OBJECT_CONDITION);
    case WB_SCRIPT_BARRIER:
        return is_of(among, event->object, WB_OBJECT_BARRIER);
    case WB_SCRIPT_TAKE:
    case WB_SCRIPT_GIVE:
        return is_of(among, event->object, WB_OBJECT_SEMAPHORE);
    case WB_SCRIPT_SEND:
    case WB_SCRIPT_RECEIVE:
        return event->object < among->config->n_ports && event->amount != 0;
    case WB_SCRIPT_MIGRATE:
        return event->n_numbers != 0;
    case WB_SCRIPT_PRIORITY:
        return event->amount < WB_SCRIPT_PRIORITIES;
    case WB_SCRIPT_LOOP:
    case WB_SCRIPT_END:
        return is_closed(among, at);
    default:
        return true;
    }
}

static bool are_good(const struct among *among)
{
    const uint32_t n = among->config->n_events;

    for (uint32_t at = 0; at < n; at++)
        if (!is_valid(among, at))
            return false;
    return n != 0 && among->config->events[n - 1].verb == WB_SCRIPT_EXIT;
}

// ---- Copies -------------------------------------------------------------------------------------

static const struct wb_script_event *copied_events(struct wb_system *system,
                                                   const struct wb_script_config *config)
{
    struct wb_script_event *events =
        wb_system_alloc(system, config->n_events * sizeof *events, WB_LINE_BYTES);

    for (uint32_t i = 0; events != NULL && i < config->n_events; i++) {
        const struct wb_script_event *event = &config->events[i];
        const size_t bytes = event->n_numbers * sizeof *event->numbers;
        uint64_t *numbers = wb_system_alloc(system, bytes, sizeof *numbers);
        events[i] = *event;
        events[i].numbers = numbers;
        events[i].place = wb_system_keep_text(system, event->place != NULL ? event->place : "");
        if (numbers == NULL || events[i].place == NULL)
            return NULL;
        if (bytes != 0)
            memcpy(numbers, event->numbers, bytes);
    }
    return events;
}

static const char *const *copied_ports(struct wb_system *system,
                                       const struct wb_script_config *config)
{
    const char **ports = wb_system_alloc(system, config->n_ports * sizeof *ports, sizeof *ports);

    for (uint32_t i = 0; ports != NULL && i < config->n_ports; i++) {
        ports[i] = wb_system_keep_text(system, config->ports[i]);
        if (ports[i] == NULL)
            return NULL;
    }
    return ports;
}

enum wb_status wb_script_add(struct wb_system *system, const struct wb_script_config *config,
                             struct wb_object *objects, uint32_t n_objects,
                             struct wb_script **script)
{
    const struct among among = { .config = config,
                                 .objects = objects,
                                 .n_objects = n_objects,
                                 .kinds = system->config.kinds != 0 ? system->config.kinds : 1 };

    if (!are_good(&among))
        return WB_ERR_INVAL;
    *script = wb_system_alloc(system, sizeof **script, WB_LINE_BYTES);
    if (*script == NULL)
        return WB_ERR_NOMEM;
    **script = (struct wb_script){ .config = *config, .objects = objects };
    (*script)->config.events = copied_events(system, config);
    (*script)->config.ports = copied_ports(system, config);
    return (*script)->config.events != NULL && (*script)->config.ports != NULL ? WB_OK
                                                                               : WB_ERR_NOMEM;
}

// So that one that dies before it comes there is known of.
static enum wb_status join(struct wb_task *task, const struct wb_script *script,
                           const struct wb_script_event *event)
{
    struct wb_barrier *barrier = &script->objects[event->object].barrier;

    return event->verb == WB_SCRIPT_BARRIER ? wb_barrier_join(barrier, task) : WB_OK;
}

enum wb_status wb_task_set_script(struct wb_task *task, const struct wb_script *script)
{
    struct wb_scripted *scripted = wb_system_alloc(task->system, sizeof *scripted, WB_LINE_BYTES);

    if (scripted == NULL)
        return WB_ERR_NOMEM;
    for (uint32_t i = 0; i < script->config.n_events; i++)
        if (join(task, script, &script->config.events[i]) != WB_OK)
            return WB_ERR_INVAL;
    *scripted = (struct wb_scripted){ .script = script };
    task->scripted = scripted;
    return WB_OK;
}
