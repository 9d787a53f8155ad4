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

// ---- The same in numbers ------------------------------------------------------------------------

// As 16 hexadecimal digits, the byte of the lowest value first.
static void put_number(FILE *out, int64_t value)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * sizeof value];

    for (size_t i = 0; i < sizeof value; i++) {
        const unsigned int byte = (unsigned int)((uint64_t)value >> (8 * i)) & 255;
        text[2 * i] = digits[byte >> 4];
        text[2 * i + 1] = digits[byte & 15];
    }
    fwrite(text, sizeof text, 1, out);
}

static void put_core(FILE *out, const struct wb_snapshot_core *c, const struct wb_core *of,
                     uint64_t now_ns)
{
    put_number(out, c->up);
    put_number(out, c->point);
    put_number(out, c->busy_ppm);
    put_number(out, c->load_ppm);
    put_number(out, c->temperature_mc);
    put_number(out, (int64_t)wb_host_core_energy(of, now_ns));
}

static void put_task(FILE *out, const struct wb_snapshot_task *t, const struct wb_task *of)
{
    put_number(out, t->core);
    put_number(out, t->last_core);
    put_number(out, t->movable);
    put_number(out, t->not_on);
    put_number(out, t->load_ppm);
    put_number(out, (int64_t)t->here_ns);
    put_number(out, (int64_t)t->away_ns);
    put_number(out, (int64_t)t->migration_ns);
    put_number(out, (int64_t)wb_counter_get(&of->stats.jobs));
    put_number(out, (int64_t)wb_counter_get(&of->stats.misses));
}

static void emit_numbers(const struct wb_snapshot *snapshot)
{
    const struct wb_system *system = wb_host_system(asker->build.host);
    FILE *out = asker->teller.file;

    fputs("{\"seen\":\"", out);
    put_number(out, (int64_t)snapshot->now_ns);
    put_number(out, (int64_t)snapshot->rate_millihz);
    for (uint32_t i = 0; i < snapshot->n_cores; i++)
        put_core(out, &snapshot->cores[i], system->cores[i], snapshot->now_ns);
    for (uint32_t i = 0; i < snapshot->n_tasks; i++)
        put_task(out, &snapshot->tasks[i], &system->tasks[i]);
    fputs("\"}\n", out);
    fflush(out);
}

// ---- The answer ---------------------------------------------------------------------------------

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
    asker->lines.most = DECISION_BYTES;
    if (params[0] != 0)
        emit_numbers(snapshot);
    else
        emit_snapshot(snapshot);
    awaited = decision;
    // Other commands are obeyed meanwhile.
    while (awaited != NULL && !asker->lines.closed && !asker->commands.killed)
        helper_take_commands(asker);
    awaited = NULL;
}

static const struct wb_policy_param asked_params[] = {
    { "numbers", "tell what is seen in numbers, with totals", 0, 0, 1 },
};

__attribute__((visibility("default"))) const struct wb_policy wb_policy_asked = {
    .name = "asked",
    .help = "asks the program that started the simulation",
    .n_params = 1,
    .params = asked_params,
    .decide = decide_by_asking,
};
