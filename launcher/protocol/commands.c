// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "choose.h"

struct request {  // a migration, or the start of a kernel, that the command waits for
    char *id;
    struct wb_task *task;  // NULL: the kernel of the core is started again
    uint32_t core, number;
    struct request *next;
};

// ---- Migrations ---------------------------------------------------------------------------------

static void forget_request(struct request *request)
{
    if (request != NULL)
        free(request->id);
    free(request);
}

static bool is_asked(const struct commands *c, const struct wb_task *task)
{
    for (const struct request *request = c->requests; request != NULL; request = request->next)
        if (request->task == task)
            return true;
    return false;
}

// The memory for the answer comes first: a request that stands is answered.
static enum wb_status ask_migration(struct commands *c, const struct command *command,
                                    struct wb_task *task)
{
    // The next request would end over the outcome of one that is not told yet.
    commands_emit_outcomes(c, false);
    if (is_asked(c, task))
        return WB_ERR_BUSY;
    struct request *request = calloc(1, sizeof *request);
    char *id = request != NULL ? strdup(command->id) : NULL;
    enum wb_status status = WB_ERR_NOMEM;
    uint32_t number = 0;
    if (id != NULL)
        status = wb_migration_begin(task, command->core, command->timeout_ms * 1000000, &number);
    if (request != NULL)
        *request = (struct request){ id, task, command->core, number, c->requests };
    if (status == WB_OK)
        c->requests = request;
    else
        forget_request(request);
    return status;
}

static void migrate(struct commands *c, const struct command *command)
{
    struct wb_task *task = wb_task_find(c->build->app, command->task, command->index);
    const uint32_t core = command->core;

    if (task != NULL && wb_task_stays(task) && wb_task_core(task) == core &&
        !wb_migration_pending(task)) {
        emit_migrated(c->teller, command->id, task, core, WB_OK, NULL);
        return;
    }
    const enum wb_status status = task != NULL ? ask_migration(c, command, task) : WB_ERR_INVAL;
    if (status != WB_OK)
        emit_migrated(c->teller, command->id, task, core, status, NULL);
}

void commands_emit_outcomes(struct commands *c, bool end)
{
    for (struct request **link = &c->requests; *link != NULL;) {
        struct request *request = *link;
        const bool is_migration = request->task != NULL;
        const enum wb_status status =
            is_migration ? wb_migration_outcome(request->task, request->number) : WB_ERR_EMPTY;
        if (!is_migration || (status == WB_ERR_EMPTY && !end)) {
            link = &request->next;
            continue;
        }
        // One that is under way at the end of the run comes to none.
        emit_migrated(c->teller, request->id, request->task, request->core,
                      status == WB_ERR_EMPTY ? WB_ERR_GONE : status, NULL);
        *link = request->next;
        forget_request(request);
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
    emit_set(c->teller, command->id, ok, why);
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

static void set_notify(struct commands *c, const struct command *command)
{
    struct wb_channel *channel = find_channel(wb_host_system(c->build->host), command->channel);
    const char *why = "";

    if (channel == NULL)
        why = "there is no such channel";
    else if (channel->notify == NULL)
        why = "its image has no doorbells: link the part `notify` (docs/run-on-a-board.md)";
    else if (wb_channel_set_notify_policy(channel, &command->notify) != WB_OK)
        why = "its doorbell is invalid: see `doorbell` and `batch` in docs/app-toml.md";
    emit_set(c->teller, command->id, why[0] == '\0', why);
}

// ---- Kernels that are started again -------------------------------------------------------------

// The memory for the answer comes first, as above.
static void restart(struct commands *c, const struct command *command)
{
    struct request *request = calloc(1, sizeof *request);
    char *id = request != NULL ? strdup(command->id) : NULL;
    const char *why = "there is no memory for it";

    if (request != NULL)
        *request = (struct request){ .id = id, .core = command->core, .next = c->requests };
    if (id != NULL && wb_host_restart(c->build->host, command->core, &why) == WB_OK) {
        c->requests = request;
        return;
    }
    emit_set(c->teller, command->id, false, why);
    forget_request(request);
}

// `core`: WB_CORE_NONE for all.
static void answer_restarts(struct commands *c, uint32_t core, const char *why)
{
    for (struct request **link = &c->requests; *link != NULL;) {
        struct request *request = *link;
        if (request->task != NULL || (core != WB_CORE_NONE && request->core != core)) {
            link = &request->next;
            continue;
        }
        emit_set(c->teller, request->id, why == NULL, why != NULL ? why : "");
        *link = request->next;
        forget_request(request);
    }
}

void commands_take_event(struct commands *c, const struct wb_host_event *event)
{
    if (event->kind == WB_HOST_RESTARTED)
        answer_restarts(c, event->core, NULL);
    else if (event->kind == WB_HOST_DIED && (!event->returns || event->why != NULL))
        answer_restarts(c, event->core, event->why != NULL ? event->why : "it was killed again");
    else if (event->kind == WB_HOST_ENDED)
        answer_restarts(c, WB_CORE_NONE, "the run has ended");
}

// ---- All of them --------------------------------------------------------------------------------

void commands_obey(struct commands *c, const struct command *command)
{
    struct wb_system *system = wb_host_system(c->build->host);

    switch (command->verb) {
    case COMMAND_STATUS:
        emit_status(c->teller, system);
        break;
    case COMMAND_MIGRATE:
        migrate(c, command);
        break;
    case COMMAND_POLICY:
        set_policy(c, command);
        break;
    case COMMAND_RATE:
        wb_system_set_rate(system, command->rate_millihz);
        emit_set(c->teller, command->id, true, "");
        break;
    case COMMAND_CHANNEL:
        set_notify(c, command);
        break;
    case COMMAND_RESTART:
        restart(c, command);
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
        emit_migrated(c->teller, command->id, NULL, command->core, WB_ERR_INVAL, why);
    if (command->verb == COMMAND_POLICY || command->verb == COMMAND_RATE ||
        command->verb == COMMAND_CHANNEL || command->verb == COMMAND_RESTART)
        emit_set(c->teller, command->id, false, why);
    if (command->verb == COMMAND_DECISION)
        take_decision(c, command, why);
}
