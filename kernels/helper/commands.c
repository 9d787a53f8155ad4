// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "commands.h"

#include <stdlib.h>
#include <string.h>

#include "choose.h"
#include "tell.h"

struct asked {  // a migration that the command waits for
    char *id;
    struct wb_task *task;
    uint32_t core, number;
    struct asked *next;
};

// ---- Migrations ---------------------------------------------------------------------------------

static void ask(struct commands *c, const char *id, struct wb_task *task, uint32_t core)
{
    struct asked *asked = calloc(1, sizeof *asked);

    if (asked == NULL)
        return;
    *asked = (struct asked){ .id = strdup(id),
                             .task = task,
                             .core = core,
                             .number = wb_request_number(atomic_load(&task->request)),
                             .next = c->asked };
    c->asked = asked;
}

// migrate ID TASK INDEX CORE TIMEOUT_MS
static void migrate(struct commands *c, const struct words *w)
{
    const char *id = w->count > 1 ? w->word[1] : "";
    uint64_t index, core = 0, timeout_ms;
    struct wb_task *task = NULL;
    enum wb_status status = WB_ERR_INVAL;

    if (w->count == 6 && words_number(w->word[3], &index) && words_number(w->word[4], &core) &&
        words_number(w->word[5], &timeout_ms)) {
        task = wb_task_find(c->build->app, w->word[2], (uint32_t)index);
        if (task != NULL && wb_task_core(task) == core && !wb_migration_pending(task)) {
            tell_migrated(c->out, id, task, (uint32_t)core, WB_OK);
            return;
        }
        if (task != NULL)
            status = wb_migration_request(task, (uint32_t)core, timeout_ms * 1000000, NULL);
    }
    if (status == WB_OK)
        ask(c, id, task, (uint32_t)core);
    else
        tell_migrated(c->out, id, task, (uint32_t)core, status);
}

// True while the request that we made, and not a later one, is under way.
static bool is_under_way(const struct asked *asked)
{
    return wb_migration_pending(asked->task) &&
           wb_request_number(atomic_load(&asked->task->request)) == asked->number;
}

void commands_tell_outcomes(struct commands *c, bool end)
{
    for (struct asked **link = &c->asked; *link != NULL;) {
        struct asked *asked = *link;
        if (!end && is_under_way(asked)) {
            link = &asked->next;
            continue;
        }
        tell_migrated(c->out, asked->id, asked->task, asked->core,
                      (enum wb_status)atomic_load(&asked->task->outcome));
        *link = asked->next;
        free(asked->id);
        free(asked);
    }
}

// ---- Who decides --------------------------------------------------------------------------------

// policy ID [NAME [KEY=VALUE …]]
static void set_policy(struct commands *c, const struct words *w)
{
    struct wb_system *system = wb_host_system(c->build->host);
    char why[256] = "";
    bool ok = false;

    if (w->count >= 3)
        ok = choose_policy(system, c->build->module, w->word[2], w->word + 3, w->count - 3, why,
                           sizeof why);
    else
        // Refused without agents; then none decided before, either.
        ok = wb_system_set_policy(system, NULL, NULL) == WB_OK || wb_system_policy(system) == NULL;
    tell_set(c->out, w->count > 1 ? w->word[1] : "", ok, why);
}

// rate ID MILLIHZ
static void set_rate(struct commands *c, const struct words *w)
{
    const char *id = w->count > 1 ? w->word[1] : "";
    uint64_t rate_millihz;

    if (w->count != 3 || !words_number(w->word[2], &rate_millihz) || rate_millihz > UINT32_MAX) {
        tell_set(c->out, id, false, "it is no frame rate in thousandths");
        return;
    }
    wb_system_set_rate(wb_host_system(c->build->host), (uint32_t)rate_millihz);
    tell_set(c->out, id, true, "");
}

// ---- All of them --------------------------------------------------------------------------------

void commands_obey(struct commands *c, const struct words *w)
{
    const char *verb = w->word[0];

    if (strcmp(verb, "status") == 0)
        tell_status(c->out, wb_host_system(c->build->host));
    else if (strcmp(verb, "migrate") == 0)
        migrate(c, w);
    else if (strcmp(verb, "policy") == 0)
        set_policy(c, w);
    else if (strcmp(verb, "rate") == 0)
        set_rate(c, w);
    else if (strcmp(verb, "stop") == 0)
        wb_system_stop(wb_host_system(c->build->host));
    else if (strcmp(verb, "kill") == 0)
        wb_host_kill(c->build->host);
}
