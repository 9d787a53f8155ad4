// SPDX-License-Identifier: Apache-2.0
#include "parse.h"

#include <string.h>

enum { VERSION = 2 };

static bool take_command(const struct parser *parser, const struct place *place, yyjson_val *value,
                         void *to);

// ---- The tables ---------------------------------------------------------------------------------

// A row of the table policy, with the lengths of its lists.
struct counted_row {
    struct wb_table_row row;
    uint32_t n_points, n_cores;
};

struct message {
    struct plan plan;
    uint32_t version, n_rows;
    const struct counted_row *rows;
};

#include "plan_rows.inc"

static const struct field start_fields[] = {
    FIELD(plan_start, "plan", TEXT, plan, NEEDED),
    FIELD(plan_start, "record", BOOL, record, OPTIONAL),
    FIELD(plan_start, "rate_millihz", UINT32, rate_millihz, OPTIONAL),
    FIELD(plan_start, "watchdog_ms", UINT32, watchdog_ms, OPTIONAL),
    FIELD(plan_start, "policy", OBJECT, policy, .object = &policy_name_object),
    LIST(plan_start, "params", OBJECT, params, n_params, .object = &param_object),
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
    FIELD(command, "policy", OBJECT, policy, .object = &policy_name_object),
};
static const struct field set_rate_fields[] = {
    FIELD(command, "id", TEXT, id, NEEDED),
    FIELD(command, "millihz", UINT32, rate_millihz, NEEDED),
};
static const struct field restart_fields[] = {
    FIELD(command, "id", TEXT, id, NEEDED),
    FIELD(command, "core", UINT32, core, NEEDED),
};
static const struct field set_notify_fields[] = {
    FIELD(command, "id", TEXT, id, NEEDED),
    FIELD(command, "channel", TEXT, channel, NEEDED),
    FIELD(command, "doorbell", WORD, notify.doorbell, .words = doorbell_words),
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
    [COMMAND_RESTART] = { "restart", OBJECT_OF(command, restart_fields) },
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
    return object_refuse(parser, member.name != NULL ? &member : place, "is not a command");
}

// In `memory`, NULL: in its own until yyjson_doc_free().
static yyjson_doc *read_document(const struct parser *parser, const yyjson_alc *memory,
                                 const char *line, size_t bytes)
{
    yyjson_read_err error;
    // Its reader takes no constant text, and changes it only if told to.
    char *text = (char *)(uintptr_t)line;
    yyjson_doc *doc = yyjson_read_opts(text, bytes, YYJSON_READ_NOFLAG, memory, &error);

    if (doc == NULL)
        object_refuse(parser, NULL, "at column %lu: %s", (unsigned long)error.pos + 1, error.msg);
    return doc;
}

static yyjson_val *read_message(const struct parser *parser, const char *line, size_t bytes)
{
    return yyjson_doc_get_root(read_document(parser, parser->memory, line, bytes));
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
                "a row does not have a point for each core and a core for each task");
        rows[i] = counted->row;
    }
    plan->rows = rows;
    plan->n_rows = message->n_rows;
    return rows != NULL;
}

static bool take_plan(const struct parser *parser, yyjson_val *root, struct plan *plan)
{
    struct place place = { .name = "plan" };
    struct message message = { .plan = { .spin_ns = WB_FOREVER } };
    yyjson_val *members = only_member(root, &place.name);
    struct plan_error invalid;

    if (place.name == NULL || strcmp(place.name, "plan") != 0)
        return object_refuse(parser, NULL, "the first message is not a plan");
    if (yyjson_get_uint(yyjson_obj_get(members, "version")) != VERSION)
        return object_refuse(parser, &place, "is not of version %d, which this helper takes",
                             VERSION);
    if (!object_take(parser, &place, &plan_object, members, &message) ||
        !count_rows(parser, &message))
        return false;
    if (!plan_check(&message.plan, &invalid))
        return object_refuse(parser, &(struct place){ .in = &place, .name = invalid.key }, "%s",
                             invalid.text);
    *plan = message.plan;
    return true;
}

// The text of many tasks and its values take more than the plan, which stays as long as the run.
bool parse_plan(const yyjson_alc *memory, const char *line, size_t bytes, struct plan *plan,
                struct parse_error *error)
{
    struct room room = { 0 };
    const struct parser parser = { .memory = memory, .room = &room, .error = error };
    yyjson_doc *doc = read_document(&parser, NULL, line, bytes);
    const bool taken = doc != NULL && take_plan(&parser, yyjson_doc_get_root(doc), plan);

    yyjson_doc_free(doc);
    return taken;
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
        return object_refuse(&parser, NULL, "the message is not a start");
    return object_take(&parser, &place, &whole_start, members, start);
}
