// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "wb/energy.h"

bool plan_grow(void *array, uint32_t count, size_t bytes)
{
    void **a = array;

    if ((count & (count - 1)) != 0)
        return true;
    void *grown = reallocarray(*a, count == 0 ? 1 : (size_t)count * 2, bytes);
    if (grown == NULL)
        return false;
    *a = grown;
    return true;
}

struct field {
    const char *name;
    uint64_t *value;
};

// Reads `NAME NUMBER` pairs in the order of `fields`.
static bool read_fields(const struct words *words, uint32_t from, const struct field *fields,
                        uint32_t n)
{
    if (words->count != from + 2 * n)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(words->word[from + 2 * i], fields[i].name) != 0 ||
            !words_number(words->word[from + 2 * i + 1], fields[i].value))
            return false;
    return true;
}

// core CPU [KIND]
static bool take_core(struct plan *plan, const struct words *w)
{
    uint64_t cpu, kind = 0;

    if (w->count < 2 || w->count > 3 || !words_number(w->word[1], &cpu) ||
        (w->count == 3 && (!words_number(w->word[2], &kind) || kind >= WB_KINDS_MAX)) ||
        !plan_grow(&plan->cpus, plan->n_cpus, sizeof *plan->cpus) ||
        !plan_grow(&plan->kinds, plan->n_cpus, sizeof *plan->kinds))
        return false;
    plan->kinds[plan->n_cpus] = (uint32_t)kind;
    plan->cpus[plan->n_cpus++] = (unsigned int)cpu;
    return true;
}

static bool take_text(char **text, const struct words *w)
{
    if (w->count != 2)
        return false;
    free(*text);
    *text = strdup(w->word[1]);
    return *text != NULL;
}

static bool take_number(uint64_t *number, const struct words *w)
{
    return w->count == 2 && words_number(w->word[1], number);
}

static bool take_param(struct plan *plan, const struct words *w)
{
    if (w->count < 3 || !plan_grow(&plan->params, plan->n_params, sizeof *plan->params))
        return false;
    struct plan_param *param = &plan->params[plan->n_params++];
    *param = (struct plan_param){ .key = strdup(w->word[1]),
                                  .text = strdup(w->word[2]),
                                  .numbers = calloc(w->count - 2, sizeof(double)),
                                  .n_numbers = w->count - 3 };
    if (param->key == NULL || param->text == NULL || param->numbers == NULL)
        return false;
    for (uint32_t i = 0; i < param->n_numbers; i++) {
        char *end;
        param->numbers[i] = strtod(w->word[i + 3], &end);
        if (end == w->word[i + 3] || *end != '\0')
            return false;
    }
    return true;
}

static bool take_channel(struct plan *plan, const struct words *w)
{
    uint64_t slots, bytes, initial, mailbox;
    const struct field fields[] = {
        { "slots", &slots }, { "bytes", &bytes }, { "initial", &initial }, { "mailbox", &mailbox }
    };

    if (w->count < 2 || !read_fields(w, 2, fields, 4) || slots > UINT32_MAX || bytes > UINT32_MAX ||
        !plan_grow(&plan->channels, plan->n_channels, sizeof *plan->channels))
        return false;
    struct wb_channel_config *channel = &plan->channels[plan->n_channels++];
    *channel = (struct wb_channel_config){ .name = strdup(w->word[1]),
                                           .slots = (uint32_t)slots,
                                           .slot_bytes = (uint32_t)bytes,
                                           .initial = (uint32_t)initial,
                                           .mailbox = mailbox != 0 };
    return channel->name != NULL;
}

static bool take_mode(enum wb_mode *mode, const char *word)
{
    static const char *const words[] = { "handoff", "replicate", "recreate" };

    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i], word) == 0) {
            *mode = (enum wb_mode)i;
            return true;
        }
    return false;
}

static bool take_task(struct plan *plan, const struct words *w)
{
    uint64_t index, core, priority, stack, heap, migratable, restart, period, deadline, offset;
    uint64_t frame, every, replay;
    enum wb_mode mode;
    const struct field fields[] = {
        { "core", &core },     { "priority", &priority },     { "stack", &stack },
        { "heap", &heap },     { "migratable", &migratable }, { "restart", &restart },
        { "period", &period }, { "deadline", &deadline },     { "offset", &offset },
        { "frame", &frame },   { "image", &every },           { "replay", &replay },
    };

    if (w->count < 7 || !words_number(w->word[2], &index) || strcmp(w->word[3], "entry") != 0 ||
        strcmp(w->word[5], "mode") != 0 || !take_mode(&mode, w->word[6]) ||
        !read_fields(w, 7, fields, 12) || priority > 31 || every > UINT32_MAX ||
        !plan_grow(&plan->tasks, plan->n_tasks, sizeof *plan->tasks))
        return false;
    struct plan_task *task = &plan->tasks[plan->n_tasks++];
    task->entry = strdup(w->word[4]);
    task->config = (struct wb_task_config){ .name = strdup(w->word[1]),
                                            .index = (uint32_t)index,
                                            .core = (uint32_t)core,
                                            .priority = (uint32_t)priority,
                                            .stack_bytes = stack,
                                            .heap_bytes = heap,
                                            .migratable = migratable != 0,
                                            .restart = restart != 0,
                                            .mode = mode,
                                            .checkpoint_every = (uint32_t)every,
                                            .replay = replay != 0,
                                            .follows_rate = frame != 0,
                                            .period_ns = period,
                                            .deadline_ns = deadline,
                                            .offset_ns = offset };
    return task->entry != NULL && task->config.name != NULL;
}

// port TASK INDEX in/out PORT PORTINDEX CHANNEL [RATE]
static bool take_port(struct plan *plan, const struct words *w)
{
    uint64_t task_index, index, rate = 1;

    if (w->count < 7 || w->count > 8 || (w->count == 8 && !words_number(w->word[7], &rate)) ||
        rate > UINT32_MAX || !words_number(w->word[2], &task_index) ||
        !words_number(w->word[5], &index) ||
        (strcmp(w->word[3], "in") != 0 && strcmp(w->word[3], "out") != 0) ||
        !plan_grow(&plan->ports, plan->n_ports, sizeof *plan->ports))
        return false;
    struct plan_port *port = &plan->ports[plan->n_ports++];
    *port = (struct plan_port){ .task = strdup(w->word[1]),
                                .task_index = (uint32_t)task_index,
                                .direction = w->word[3][0] == 'i' ? WB_IN : WB_OUT,
                                .name = strdup(w->word[4]),
                                .index = (uint32_t)index,
                                .rate = (uint32_t)rate,
                                .channel = strdup(w->word[6]) };
    return port->task != NULL && port->name != NULL && port->channel != NULL;
}

// point CORE HZ ACTIVE_UW IDLE_UW [start]
static bool take_point(struct plan *plan, const struct words *w)
{
    uint64_t core, hz, active_uw, idle_uw;
    const bool start = w->count == 6 && strcmp(w->word[5], "start") == 0;

    if ((w->count != 5 && !start) || !words_number(w->word[1], &core) ||
        !words_number(w->word[2], &hz) || !words_number(w->word[3], &active_uw) ||
        !words_number(w->word[4], &idle_uw) || core > UINT32_MAX || active_uw > UINT32_MAX ||
        idle_uw > UINT32_MAX || !plan_grow(&plan->points, plan->n_points, sizeof *plan->points))
        return false;
    plan->points[plan->n_points++] = (struct plan_point){
        .core = (uint32_t)core,
        .start = start,
        .point = { .hz = hz, .active_uw = (uint32_t)active_uw, .idle_uw = (uint32_t)idle_uw }
    };
    return true;
}

// Reads one of three words as the number of its place.
static bool take_choice(const struct words *w, const char *const choices[3], uint32_t *choice)
{
    for (*choice = 0; w->count == 2 && *choice < 3; ++*choice)
        if (strcmp(w->word[1], choices[*choice]) == 0)
            return true;
    return false;
}

static bool take_frequency(struct plan *plan, const struct words *w)
{
    static const char *const choices[] = { "none", "emulate", "cpufreq" };
    uint32_t choice;

    if (!take_choice(w, choices, &choice))
        return false;
    plan->frequency = (enum frequency_mode)choice;
    return true;
}

static bool take_transport(struct plan *plan, const struct words *w)
{
    static const char *const choices[] = { "auto", "alias", "buffer" };
    uint32_t choice;

    if (!take_choice(w, choices, &choice))
        return false;
    plan->transport = (enum wb_transport)choice;
    return true;
}

static bool take_start(struct plan *plan, const struct words *w)
{
    plan->complete =
        plan->n_cpus != 0 && plan->n_tasks != 0 && plan->module != NULL && plan_policy_fits(plan);
    return w->count == 1 && plan->complete;
}

static bool take_known(struct plan *plan, const struct words *w, bool *known)
{
    const char *verb = w->word[0];

    if (strcmp(verb, "core") == 0)
        return take_core(plan, w);
    if (strcmp(verb, "module") == 0)
        return take_text(&plan->module, w);
    if (strcmp(verb, "program") == 0)
        return take_text(&plan->program, w);
    if (strcmp(verb, "record") == 0)
        return take_text(&plan->record, w);
    if (strcmp(verb, "memory") == 0)
        return take_number(&plan->memory_bytes, w);
    if (strcmp(verb, "shared") == 0)
        return take_number(&plan->shared_bytes, w) && plan->shared_bytes <= WB_SHARED_MAX;
    if (strcmp(verb, "spin") == 0)
        return take_number(&plan->spin_ns, w);
    if (strcmp(verb, "offer") == 0)
        return take_number(&plan->offer_ns, w);
    if (strcmp(verb, "transport") == 0)
        return take_transport(plan, w);
    if (strcmp(verb, "param") == 0)
        return take_param(plan, w);
    if (strcmp(verb, "channel") == 0)
        return take_channel(plan, w);
    if (strcmp(verb, "task") == 0)
        return take_task(plan, w);
    if (strcmp(verb, "port") == 0)
        return take_port(plan, w);
    if (strcmp(verb, "point") == 0)
        return take_point(plan, w);
    if (strcmp(verb, "frequency") == 0)
        return take_frequency(plan, w);
    if (strcmp(verb, "journal") == 0)
        return take_text(&plan->journal, w);
    if (strcmp(verb, "start") == 0)
        return take_start(plan, w);
    const bool work = plan_take_work(plan, w, known);
    if (*known)
        return work;
    *known = true;
    const bool simulation = plan_take_sim(&plan->sim, w, known);
    if (*known)
        return simulation;
    *known = true;
    return plan_take_policy(plan, w, known);
}

const char *plan_take(struct plan *plan, const struct words *words)
{
    bool known = true;

    if (!plan->greeted) {
        plan->greeted = words->count == 2 && strcmp(words->word[0], "whimbrel") == 0 &&
                        strcmp(words->word[1], "1") == 0;
        return plan->greeted ? NULL : "the plan does not begin with `whimbrel 1`";
    }
    if (take_known(plan, words, &known))
        return NULL;
    return known ? "a line of the plan is malformed" : "the plan has a line of an unknown kind";
}

void plan_free(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->n_params; i++) {
        free(plan->params[i].key);
        free(plan->params[i].text);
        free(plan->params[i].numbers);
    }
    for (uint32_t i = 0; i < plan->n_channels; i++)
        free((char *)(uintptr_t)plan->channels[i].name);
    for (uint32_t i = 0; i < plan->n_tasks; i++) {
        free(plan->tasks[i].entry);
        free((char *)(uintptr_t)plan->tasks[i].config.name);
    }
    for (uint32_t i = 0; i < plan->n_ports; i++) {
        free(plan->ports[i].task);
        free(plan->ports[i].name);
        free(plan->ports[i].channel);
    }
    free(plan->cpus);
    free(plan->kinds);
    free(plan->points);
    free(plan->journal);
    free(plan->params);
    free(plan->channels);
    free(plan->tasks);
    free(plan->ports);
    free(plan->module);
    free(plan->program);
    free(plan->record);
    plan_work_free(&plan->works);
    plan_sim_free(&plan->sim);
    plan_policy_free(&plan->policy);
}
