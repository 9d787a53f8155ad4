// SPDX-License-Identifier: Apache-2.0
// The simulation stands still while it waits for a decision, so virtual time knows nothing of how
// long that takes.
#include "asked.h"

#include "wb/policy.h"

extern const struct wb_policy wb_policy_asked;

static struct helper *asker;
static struct wb_decision *awaited;  // NULL: nobody waits for one

static void tell_core(struct members *out, yyjson_mut_val *cores, const struct wb_snapshot_core *c)
{
    struct members core = element(out, cores);

    flag(&core, "up", c->up);
    number(&core, "kind", c->kind);
    yyjson_mut_val *points = list(&core, "points_hz");
    for (uint32_t i = 0; i < c->n_points; i++)
        yyjson_mut_arr_add_uint(out->doc, points, c->points[i].hz);
    number(&core, "point", c->point);
    number(&core, "busy_ppm", c->busy_ppm);
    number(&core, "load_ppm", c->load_ppm);
    if (c->temperature_mc == WB_NO_TEMPERATURE)
        nothing(&core, "temperature_mc");
    else
        negative(&core, "temperature_mc", c->temperature_mc);
}

static void tell_task(struct members *out, yyjson_mut_val *tasks, const struct wb_snapshot_task *t)
{
    struct members task = element(out, tasks);

    text(&task, "name", t->name);
    number(&task, "index", t->index);
    number(&task, "core", t->core);
    number(&task, "last_core", t->last_core);
    flag(&task, "movable", t->movable);
    number(&task, "not_on", t->not_on);
    number(&task, "load_ppm", t->load_ppm);
    number(&task, "here_ns", t->here_ns);
    number(&task, "away_ns", t->away_ns);
    number(&task, "migration_ns", t->migration_ns);
}

static void tell_snapshot(const struct wb_snapshot *snapshot)
{
    struct members *out = tell_begin(&asker->teller);

    number(out, "now_ns", snapshot->now_ns);
    number(out, "period_ns", snapshot->period_ns);
    number(out, "rate_millihz", snapshot->rate_millihz);
    yyjson_mut_val *cores = list(out, "cores");
    for (uint32_t i = 0; i < snapshot->n_cores; i++)
        tell_core(out, cores, &snapshot->cores[i]);
    yyjson_mut_val *tasks = list(out, "tasks");
    for (uint32_t i = 0; i < snapshot->n_tasks; i++)
        tell_task(out, tasks, &snapshot->tasks[i]);
    tell_finish(&asker->teller, "decide");
}

static void take(const struct command *command, struct wb_decision *decision)
{
    for (uint32_t i = 0; i < command->n_moves; i++)
        wb_decide_move(decision, command->moves[i].task, command->moves[i].core);
    for (uint32_t i = 0; i < command->n_points; i++)
        wb_decide_point(decision, command->points[i].core, command->points[i].point);
}

// One that is malformed decides nothing, as one that cannot be carried out.
static void tell_malformed(const char *why)
{
    struct wb_advice advice = { .time_ns = wb_kernel_now_ns(),
                                .policy = &wb_policy_asked,
                                .core = wb_kernel_core() };

    snprintf(advice.text, sizeof advice.text, "%s: ignored", why);
    tell_advice(&asker->teller, &advice);
}

static void decided(const struct command *command, const char *why)
{
    if (awaited == NULL)
        return;
    if (why == NULL)
        take(command, awaited);
    else
        tell_malformed(why);
    awaited = NULL;
}

void asked_by(struct helper *helper)
{
    asker = helper;
    helper->commands.decided = decided;
}

static void decide(const struct wb_snapshot *snapshot, const int64_t *params,
                   struct wb_decision *decision)
{
    (void)params;
    tell_snapshot(snapshot);
    awaited = decision;
    // Other commands are obeyed meanwhile.
    while (awaited != NULL && !asker->lines.closed && !asker->commands.killed)
        helper_take_commands(asker);
    awaited = NULL;
}

__attribute__((visibility("default"))) const struct wb_policy wb_policy_asked = {
    .name = "asked",
    .help = "who started the simulation decides",
    .decide = decide,
};
