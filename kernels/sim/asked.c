// SPDX-License-Identifier: Apache-2.0
// The simulation stands still while it waits for a decision, so virtual time knows nothing of how
// long that takes.
#include "asked.h"

#include "wb/policy.h"

extern const struct wb_policy wb_policy_asked;

static struct helper *asker;
static struct wb_decision *awaited;  // NULL: nobody waits for one

// Of a line with a decision, which may move every task.
enum { DECISION_BYTES = 1 << 30 };

static void emit_core(struct members *out, const struct wb_snapshot_core *c)
{
    flag(out, "up", c->up);
    number(out, "kind", c->kind);
    yyjson_mut_val *points = list(out, "points_hz");
    for (uint32_t i = 0; i < c->n_points; i++)
        yyjson_mut_arr_add_uint(out->doc, points, c->points[i].hz);
    number(out, "point", c->point);
    number(out, "busy_ppm", c->busy_ppm);
    number(out, "load_ppm", c->load_ppm);
    if (c->temperature_mc == WB_NO_TEMPERATURE)
        nothing(out, "temperature_mc");
    else
        negative(out, "temperature_mc", c->temperature_mc);
}

static void emit_task(struct members *out, const struct wb_snapshot_task *t)
{
    text(out, "name", t->name);
    number(out, "index", t->index);
    number(out, "core", t->core);
    number(out, "last_core", t->last_core);
    flag(out, "movable", t->movable);
    number(out, "not_on", t->not_on);
    number(out, "load_ppm", t->load_ppm);
    number(out, "here_ns", t->here_ns);
    number(out, "away_ns", t->away_ns);
    number(out, "migration_ns", t->migration_ns);
}

// The lists are written as they are made: however long they are, one element needs memory.
static void emit_snapshot(const struct wb_snapshot *snapshot)
{
    struct teller *t = &asker->teller;

    fputs("{\"decide\":{\"cores\":[", t->file);
    for (uint32_t i = 0; i < snapshot->n_cores; i++) {
        fputs(i == 0 ? "" : ",", t->file);
        emit_core(emit_begin(t), &snapshot->cores[i]);
        emit_put(t, false);
    }
    fputs("],\"tasks\":[", t->file);
    for (uint32_t i = 0; i < snapshot->n_tasks; i++) {
        fputs(i == 0 ? "" : ",", t->file);
        emit_task(emit_begin(t), &snapshot->tasks[i]);
        emit_put(t, false);
    }
    fputs("],", t->file);
    struct members *out = emit_begin(t);
    number(out, "now_ns", snapshot->now_ns);
    number(out, "period_ns", snapshot->period_ns);
    number(out, "rate_millihz", snapshot->rate_millihz);
    emit_put(t, true);
    fputs("}\n", t->file);
    fflush(t->file);
}

static void take_decision(const struct command *command, struct wb_decision *decision)
{
    for (uint32_t i = 0; i < command->n_moves; i++)
        wb_decide_move(decision, command->moves[i].task, command->moves[i].core);
    for (uint32_t i = 0; i < command->n_points; i++)
        wb_decide_point(decision, command->points[i].core, command->points[i].point);
}

// One that is malformed decides nothing, as one that cannot be carried out.
static void emit_malformed(const char *why)
{
    struct wb_advice advice = { .time_ns = wb_kernel_now_ns(),
                                .policy = &wb_policy_asked,
                                .core = wb_kernel_core() };

    snprintf(advice.text, sizeof advice.text, "%s: ignored", why);
    emit_advice(&asker->teller, &advice);
}

static void decided(const struct command *command, const char *why)
{
    if (awaited == NULL)
        return;
    if (why == NULL)
        take_decision(command, awaited);
    else
        emit_malformed(why);
    awaited = NULL;
}

void asked_by(struct helper *helper)
{
    asker = helper;
    helper->commands.decided = decided;
}

static void decide_by_asking(const struct wb_snapshot *snapshot, const int64_t *params,
                             struct wb_decision *decision)
{
    (void)params;
    asker->lines.most = DECISION_BYTES;
    emit_snapshot(snapshot);
    awaited = decision;
    // Other commands are obeyed meanwhile.
    while (awaited != NULL && !asker->lines.closed && !asker->commands.killed)
        helper_take_commands(asker);
    awaited = NULL;
}

__attribute__((visibility("default"))) const struct wb_policy wb_policy_asked = {
    .name = "asked",
    .help = "asks the program that started the simulation",
    .decide = decide_by_asking,
};
