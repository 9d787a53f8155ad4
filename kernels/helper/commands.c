// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "choose.h"

struct request {  // a migration that the command waits for
    char *id;
    struct wb_task *task;
    uint32_t core, number;
    struct request *next;
};

// ---- Migrations ---------------------------------------------------------------------------------

static void ask(struct commands *c, const char *id, struct wb_task *task, uint32_t core)
{
    struct request *request = calloc(1, sizeof *request);

    if (request == NULL)
        return;
    const uint32_t word = wb_word_load(&task->request, WB_SEQ_CST);
    *request = (struct request){ .id = strdup(id),
                                 .task = task,
                                 .core = core,
                                 .number = wb_request_number(word),
                                 .next = c->requests };
    c->requests = request;
}

static void migrate(struct commands *c, const struct command *command)
{
    struct wb_task *task = wb_task_find(c->build->app, command->task, command->index);
    const uint32_t core = command->core;
    enum wb_status status = WB_ERR_INVAL;

    if (task != NULL && wb_task_stays(task) && wb_task_core(task) == core &&
        !wb_migration_pending(task)) {
        tell_migrated(c->teller, command->id, task, core, WB_OK, NULL);
        return;
    }
    if (task != NULL)
        status = wb_migration_request(task, core, command->timeout_ms * 1000000, NULL);
    if (status == WB_OK)
        ask(c, command->id, task, core);
    else
        tell_migrated(c->teller, command->id, task, core, status, NULL);
}

// True while the request that we made, and not a later one, is under way.
static bool is_under_way(const struct request *request)
{
    return wb_migration_pending(request->task) &&
           wb_request_number(wb_word_load(&request->task->request, WB_SEQ_CST)) == request->number;
}

void commands_tell_outcomes(struct commands *c, bool end)
{
    for (struct request **link = &c->requests; *link != NULL;) {
        struct request *request = *link;
        if (!end && is_under_way(request)) {
            link = &request->next;
            continue;
        }
        tell_migrated(c->teller, request->id, request->task, request->core,
                      (enum wb_status)wb_word_load(&request->task->outcome, WB_SEQ_CST), NULL);
        *link = request->next;
        free(request->id);
        free(request);
    }
}

// ---- Who decides --------------------------------------------------------------------------------

static void set_policy(struct commands *c, const struct command *command)
{
    struct wb_system *system = wb_host_system(c->build->host);
    char why[256] = "";
    bool ok = false;

    if (command->policy.name != NULL)
        ok = choose_policy(c->build->host, &command->policy, why, sizeof why);
    else
        // Refused without agents; then none decided before, either.
        ok = wb_system_set_policy(system, NULL, NULL) == WB_OK || wb_system_policy(system) == NULL;
    tell_set(c->teller, command->id, ok, why);
}

static void take_decision(const struct commands *c, const struct command *command, const char *why)
{
    if (c->decided != NULL)
        c->decided(command, why);
}

// ---- Channels -----------------------------------------------------------------------------------

static struct wb_channel *find_channel(const struct wb_system *system, const char *name)
{
    for (uint32_t i = 0; i < system->n_channels; i++)
        if (strcmp(system->channels[i].name, name) == 0)
            return &system->channels[i];
    return NULL;
}

static void set_bell(struct commands *c, const struct command *command)
{
    struct wb_channel *channel = find_channel(wb_host_system(c->build->host), command->channel);
    const char *why = "";

    if (channel == NULL)
        why = "there is no such channel";
    else if (channel->bell == NULL)
        why = "its image has no bells: link the part `bells` (docs/boards.md)";
    else if (wb_channel_set_bell(channel, &command->bell) != WB_OK)
        why = "its bell makes no sense: see `doorbell` and `batch` in docs/app-toml.md";
    tell_set(c->teller, command->id, why[0] == '\0', why);
}

// ---- All of them --------------------------------------------------------------------------------

void commands_obey(struct commands *c, const struct command *command)
{
    struct wb_system *system = wb_host_system(c->build->host);

    switch (command->verb) {
    case COMMAND_STATUS:
        tell_status(c->teller, system);
        break;
    case COMMAND_MIGRATE:
        migrate(c, command);
        break;
    case COMMAND_POLICY:
        set_policy(c, command);
        break;
    case COMMAND_RATE:
        wb_system_set_rate(system, command->rate_millihz);
        tell_set(c->teller, command->id, true, "");
        break;
    case COMMAND_CHANNEL:
        set_bell(c, command);
        break;
    case COMMAND_STOP:
        wb_system_stop(system);
        break;
    case COMMAND_KILL:
        c->killed = true;
        wb_host_kill(c->build->host);
        break;
    case COMMAND_DECISION:
        take_decision(c, command, NULL);
        break;
    case COMMAND_SAVE:
        break;
    }
}

void commands_refuse(struct commands *c, const struct command *command, const char *why)
{
    if (command->verb == COMMAND_MIGRATE)
        tell_migrated(c->teller, command->id, NULL, command->core, WB_ERR_INVAL, why);
    if (command->verb == COMMAND_POLICY || command->verb == COMMAND_RATE ||
        command->verb == COMMAND_CHANNEL)
        tell_set(c->teller, command->id, false, why);
    if (command->verb == COMMAND_DECISION)
        take_decision(c, command, why);
}
