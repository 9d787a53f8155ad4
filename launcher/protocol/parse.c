// SPDX-License-Identifier: Apache-2.0
#include "parse.h"

#include <string.h>

enum { VERSION = 2 };

static bool take_command(const struct parser *parser, const struct place *place, yyjson_val *value,
                         void *to);

// ---- The tables ---------------------------------------------------------------------------------

static const struct field point_fields[] = {
    FIELD(wb_point, "hz", UINT64, hz, NEEDED),
    FIELD(wb_point, "active_uw", UINT32, active_uw, NEEDED),
    FIELD(wb_point, "idle_uw", UINT32, idle_uw, NEEDED),
};
static const struct object point = OBJECT_OF(wb_point, point_fields);

static const struct field core_fields[] = {
    FIELD(plan_core, "cpu", UINT32, cpu, NEEDED),
    FIELD(plan_core, "kind", UINT32, kind, .most = WB_KINDS_MAX - 1),
    LIST(plan_core, "points", OBJECT, points, n_points, .object = &point),
    FIELD(plan_core, "start", UINT32, start, OPTIONAL),
    FIELD(plan_core, "to_completion", BOOL, to_completion, OPTIONAL),
};
static const struct object core = OBJECT_OF(plan_core, core_fields);

static const struct field param_fields[] = {
    FIELD(plan_param, "key", TEXT, key, NEEDED),
    FIELD(plan_param, "text", TEXT, text, NEEDED),
    LIST(plan_param, "numbers", NUMBER, numbers, n_numbers, OPTIONAL),
};
static const struct object param = OBJECT_OF(plan_param, param_fields);

static const char *const doorbells[] = { "interrupt", "polling", "adaptive", NULL };
static const struct field channel_fields[] = {
    FIELD(wb_channel_config, "name", TEXT, name, NEEDED),
    FIELD(wb_channel_config, "slots", UINT32, slots, NEEDED),
    FIELD(wb_channel_config, "slot_bytes", UINT32, slot_bytes, NEEDED),
    FIELD(wb_channel_config, "initial", UINT32, initial, OPTIONAL),
    FIELD(wb_channel_config, "mailbox", BOOL, mailbox, OPTIONAL),
    FIELD(wb_channel_config, "answers", BOOL, answers, OPTIONAL),
    FIELD(wb_channel_config, "claims_at_start", BOOL, claims_at_start, OPTIONAL),
    FIELD(wb_channel_config, "internal", BOOL, internal, OPTIONAL),
    FIELD(wb_channel_config, "doorbell", WORD, notify.doorbell, .words = doorbells),
    FIELD(wb_channel_config, "batch", UINT32, notify.batch, OPTIONAL),
    FIELD(wb_channel_config, "within_us", UINT32, notify.within_us, .most = WB_WITHIN_MAX_US),
};
static const struct object channel = OBJECT_OF(wb_channel_config, channel_fields);

static const char *const distributions[] = { "constant", "uniform", "normal", "exponential", NULL };
static const struct field work_fields[] = {
    FIELD(wb_work_config, "distribution", WORD, distribution, NEEDED, .words = distributions),
    FIELD(wb_work_config, "spread_ppm", UINT32, spread_ppm, OPTIONAL),
    FIELD(wb_work_config, "working_bytes", UINT64, working_bytes, OPTIONAL),
    FIELD(wb_work_config, "traffic_bytes", UINT64, traffic_bytes, OPTIONAL),
    FIELD(wb_work_config, "firings", UINT64, firings, OPTIONAL),
    LIST(wb_work_config, "cycles", UINT64, cycles, n_cycles, NEEDED),
};
static const struct object work = OBJECT_OF(wb_work_config, work_fields);

static const char *const kinds_of_objects[] = { "mutex",     "condition", "barrier",
                                                "semaphore", "timer",     NULL };
static const struct field object_fields[] = {
    FIELD(wb_object_config, "name", TEXT, name, NEEDED),
    FIELD(wb_object_config, "kind", WORD, kind, NEEDED, .words = kinds_of_objects),
    FIELD(wb_object_config, "value", UINT32, value, OPTIONAL),
    FIELD(wb_object_config, "most", UINT32, most, OPTIONAL),
};
static const struct object script_object = OBJECT_OF(wb_object_config, object_fields);

static const char *const script_verbs[] = {
    "run",   "runtime",    "memory",    "sleep",    "delay", "timer", "lock", "unlock",
    "wait",  "signal",     "broadcast", "barrier",  "take",  "give",  "send", "receive",
    "yield", "checkpoint", "migrate",   "priority", "exit",  "loop",  "end",  NULL
};
static const struct field event_fields[] = {
    FIELD(wb_script_event, "verb", WORD, verb, NEEDED, .words = script_verbs),
    FIELD(wb_script_event, "object", UINT32, object, OPTIONAL),
    FIELD(wb_script_event, "other", UINT32, other, OPTIONAL),
    FIELD(wb_script_event, "is_firing", BOOL, is_firing, OPTIONAL),
    FIELD(wb_script_event, "is_absolute", BOOL, is_absolute, OPTIONAL),
    FIELD(wb_script_event, "is_checkpoint", BOOL, is_checkpoint, OPTIONAL),
    FIELD(wb_script_event, "amount", UINT64, amount, OPTIONAL),
    LIST(wb_script_event, "numbers", UINT64, numbers, n_numbers, OPTIONAL),
    FIELD(wb_script_event, "place", TEXT, place, OPTIONAL),
};
static const struct object script_event = OBJECT_OF(wb_script_event, event_fields);

static const struct field script_fields[] = {
    LIST(wb_script_config, "events", OBJECT, events, n_events, NEEDED, .object = &script_event),
    LIST(wb_script_config, "ports", TEXT, ports, n_ports, OPTIONAL),
    FIELD(wb_script_config, "timers", UINT32, n_timers, OPTIONAL),
};
static const struct object script = OBJECT_OF(wb_script_config, script_fields);

static const char *const modes[] = { "handoff", "replicate", "recreate", NULL };
static const struct field task_fields[] = {
    FIELD(plan_task, "name", TEXT, config.name, NEEDED),
    FIELD(plan_task, "index", UINT32, config.index, OPTIONAL),
    FIELD(plan_task, "entry", TEXT, entry, NEEDED),
    FIELD(plan_task, "mode", WORD, config.mode, NEEDED, .words = modes),
    FIELD(plan_task, "core", UINT32, config.core, OPTIONAL),
    FIELD(plan_task, "cores", UINT32, config.cores, OPTIONAL),
    FIELD(plan_task, "priority", UINT32, config.priority, .most = 31),
    FIELD(plan_task, "stack_bytes", UINT64, config.stack_bytes, NEEDED),
    FIELD(plan_task, "heap_bytes", UINT64, config.heap_bytes, OPTIONAL),
    FIELD(plan_task, "migratable", BOOL, config.migratable, OPTIONAL),
    FIELD(plan_task, "restart", BOOL, config.restart, OPTIONAL),
    FIELD(plan_task, "period_ns", UINT64, config.period_ns, OPTIONAL),
    FIELD(plan_task, "deadline_ns", UINT64, config.deadline_ns, OPTIONAL),
    FIELD(plan_task, "offset_ns", UINT64, config.offset_ns, OPTIONAL),
    FIELD(plan_task, "rate_millihz", UINT32, config.rate_millihz, OPTIONAL),
    FIELD(plan_task, "period_rest", UINT32, config.period_rest, OPTIONAL),
    FIELD(plan_task, "offset_rest", UINT32, config.offset_rest, OPTIONAL),
    FIELD(plan_task, "jitter_ns", UINT64, config.jitter_ns, OPTIONAL),
    FIELD(plan_task, "gap_ns", UINT64, config.gap_ns, OPTIONAL),
    FIELD(plan_task, "follows_rate", BOOL, config.follows_rate, OPTIONAL),
    FIELD(plan_task, "moves_at_waits", BOOL, config.moves_at_waits, OPTIONAL),
    FIELD(plan_task, "checkpoint_every", UINT32, config.checkpoint_every, OPTIONAL),
    FIELD(plan_task, "replay", BOOL, config.replay, OPTIONAL),
    FIELD(plan_task, "work", POINTER, work, .object = &work),
    FIELD(plan_task, "script", UINT32, script, OPTIONAL),
    FIELD(plan_task, "weight", UINT32, weight, .most = 1 << 20),
};
static const struct object task = OBJECT_OF(plan_task, task_fields);

static const char *const directions[] = { "in", "out", NULL };
_Static_assert(WB_IN == 0 && WB_OUT == 1, "the order of the words");
static const struct field port_fields[] = {
    FIELD(plan_port, "task", UINT32, task, NEEDED),
    FIELD(plan_port, "direction", WORD, direction, NEEDED, .words = directions),
    FIELD(plan_port, "name", TEXT, name, NEEDED),
    FIELD(plan_port, "index", UINT32, index, OPTIONAL),
    FIELD(plan_port, "channel", UINT32, channel, NEEDED),
    FIELD(plan_port, "rate", UINT32, rate, NEEDED),
};
static const struct object port = OBJECT_OF(plan_port, port_fields);

static const struct field policy_fields[] = {
    FIELD(plan_policy, "name", TEXT, name, NEEDED),
    LIST(plan_policy, "params", TEXT, params, n_params, OPTIONAL),
};
static const struct object policy = OBJECT_OF(plan_policy, policy_fields);

// A row of the table policy, with the lengths of its lists.
struct counted_row {
    struct wb_table_row row;
    uint32_t n_points, n_cores;
};

static const struct field row_fields[] = {
    FIELD(counted_row, "rate_millihz", UINT64, row.rate_millihz, NEEDED),
    LIST(counted_row, "points", UINT32, row.points, n_points, NEEDED),
    LIST(counted_row, "cores", UINT32, row.cores, n_cores, NEEDED),
};
static const struct object row = OBJECT_OF(counted_row, row_fields);

static const struct field at_fields[] = {
    FIELD(plan_at, "at_ns", UINT64, at_ns, NEEDED),
    FIELD(plan_at, "every_ns", UINT64, every_ns, OPTIONAL),
    FIELD(plan_at, "command", OTHER, command, NEEDED, .take = take_command),
};
static const struct object at = OBJECT_OF(plan_at, at_fields);

static const struct field restore_fields[] = {
    FIELD(plan_sim, "path", TEXT, restore, NEEDED),
    FIELD(plan_sim, "id", TEXT, restore_id, NEEDED),
};
static const struct object restore = OBJECT_OF(plan_sim, restore_fields);

static const struct field limit_fields[] = {
    FIELD(plan_sim, "until_ns", UINT64, until_ns, OPTIONAL),
    FIELD(plan_sim, "events", UINT64, events, OPTIONAL),
};
static const struct object limit = OBJECT_OF(plan_sim, limit_fields);

struct message {
    struct plan plan;
    uint32_t version, n_rows;
    const struct counted_row *rows;
};

static const char *const transports[] = { "auto", "alias", "buffer", NULL };
static const char *const frequencies[] = { "none", "emulate", "cpufreq", NULL };
static const struct field plan_fields[] = {
    FIELD(message, "version", UINT32, version, NEEDED),
    FIELD(message, "module", TEXT, plan.module, NEEDED),
    FIELD(message, "program", TEXT, plan.program, OPTIONAL),
    FIELD(message, "record", TEXT, plan.record, OPTIONAL),
    FIELD(message, "journal", TEXT, plan.journal, OPTIONAL),
    FIELD(message, "clients", TEXT, plan.clients, OPTIONAL),
    FIELD(message, "memory_bytes", UINT64, plan.memory_bytes, OPTIONAL),
    FIELD(message, "shared_bytes", UINT64, plan.shared_bytes, .most = WB_SHARED_MAX),
    FIELD(message, "spin_ns", UINT64, plan.spin_ns, OPTIONAL),
    FIELD(message, "offer_ns", UINT64, plan.offer_ns, OPTIONAL),
    FIELD(message, "transport", WORD, plan.transport, .words = transports),
    FIELD(message, "frequency", WORD, plan.frequency, .words = frequencies),
    FIELD(message, "models_compute", BOOL, plan.models_compute, OPTIONAL),
    FIELD(message, "seed", UINT64, plan.seed, OPTIONAL),
    LIST(message, "cores", OBJECT, plan.cores, plan.n_cores, NEEDED, .object = &core),
    LIST(message, "params", OBJECT, plan.params, plan.n_params, .object = &param),
    LIST(message, "channels", OBJECT, plan.channels, plan.n_channels, .object = &channel),
    LIST(message, "tasks", OBJECT, plan.tasks, plan.n_tasks, NEEDED, .object = &task),
    LIST(message, "ports", OBJECT, plan.ports, plan.n_ports, .object = &port),
    LIST(message, "objects", OBJECT, plan.objects, plan.n_objects, .object = &script_object),
    LIST(message, "scripts", OBJECT, plan.scripts, plan.n_scripts, .object = &script),
    FIELD(message, "agents_ns", UINT64, plan.agents_ns, .most = INT64_MAX),
    FIELD(message, "coordinator", UINT32, plan.coordinator, OPTIONAL),
    FIELD(message, "policy", OBJECT, plan.policy, .object = &policy),
    LIST(message, "rows", OBJECT, rows, n_rows, .object = &row),
    FIELD(message, "rate_millihz", UINT32, plan.rate_millihz, OPTIONAL),
    FIELD(message, "platform", TEXT, plan.sim.platform, OPTIONAL),
    LIST(message, "commands", OBJECT, plan.sim.commands, plan.sim.n_commands, .object = &at),
    FIELD(message, "restore", OBJECT, plan.sim, .object = &restore),
    FIELD(message, "limit", OBJECT, plan.sim, .object = &limit),
};
static const struct object whole_plan = OBJECT_OF(message, plan_fields);

static const struct field start_fields[] = {
    FIELD(plan_start, "plan", TEXT, plan, NEEDED),
    FIELD(plan_start, "record", BOOL, record, OPTIONAL),
    FIELD(plan_start, "rate_millihz", UINT32, rate_millihz, OPTIONAL),
    FIELD(plan_start, "watchdog_ms", UINT32, watchdog_ms, OPTIONAL),
    FIELD(plan_start, "policy", OBJECT, policy, .object = &policy),
    LIST(plan_start, "params", OBJECT, params, n_params, .object = &param),
};
static const struct object whole_start = OBJECT_OF(plan_start, start_fields);

static const struct field command_fields[] = {
    FIELD(command, "id", TEXT, id, NEEDED),
    FIELD(command, "task", TEXT, task, NEEDED),
    FIELD(command, "index", UINT32, index, NEEDED),
    FIELD(command, "core", UINT32, core, NEEDED),
    FIELD(command, "timeout_ms", UINT64, timeout_ms, NEEDED),
};
static const struct field set_policy_fields[] = {
    FIELD(command, "id", TEXT, id, NEEDED),
    FIELD(command, "policy", OBJECT, policy, .object = &policy),
};
static const struct field set_rate_fields[] = {
    FIELD(command, "id", TEXT, id, NEEDED),
    FIELD(command, "millihz", UINT32, rate_millihz, NEEDED),
};
static const struct field set_notify_fields[] = {
    FIELD(command, "id", TEXT, id, NEEDED),
    FIELD(command, "channel", TEXT, channel, NEEDED),
    FIELD(command, "doorbell", WORD, notify.doorbell, .words = doorbells),
    FIELD(command, "batch", UINT32, notify.batch, OPTIONAL),
    FIELD(command, "within_us", UINT32, notify.within_us, .most = WB_WITHIN_MAX_US),
};
static const struct field save_fields[] = {
    FIELD(command, "path", TEXT, path, NEEDED),
    FIELD(command, "id", TEXT, id, NEEDED),
};

static const struct field move_fields[] = {
    FIELD(wb_move, "task", UINT32, task, NEEDED),
    FIELD(wb_move, "core", UINT32, core, NEEDED),
};
static const struct object move = OBJECT_OF(wb_move, move_fields);

static const struct field set_point_fields[] = {
    FIELD(wb_set_point, "core", UINT32, core, NEEDED),
    FIELD(wb_set_point, "point", UINT32, point, NEEDED),
};
static const struct object set_point = OBJECT_OF(wb_set_point, set_point_fields);

static const struct field decision_fields[] = {
    LIST(command, "moves", OBJECT, moves, n_moves, .object = &move),
    LIST(command, "points", OBJECT, points, n_points, .object = &set_point),
};

static const struct {
    const char *name;
    struct object object;
} verbs[] = {
    [COMMAND_STATUS] = { "status", { sizeof(struct command), 0, NULL } },
    [COMMAND_MIGRATE] = { "migrate", OBJECT_OF(command, command_fields) },
    [COMMAND_POLICY] = { "policy", OBJECT_OF(command, set_policy_fields) },
    [COMMAND_RATE] = { "rate", OBJECT_OF(command, set_rate_fields) },
    [COMMAND_CHANNEL] = { "channel", OBJECT_OF(command, set_notify_fields) },
    [COMMAND_STOP] = { "stop", { sizeof(struct command), 0, NULL } },
    [COMMAND_KILL] = { "kill", { sizeof(struct command), 0, NULL } },
    [COMMAND_SAVE] = { "save", OBJECT_OF(command, save_fields) },
    [COMMAND_DECISION] = { "decision", OBJECT_OF(command, decision_fields) },
};

// ---- Messages -----------------------------------------------------------------------------------

// The only member of an object names what it is. NULL: it has none, or more.
static yyjson_val *only_member(yyjson_val *value, const char **name)
{
    yyjson_obj_iter iter = yyjson_obj_iter_with(value);
    yyjson_val *key = yyjson_obj_size(value) == 1 ? yyjson_obj_iter_next(&iter) : NULL;

    *name = yyjson_get_str(key);
    return yyjson_obj_iter_get_val(key);
}

static bool take_command(const struct parser *parser, const struct place *place, yyjson_val *value,
                         void *to)
{
    struct command *command = to;
    struct place member = { .in = place };
    yyjson_val *members = only_member(value, &member.name);

    for (size_t i = 0; member.name != NULL && i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(verbs[i].name, member.name) == 0) {
            command->verb = (enum command_verb)i;
            return object_take(parser, &member, &verbs[i].object, members, command);
        }
    return object_refuse(parser, member.name != NULL ? &member : place, "is no command");
}

static yyjson_val *read_message(const struct parser *parser, const char *line, size_t bytes)
{
    yyjson_read_err error;
    // Its reader takes no constant text, and changes it only if told to.
    char *text = (char *)(uintptr_t)line;
    yyjson_doc *doc = yyjson_read_opts(text, bytes, YYJSON_READ_NOFLAG, parser->memory, &error);

    if (doc == NULL)
        object_refuse(parser, NULL, "at column %lu: %s", (unsigned long)error.pos + 1, error.msg);
    return yyjson_doc_get_root(doc);
}

static bool count_rows(const struct parser *parser, struct message *message)
{
    struct plan *plan = &message->plan;
    struct wb_table_row *rows = object_allocate(parser, message->n_rows, sizeof *rows);

    for (uint32_t i = 0; rows != NULL && i < message->n_rows; i++) {
        const struct counted_row *counted = &message->rows[i];
        if (counted->n_points != plan->n_cores || counted->n_cores != plan->n_tasks)
            return object_refuse(
                parser, &(struct place){ .name = "rows" },
                "a row has not as many points as cores, or not as many cores as tasks");
        rows[i] = counted->row;
    }
    plan->rows = rows;
    plan->n_rows = message->n_rows;
    return rows != NULL;
}

bool parse_plan(const yyjson_alc *memory, const char *line, size_t bytes, struct plan *plan,
                struct parse_error *error)
{
    struct room room = { 0 };
    const struct parser parser = { .memory = memory, .room = &room, .error = error };
    struct place place = { .name = "plan" };
    struct message message = { .plan = { .spin_ns = WB_FOREVER } };
    yyjson_val *root = read_message(&parser, line, bytes), *members;
    struct plan_error invalid;

    if (root == NULL)
        return false;
    members = only_member(root, &place.name);
    if (place.name == NULL || strcmp(place.name, "plan") != 0)
        return object_refuse(&parser, NULL, "the first message is no plan");
    if (yyjson_get_uint(yyjson_obj_get(members, "version")) != VERSION)
        return object_refuse(&parser, &place, "is not of version %d, which this helper takes",
                             VERSION);
    if (!object_take(&parser, &place, &whole_plan, members, &message) ||
        !count_rows(&parser, &message))
        return false;
    if (!plan_check(&message.plan, &invalid))
        return object_refuse(&parser, &(struct place){ .in = &place, .name = invalid.key }, "%s",
                             invalid.text);
    *plan = message.plan;
    return true;
}

bool parse_command(const yyjson_alc *memory, const char *line, size_t bytes,
                   struct command *command, struct parse_error *error)
{
    const struct parser parser = { .memory = memory, .error = error };
    yyjson_val *root = read_message(&parser, line, bytes);

    *command = (struct command){ .id = "" };
    return root != NULL && take_command(&parser, NULL, root, command);
}

bool parse_start(const yyjson_alc *memory, const char *line, size_t bytes, struct plan_start *start,
                 struct parse_error *error)
{
    const struct parser parser = { .memory = memory, .error = error };
    yyjson_val *root = read_message(&parser, line, bytes), *members;
    struct place place = { .name = NULL };

    *start = (struct plan_start){ .record = false };
    if (root == NULL)
        return false;
    members = only_member(root, &place.name);
    if (place.name == NULL || strcmp(place.name, "start") != 0)
        return object_refuse(&parser, NULL, "the message is no start");
    return object_take(&parser, &place, &whole_start, members, start);
}
