// SPDX-License-Identifier: Apache-2.0
// The plan: what its parser takes, what it refuses and how it says so, that no input breaks it, and
// that a plan of constant tables builds the same system.

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "kernel_stub.h"
#include "layout.h"
#include "lines.h"
#include "parse.h"
#include "wb/wb.h"

#define ONES "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"

static const char good[] =
    "{\"plan\":{\"version\":2,\"module\":\"/tmp/with space/radio.so\",\"record\":\"/tmp/run\","
    "\"journal\":\"/tmp/run/frequencies\",\"memory_bytes\":65536,\"shared_bytes\":2097152,"
    "\"spin_ns\":null,\"offer_ns\":50000000,\"transport\":\"buffer\",\"frequency\":\"emulate\","
    "\"models_compute\":true,\"seed\":18446744073709551615,"
    "\"cores\":[{\"cpu\":0,\"kind\":0,\"points\":[{\"hz\":100000000,\"active_uw\":84000,"
    "\"idle_uw\":8400},{\"hz\":500000000,\"active_uw\":1000000,\"idle_uw\":100000}],\"start\":1},"
    "{\"cpu\":1,\"kind\":1}],"
    "\"params\":[{\"key\":\"gains\",\"text\":\"[1,2]\",\"numbers\":[1,2.5]},"
    "{\"key\":\"empty\",\"text\":\"\"}],"
    "\"channels\":[{\"name\":\"a_b\",\"slots\":14,\"slot_bytes\":4096,\"initial\":0,"
    "\"mailbox\":false,\"answers\":true,\"claims_at_start\":true}],"
    "\"tasks\":[{\"name\":\"bpf\",\"index\":2,\"entry\":\"band_pass\",\"mode\":\"replicate\","
    "\"core\":1,\"priority\":8,\"stack_bytes\":65536,\"heap_bytes\":262144,\"migratable\":true,"
    "\"restart\":false,\"period_ns\":1000000,\"deadline_ns\":1000000,\"offset_ns\":8000000,"
    "\"follows_rate\":true,\"moves_at_waits\":true,\"checkpoint_every\":5,\"replay\":true,"
    "\"work\":{\"distribution\":\"normal\",\"spread_ppm\":200000,\"working_bytes\":16384,"
    "\"traffic_bytes\":4096,\"firings\":100,\"cycles\":[0,1000]},\"script\":1,\"weight\":335}],"
    "\"ports\":[{\"task\":0,\"direction\":\"in\",\"name\":\"in\",\"index\":0,\"channel\":0,"
    "\"rate\":3}],"
    "\"objects\":[{\"name\":\"s\",\"kind\":\"semaphore\",\"value\":2,\"most\":3}],"
    "\"scripts\":[{\"events\":[{\"verb\":\"run\",\"is_checkpoint\":true,\"numbers\":[0,7],"
    "\"place\":\"line 3\"},{\"verb\":\"give\",\"object\":0},{\"verb\":\"exit\"}],"
    "\"ports\":[\"in\"],\"timers\":2}],"
    "\"agents_ns\":10000000,\"coordinator\":1,"
    "\"policy\":{\"name\":\"table\",\"params\":[\"limit=700000\",\"delay=5\"]},"
    "\"rows\":[{\"rate_millihz\":450000,\"points\":[0,2],\"cores\":[1]},"
    "{\"rate_millihz\":900000,\"points\":[4,4],\"cores\":[0]}],\"rate_millihz\":450000}}";

// A plan and the memory it lies in.
struct parsed {
    yyjson_alc *memory;
    struct plan plan;
    struct parse_error error;
};

static bool parse(struct parsed *parsed, const char *text)
{
    *parsed = (struct parsed){ .memory = yyjson_alc_dyn_new() };
    return parse_plan(parsed->memory, text, strlen(text), &parsed->plan, &parsed->error);
}

static void forget(struct parsed *parsed)
{
    yyjson_alc_dyn_free(parsed->memory);
}

// The good plan with one text of it replaced by another.
static char *replaced(const char *from, const char *to)
{
    const char *at = strstr(good, from);
    char *text;

    CHECK(at != NULL);
    CHECK(asprintf(&text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from)) > 0);
    return text;
}

static bool takes(const char *from, const char *to)
{
    struct parsed parsed;
    char *text = replaced(from, to);
    const bool taken = parse(&parsed, text);

    forget(&parsed);
    free(text);
    return taken;
}

static void refuses(const char *from, const char *to, const char *key, const char *why)
{
    struct parsed parsed;
    char *text = replaced(from, to);

    CHECK(!parse(&parsed, text));
    if (strcmp(parsed.error.key, key) != 0 || strstr(parsed.error.text, why) == NULL)
        fprintf(stderr, "%s: `%s` %s\n", to, parsed.error.key, parsed.error.text);
    CHECK(strcmp(parsed.error.key, key) == 0);
    CHECK(strstr(parsed.error.text, why) != NULL);
    forget(&parsed);
    free(text);
}

TEST(a_whole_plan_is_taken_word_for_word)
{
    struct parsed parsed;
    const struct plan *plan = &parsed.plan;

    CHECK(parse(&parsed, good));
    CHECK(plan->n_cores == 2 && plan->cores[1].cpu == 1);
    CHECK(strcmp(plan->module, "/tmp/with space/radio.so") == 0);
    CHECK(plan->spin_ns == WB_FOREVER && plan->memory_bytes == 65536);
    CHECK(plan->shared_bytes == 2097152);
    CHECK(plan->n_params == 2 && plan->params[0].n_numbers == 2);
    CHECK(plan->params[0].numbers[1] > 2.4 && plan->params[0].numbers[1] < 2.6);
    CHECK(plan->params[1].text[0] == '\0');
    CHECK(plan->channels[0].slots == 14 && plan->channels[0].slot_bytes == 4096);
    CHECK(plan->tasks[0].config.index == 2 && plan->tasks[0].config.offset_ns == 8000000);
    CHECK(strcmp(plan->tasks[0].entry, "band_pass") == 0);
    CHECK(plan->transport == WB_TRANSPORT_BUFFER);
    CHECK(plan->tasks[0].config.mode == WB_REPLICATE && plan->tasks[0].config.replay);
    CHECK(plan->tasks[0].config.checkpoint_every == 5 && plan->tasks[0].config.moves_at_waits);
    CHECK(plan->cores[0].n_points == 2 && plan->cores[0].points[1].hz == 500000000);
    CHECK(plan->cores[0].start == 1 && plan->cores[1].n_points == 0);
    CHECK(plan->cores[0].points[0].active_uw == 84000 && plan->cores[0].points[0].idle_uw == 8400);
    CHECK(plan->frequency == FREQUENCY_EMULATE);
    CHECK(strcmp(plan->journal, "/tmp/run/frequencies") == 0);
    CHECK(plan->cores[0].kind == 0 && plan->cores[1].kind == 1 && plan_system(plan).kinds == 2);
    CHECK(plan->models_compute && plan->seed == UINT64_MAX);
    forget(&parsed);
}

TEST(scripts_and_what_they_have_in_common_are_taken_word_for_word)
{
    struct parsed parsed;
    const struct plan *plan = &parsed.plan;

    CHECK(parse(&parsed, good));
    CHECK(plan->n_objects == 1 && plan->objects[0].kind == WB_OBJECT_SEMAPHORE);
    CHECK(plan->objects[0].value == 2 && plan->objects[0].most == 3);
    CHECK(plan->n_scripts == 1 && plan->tasks[0].script == 1 && plan->tasks[0].weight == 335);
    const struct wb_script_config *script = &plan->scripts[0];
    CHECK(script->n_events == 3 && script->n_ports == 1 && script->n_timers == 2);
    CHECK(script->events[0].verb == WB_SCRIPT_RUN && script->events[0].is_checkpoint);
    CHECK(script->events[0].n_numbers == 2 && script->events[0].numbers[1] == 7);
    CHECK(strcmp(script->events[0].place, "line 3") == 0);
    CHECK(script->events[2].verb == WB_SCRIPT_EXIT);
    forget(&parsed);
}

TEST(work_ports_and_who_decides_are_taken_word_for_word)
{
    struct parsed parsed;
    const struct plan *plan = &parsed.plan;

    CHECK(parse(&parsed, good));
    const struct wb_work_config *work = plan->tasks[0].work;
    CHECK(work->distribution == WB_NORMAL && work->spread_ppm == 200000);
    CHECK(work->working_bytes == 16384 && work->traffic_bytes == 4096);
    CHECK(work->firings == 100 && work->n_cycles == 2);
    CHECK(work->cycles[0] == 0 && work->cycles[1] == 1000);
    CHECK(plan->ports[0].rate == 3 && plan->ports[0].direction == WB_IN);
    CHECK(plan->ports[0].task == 0 && plan->ports[0].channel == 0);
    CHECK(plan->channels[0].answers && plan->channels[0].claims_at_start);
    CHECK(plan->agents_ns == 10000000 && plan->coordinator == 1);
    CHECK(strcmp(plan->policy.name, "table") == 0 && plan->policy.n_params == 2);
    CHECK(strcmp(plan->policy.params[1], "delay=5") == 0 && plan->rate_millihz == 450000);
    CHECK(plan->n_rows == 2 && plan->rows[1].rate_millihz == 900000);
    CHECK(plan->rows[0].points[1] == 2 && plan->rows[0].cores[0] == 1);
    CHECK(plan_stacks_bytes(plan) == 0);
    CHECK(plan_private_bytes(plan) == 65536 + 262144 && plan_private_parts(plan) == 2);
    forget(&parsed);
}

TEST(a_pool_above_its_bound_is_refused)
{
    CHECK(takes("\"shared_bytes\":2097152", "\"shared_bytes\":1073741824"));
    refuses("\"shared_bytes\":2097152", "\"shared_bytes\":1073741825", "plan.shared_bytes",
            "to 1073741824");
}

TEST(a_plan_of_another_version_is_refused)
{
    refuses("\"version\":2", "\"version\":3", "plan", "version 2");
    refuses("\"version\":2,", "", "plan", "version 2");
    refuses("{\"plan\":", "{\"core\":", "", "not a plan");
}

TEST(a_plan_without_a_core_a_module_or_a_task_is_refused)
{
    refuses("\"module\":\"/tmp/with space/radio.so\",", "", "plan.module", "is missing");
    refuses("\"cores\":[", "\"cores\":[],\"hue\":[", "plan.hue", "is not known");
    CHECK(!takes("{\"plan\":{\"version\":2,",
                 "{\"plan\":{\"version\":2,\"module\":\"m\",\"cores\":[],\"tasks\":[]}}"));
}

TEST(what_is_malformed_is_refused_by_its_name)
{
    static const struct {
        const char *from, *to, *key;
    } bad[] = {
        { "\"cpu\":0", "\"cpu\":-1", "plan.cores[0].cpu" },
        { "\"cpu\":0", "\"cpu\":99999999999999999999", "plan.cores[0].cpu" },
        { "\"kind\":1", "\"kind\":32", "plan.cores[1].kind" },
        { "\"cpu\":1,", "", "plan.cores[1].cpu" },
        { "\"cpu\":1", "\"cpu\":1,\"cpu\":1", "plan.cores[1].cpu" },
        { "{\"cpu\":1,\"kind\":1}", "7", "plan.cores[1]" },
        { "\"/tmp/run\"", "\"\\u0000\"", "plan.record" },
        { "\"/tmp/run\"", "5", "plan.record" },
        { "\"key\":\"empty\",", "", "plan.params[1].key" },
        { "2.5", "\"2.5x\"", "plan.params[0].numbers[1]" },
        { "[1,2.5]", "1", "plan.params[0].numbers" },
        { "\"slots\":14,", "", "plan.channels[0].slots" },
        { "\"slots\":14", "\"slots\":5000000000", "plan.channels[0].slots" },
        { "\"mailbox\":false", "\"mailbox\":0", "plan.channels[0].mailbox" },
        { "start\":true", "start\":1", "plan.channels[0].claims_at_start" },
        { "\"entry\":\"band_pass\",", "", "plan.tasks[0].entry" },
        { "\"priority\":8", "\"priority\":32", "plan.tasks[0].priority" },
        { "\"weight\":335", "\"weight\":-1", "plan.tasks[0].weight" },
        { "\"replicate\"", "\"copy\"", "plan.tasks[0].mode" },
        { "\"direction\":\"in\"", "\"direction\":\"up\"", "plan.ports[0].direction" },
        { "\"semaphore\"", "\"lock\"", "plan.objects[0].kind" },
        { "\"give\"", "\"gift\"", "plan.scripts[0].events[1].verb" },
        { "[0,7]", "[0,-7]", "plan.scripts[0].events[0].numbers[1]" },
        { "\"script\":1", "\"script\":2", "plan.scripts" },
        { "\"rate\":3", "\"rate\":\"x\"", "plan.ports[0].rate" },
        { "\"channel\":0", "\"channel\":1", "plan.ports" },
        { "\"task\":0", "\"task\":1", "plan.ports" },
        { "\"models_compute\":true", "\"models_compute\":\"maybe\"", "plan.models_compute" },
        { "18446744073709551615", "-1", "plan.seed" },
        { "18446744073709551615", "18446744073709551616", "plan.seed" },
        { "\"normal\"", "\"even\"", "plan.tasks[0].work.distribution" },
        { "[0,1000]", "[]", "plan.tasks" },
        { "\"spread_ppm\":200000", "\"spread_ppm\":5000000000", "plan.tasks[0].work.spread_ppm" },
        { ",\"cycles\":[0,1000]", "", "plan.tasks[0].work.cycles" },
        { "[0,1000]", "[0,-1]", "plan.tasks[0].work.cycles[1]" },
        { "[0,1000]", "[" ONES "," ONES ",1]", "plan.tasks" },
        { ",\"idle_uw\":8400", "", "plan.cores[0].points[0].idle_uw" },
        { "84000", "5000000000", "plan.cores[0].points[0].active_uw" },
        { "8400}", "5000000000}", "plan.cores[0].points[0].idle_uw" },
        { "\"emulate\"", "\"turbo\"", "plan.frequency" },
        { "\"buffer\"", "\"post\"", "plan.transport" },
        { "\"agents_ns\":10000000", "\"agents_ns\":-1", "plan.agents_ns" },
        { "\"agents_ns\":10000000", "\"agents_ns\":1", "plan.agents_ns" },
        { "\"agents_ns\":10000000", "\"agents_ns\":18446744073709551615", "plan.agents_ns" },
        { "\"coordinator\":1", "\"coordinator\":5000000000", "plan.coordinator" },
        { "\"name\":\"table\"", "\"name\":\"\"", "plan.policy" },
        { "\"name\":\"table\",", "", "plan.policy.name" },
        { "\"delay=5\"", "5", "plan.policy.params[1]" },
        { "\"rate_millihz\":900000", "\"rate_millihz\":\"x\"", "plan.rows[1].rate_millihz" },
        { "[4,4]", "[4,-4]", "plan.rows[1].points[1]" },
        { "\"rate_millihz\":450000}}", "\"rate_millihz\":5000000000}}", "plan.rate_millihz" },
        { "\"version\":2", "\"version\":2,\"hello\":1", "plan.hello" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses(bad[i].from, bad[i].to, bad[i].key, "");
}

TEST(what_is_no_json_is_refused_with_its_column)
{
    refuses("{\"plan\":", "{\"plan\" ", "", "at column 9:");
    refuses("450000}}", "450000}", "", "at column ");
}

TEST(rows_and_coordinator_must_fit_cores_and_tasks)
{
    CHECK(takes("[4,4]", "[0,0]"));
    CHECK(!takes("[4,4]", "[0]"));
    CHECK(!takes("[4,4]", "[0,0,0]"));
    CHECK(!takes("\"cores\":[0]", "\"cores\":[2]"));
    CHECK(!takes("\"cores\":[0]", "\"cores\":[]"));
    CHECK(!takes("\"rate_millihz\":900000", "\"rate_millihz\":450000"));
    CHECK(!takes("\"coordinator\":1", "\"coordinator\":2"));
}

#define GUEST "{\"cpu\":1,\"kind\":1,\"guest\":1}]"
#define GUESTS "\"guests\":[{\"name\":\"board\",\"command\":[\"qemu\",\"-kernel\"],\"cores\":2}],"

TEST(cores_of_guests_are_taken_word_for_word)
{
    struct parsed parsed;
    const struct plan *plan = &parsed.plan;
    char *text = replaced("{\"cpu\":1,\"kind\":1}],", GUEST "," GUESTS "\"hash\":\"5f0c\",");

    CHECK(parse(&parsed, text));
    CHECK(plan->n_guests == 1 && strcmp(plan->hash, "5f0c") == 0);
    CHECK(plan->cores[0].guest == 0 && plan->cores[1].guest == 1 && plan->cores[1].cpu == 1);
    CHECK(strcmp(plan->guests[0].name, "board") == 0 && plan->guests[0].cores == 2);
    CHECK(plan->guests[0].n_command == 2 && strcmp(plan->guests[0].command[1], "-kernel") == 0);
    forget(&parsed);
    free(text);
    CHECK(parse(&parsed, good) && parsed.plan.n_guests == 0 && parsed.plan.hash == NULL);
    forget(&parsed);
}

TEST(cores_of_guests_must_fit_the_guests)
{
    static const char from[] = "{\"cpu\":1,\"kind\":1}],";
    static const char hash[] = "\"hash\":\"5f0c\",";
    const struct {
        const char *cores, *guests, *hash, *why;
    } bad[] = {
        { GUEST, "", hash, "a guest that does not exist" },
        { "{\"cpu\":2,\"guest\":1}]", GUESTS, hash, "a core of a guest that does not exist" },
        { "{\"cpu\":0,\"guest\":1,\"points\":[{\"hz\":1,\"active_uw\":1,\"idle_uw\":1}]}]", GUESTS,
          hash, "operating points" },
        { GUEST, GUESTS, "", "no hash" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *to;
        CHECK(asprintf(&to, "%s,%s%s", bad[i].cores, bad[i].guests, bad[i].hash) > 0);
        refuses(from, to, "plan.guests", bad[i].why);
        free(to);
    }
}

TEST(a_second_policy_is_refused)
{
    refuses("\"coordinator\":1", "\"policy\":{\"name\":\"static\"}", "plan.policy", "comes twice");
}

TEST(no_change_of_a_byte_breaks_the_parser)
{
    uint32_t random = 12345, accepted = 0;

    for (int round = 0; round < 20000; round++) {
        struct parsed parsed;
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (int i = 0; i < round % 4; i++) {
            random = random * 1664525 + 1013904223;
            text[(random >> 8) % strlen(text)] = (char)(random >> 16 | 1);
        }
        accepted += parse(&parsed, text);
        forget(&parsed);
    }
    CHECK(accepted >= 5000);
}

TEST(commands_are_taken_word_for_word_and_refused_by_their_name)
{
    static char memory[1 << 16];
    static const char move[] = "{\"migrate\":{\"id\":\"7\",\"task\":\"a b\",\"index\":1,"
                               "\"core\":2,\"timeout_ms\":3}}";
    static const char rate[] = "{\"rate\":{\"id\":\"8\",\"millihz\":\"fast\"}}";
    static const char decided[] = "{\"decision\":{\"moves\":[{\"task\":3,\"core\":1}],"
                                  "\"points\":[{\"core\":0,\"point\":2}]}}";
    static const char unknown[] = "{\"dance\":{}}";
    struct parse_error error;
    struct command command;
    yyjson_alc pool;

    yyjson_alc_pool_init(&pool, memory, sizeof memory);
    CHECK(parse_command(&pool, move, strlen(move), &command, &error));
    CHECK(command.verb == COMMAND_MIGRATE && strcmp(command.task, "a b") == 0);
    CHECK(command.index == 1 && command.core == 2 && command.timeout_ms == 3);
    CHECK(parse_command(&pool, decided, strlen(decided), &command, &error));
    CHECK(command.verb == COMMAND_DECISION && command.n_moves == 1 && command.n_points == 1);
    CHECK(command.moves[0].task == 3 && command.moves[0].core == 1);
    CHECK(command.points[0].core == 0 && command.points[0].point == 2);
    CHECK(!parse_command(&pool, rate, strlen(rate), &command, &error));
    CHECK(command.verb == COMMAND_RATE && strcmp(command.id, "8") == 0);
    CHECK(strcmp(error.key, "rate.millihz") == 0);
    CHECK(!parse_command(&pool, unknown, strlen(unknown), &command, &error));
    CHECK(strcmp(error.key, "dance") == 0);
}

// ---- Tables instead of text ---------------------------------------------------------------------

static int never_runs(struct wb_task *self)
{
    (void)self;
    return 0;
}

static const struct wb_point points[] = {
    { .hz = 100000000, .active_uw = 84000, .idle_uw = 8400 },
    { .hz = 500000000, .active_uw = 1000000, .idle_uw = 100000 }
};
static const uint64_t cycles[] = { 0, 1000 };
static const struct wb_work_config work = { .distribution = WB_NORMAL,
                                            .spread_ppm = 200000,
                                            .working_bytes = 16384,
                                            .traffic_bytes = 4096,
                                            .firings = 100,
                                            .cycles = cycles,
                                            .n_cycles = 2 };
static unsigned char stack[65536], heap[262144];
static const struct plan_core cores[] = { { .points = points, .n_points = 2, .start = 1 },
                                          { .cpu = 1, .kind = 1 } };
static const double gains[] = { 1, 2.5 };
static const struct plan_param params[] = {
    { .key = "gains", .text = "[1,2]", .numbers = gains, .n_numbers = 2 },
    { .key = "empty", .text = "" }
};
static const struct wb_channel_config channels[] = {
    { .name = "a_b", .slots = 14, .slot_bytes = 4096, .answers = true, .claims_at_start = true }
};
static const struct plan_task tasks[] = { { .config = { .name = "bpf",
                                                        .index = 2,
                                                        .entry = never_runs,
                                                        .stack = stack,
                                                        .heap = heap,
                                                        .mode = WB_REPLICATE,
                                                        .core = 1,
                                                        .priority = 8,
                                                        .stack_bytes = sizeof stack,
                                                        .heap_bytes = sizeof heap,
                                                        .migratable = true,
                                                        .period_ns = 1000000,
                                                        .deadline_ns = 1000000,
                                                        .offset_ns = 8000000,
                                                        .follows_rate = true,
                                                        .moves_at_waits = true,
                                                        .checkpoint_every = 5,
                                                        .replay = true },
                                            .work = &work,
                                            .script = 1,
                                            .weight = 335 } };
static const struct plan_port ports[] = { { .name = "in", .direction = WB_IN, .rate = 3 } };
static const uint32_t row_points[] = { 0, 2, 4, 4 }, row_cores[] = { 1, 0 };
static const struct wb_table_row rows[] = { { 450000, row_points, row_cores },
                                            { 900000, row_points + 2, row_cores + 1 } };
static const struct wb_object_config objects[] = {
    { .name = "s", .kind = WB_OBJECT_SEMAPHORE, .value = 2, .most = 3 }
};
static const uint64_t run_cycles[] = { 0, 7 };
static const struct wb_script_event script_events[] = {
    { .verb = WB_SCRIPT_RUN,
      .is_checkpoint = true,
      .numbers = run_cycles,
      .n_numbers = 2,
      .place = "line 3" },
    { .verb = WB_SCRIPT_GIVE },
    { .verb = WB_SCRIPT_EXIT },
};
static const char *const script_ports[] = { "in" };
static const struct wb_script_config scripts[] = {
    { .events = script_events, .ports = script_ports, .n_events = 3, .n_ports = 1, .n_timers = 2 }
};
static const struct plan tables = { .module = "",
                                    .record = "",
                                    .memory_bytes = 65536,
                                    .shared_bytes = 2097152,
                                    .spin_ns = WB_FOREVER,
                                    .offer_ns = 50000000,
                                    .seed = UINT64_MAX,
                                    .agents_ns = 10000000,
                                    .transport = WB_TRANSPORT_BUFFER,
                                    .models_compute = true,
                                    .coordinator = 1,
                                    .rate_millihz = 450000,
                                    .cores = cores,
                                    .params = params,
                                    .channels = channels,
                                    .tasks = tasks,
                                    .ports = ports,
                                    .rows = rows,
                                    .objects = objects,
                                    .scripts = scripts,
                                    .n_cores = 2,
                                    .n_params = 2,
                                    .n_channels = 1,
                                    .n_tasks = 1,
                                    .n_ports = 1,
                                    .n_rows = 2,
                                    .n_objects = 1,
                                    .n_scripts = 1 };

static wb_task_entry *entry_of(void *state, const char *symbol)
{
    (void)state;
    return strcmp(symbol, "band_pass") == 0 ? never_runs : NULL;
}

static bool memory_of(void *state, struct wb_task_config *config)
{
    (void)state;
    config->stack = stack;
    config->heap = heap;
    return true;
}

enum { SYSTEM_BYTES = 32 << 20 };

// Lays out a plan in zeroed memory, always at the same address.
static unsigned char *lay_out(const struct plan *plan, const struct layout_host *host)
{
    static _Alignas(4096) unsigned char memory[SYSTEM_BYTES];
    struct wb_system_config config = plan_system(plan);
    struct plan_error error;
    unsigned char *copy = malloc(sizeof memory);

    config.core_align = WB_LINE_BYTES;
    stub_use(memory, sizeof memory);
    struct wb_system *system = stub_open(&config);
    memset(heap, 0, sizeof heap);
    CHECK(layout_system(system, plan, host, &error));
    CHECK(wb_port_find_any(&system->tasks[0], "in", 0)->rate == 3);
    CHECK(system->cores[0]->n_points == 2 && system->control.rows[1].cores[0] == 0);
    CHECK(copy != NULL);
    return memcpy(copy, memory, sizeof memory);
}

TEST(what_a_board_is_told_to_begin_with_is_taken)
{
    static char memory[1 << 14];
    static const char all[] =
        "{\"start\":{\"plan\":\"5f0c\",\"record\":true,\"rate_millihz\":25000,"
        "\"watchdog_ms\":300,\"policy\":{\"name\":\"balance\","
        "\"params\":[\"delay=5\"]},\"params\":[{\"key\":\"plays\","
        "\"text\":\"2\",\"numbers\":[2]}]}}";
    static const char *const bad[] = { "{\"start\":{\"plan\":\"\",\"record\":1}}",
                                       "{\"start\":{}}",
                                       "{\"start\":7}",
                                       "{\"status\":{}}",
                                       "tart\":{}}",
                                       "" };
    static const char least[] = "{\"start\":{\"plan\":\"5f0c\"}}";
    struct plan_start start;
    struct parse_error error;
    yyjson_alc pool;

    yyjson_alc_pool_init(&pool, memory, sizeof memory);
    CHECK(parse_start(&pool, all, strlen(all), &start, &error));
    CHECK(strcmp(start.plan, "5f0c") == 0);
    CHECK(start.record && start.rate_millihz == 25000 && start.watchdog_ms == 300);
    CHECK(strcmp(start.policy.name, "balance") == 0 && start.policy.n_params == 1);
    CHECK(start.n_params == 1 && strcmp(start.params[0].key, "plays") == 0);
    CHECK(start.params[0].numbers[0] == 2);
    CHECK(parse_start(&pool, least, strlen(least), &start, &error));
    CHECK(!start.record && start.policy.name == NULL && start.n_params == 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!parse_start(&pool, bad[i], strlen(bad[i]), &start, &error));
}

TEST(a_plan_has_a_core_of_this_machine_and_no_core_of_a_guest_twice)
{
    const struct plan_core own[] = { { .guest = 1 }, { .guest = 0 }, { .guest = 1 } };
    const struct plan_guest guest = { .name = "board", .cores = 2 };
    struct plan mixed = tables;
    struct plan_error error;

    mixed.cores = own, mixed.guests = &guest, mixed.n_guests = 1, mixed.hash = "5f0c";
    CHECK(plan_check(&mixed, &error));
    mixed.n_cores = 3;
    CHECK(!plan_check(&mixed, &error));
    CHECK(strcmp(error.key, "guests") == 0 && strstr(error.text, "the same core") != NULL);
    mixed.n_cores = 1, mixed.coordinator = 0, mixed.n_rows = 0;
    CHECK(!plan_check(&mixed, &error));
    CHECK(strcmp(error.key, "guests") == 0 && strstr(error.text, "this machine's") != NULL);
}

TEST(a_plan_of_constant_tables_builds_the_same_system)
{
    struct parsed parsed;

    CHECK(parse(&parsed, good));
    unsigned char *of_text =
        lay_out(&parsed.plan, &(struct layout_host){ .entry = entry_of, .memory = memory_of });
    forget(&parsed);
    unsigned char *of_tables = lay_out(&tables, &(struct layout_host){ 0 });
    CHECK(memcmp(of_text, of_tables, SYSTEM_BYTES) == 0);
    free(of_text);
    free(of_tables);
}

static struct wb_system *open_for(const struct plan *plan)
{
    static _Alignas(4096) unsigned char memory[SYSTEM_BYTES];
    struct wb_system_config config = plan_system(plan);

    config.core_align = WB_LINE_BYTES;
    stub_use(memory, sizeof memory);
    return stub_open(&config);
}

static struct plan_error refused(const struct plan *plan, const struct layout_host *host)
{
    struct plan_error error;

    CHECK(!layout_system(open_for(plan), plan, host, &error));
    return error;
}

static const char *without_room(void *state, struct wb_channel *channel)
{
    CHECK((channel->charged & ~WB_INTERNAL) == channel->slot_bytes);
    return state;
}

TEST(a_channel_in_internal_memory_is_refused_where_there_is_none_or_no_room)
{
    struct wb_channel_config near[] = { channels[0] };
    struct plan plan = tables;
    char why[] = "there is no room";

    near[0].internal = true;
    plan.channels = near;
    struct plan_error error = refused(&plan, &(struct layout_host){ 0 });
    CHECK(strcmp(error.kind, "unable") == 0 && strcmp(error.key, "a_b") == 0);
    error = refused(&plan, &(struct layout_host){ .state = why, .internal = without_room });
    CHECK(strcmp(error.text, why) == 0);
    struct wb_system *system = open_for(&plan);
    CHECK(layout_system(system, &plan, &(struct layout_host){ .internal = without_room }, &error));
    CHECK(system->channels[0].charged == (system->channels[0].slot_bytes | WB_INTERNAL));
}

// The plan of tables on kernels that cannot do something.
static struct plan_error refused_without(const struct plan *plan, uint32_t cannot)
{
    struct wb_system *system = open_for(plan);
    struct plan_error error;

    stub.cannot = cannot;
    CHECK(!layout_system(system, plan, &(struct layout_host){ 0 }, &error));
    CHECK(system->n_tasks == 0 && system->cores[0]->n_points == 0);
    CHECK(strcmp(error.kind, "unable") == 0);
    return error;
}

static bool is_of_task(const struct plan_error *error, const char *key, const char *words)
{
    return strcmp(error->task, "bpf") == 0 && error->index == 2 && strcmp(error->key, key) == 0 &&
           strstr(error->text, words) != NULL;
}

TEST(what_the_kernels_cannot_do_is_refused_by_the_task_that_wants_it)
{
    struct plan_task recreated = tasks[0];
    struct plan plan = tables;

    struct plan_error error = refused_without(&tables, WB_CAN_REPLICATE);
    CHECK(is_of_task(&error, "mode", "no private memory to replicate it in"));
    error = refused_without(&tables, WB_CAN_CAPTURE);
    CHECK(is_of_task(&error, "checkpoint_every", "keep no images"));
    recreated.config.mode = WB_RECREATE;
    recreated.config.moves_at_waits = false;
    plan.tasks = &recreated;
    error = refused_without(&plan, WB_CAN_RECREATE);
    CHECK(is_of_task(&error, "mode", "no programs of tasks to recreate it from"));
    recreated.config.mode = WB_HANDOFF;
    recreated.config.cores = 3;
    error = refused_without(&plan, WB_CAN_SHARE);
    CHECK(is_of_task(&error, "cores", "share no tasks"));
}

static const char *no_program(void *state, struct wb_task *task, const char *symbol)
{
    CHECK(strcmp(task->name, "bpf") == 0 && strcmp(symbol, "band_pass") == 0);
    return state;
}

TEST(a_task_that_is_recreated_has_no_waits_that_are_checkpoints)
{
    struct plan_task recreated = tasks[0];
    struct plan plan = tables;

    recreated.config.mode = WB_RECREATE;
    plan.tasks = &recreated;
    const struct plan_error error = refused(&plan, &(struct layout_host){ 0 });
    CHECK(strcmp(error.kind, "plan") == 0 && strcmp(error.key, "move") == 0);
    CHECK(strcmp(error.task, "bpf") == 0 && error.index == 2);
}

TEST(a_task_whose_program_is_refused_is_named_with_the_kernels_reason)
{
    char why[] = "symbol measure is unknown";
    const struct layout_host host = { .state = why, .recreates = no_program };
    struct plan_task recreated = tasks[0];
    struct plan plan = tables;

    recreated.config.mode = WB_RECREATE;
    recreated.config.moves_at_waits = false;
    recreated.config.replay = false;
    recreated.entry = "band_pass";
    plan.tasks = &recreated;
    const struct plan_error error = refused(&plan, &host);
    CHECK(strcmp(error.kind, "recreate") == 0 && strcmp(error.task, "bpf") == 0);
    CHECK(error.index == 2 && strcmp(error.key, "band_pass") == 0 && error.text == why);
}

TEST(operating_points_that_the_kernels_cannot_change_are_refused)
{
    const struct plan_error error = refused_without(&tables, WB_CAN_SET_POINTS);

    CHECK(strcmp(error.key, "points") == 0 && strcmp(error.task, "") == 0);
    CHECK(strstr(error.text, "cannot change the frequency of a core") != NULL);
}

// ---- How much memory they need ------------------------------------------------------------------

// One of each kind: what a plan can have in the arena.
static const struct wb_channel_config all_channels[] = {
    { .name = "ring", .slots = 14, .slot_bytes = 4096, .notify = { .within_us = 50 } },
    { .name = "box", .slots = 3, .slot_bytes = 100, .mailbox = true }
};
static const struct wb_object_config all_objects[] = {
    { .name = "s", .kind = WB_OBJECT_SEMAPHORE, .value = 2, .most = 3 },
    { .name = "b", .kind = WB_OBJECT_BARRIER, .value = 7 },
    { .name = "m", .kind = WB_OBJECT_MUTEX }
};
static const struct wb_task_config moved = { .core = 1,
                                             .migratable = true,
                                             .replay = true,
                                             .checkpoint_every = 5,
                                             .stack_bytes = 8192,
                                             .heap_bytes = 100000 };
static const struct plan_port all_ports[] = {
    { .task = 0, .channel = 0, .name = "out", .direction = WB_OUT, .rate = 1 },
    { .task = 1, .channel = 0, .name = "in", .direction = WB_IN, .rate = 1 },
    { .task = 1, .channel = 1, .name = "out", .direction = WB_OUT, .rate = 1 },
    { .task = 2, .channel = 1, .name = "in", .direction = WB_IN, .rate = 1 }
};
static const uint32_t all_cores[] = { 0, 1, 1 };
static const struct wb_table_row all_rows[] = { { 450000, row_points, all_cores } };

static struct plan plan_of_all(struct plan_task *three)
{
    static const char *const names[] = { "kept", "copied", "anew" };
    static const enum wb_mode modes[] = { WB_HANDOFF, WB_REPLICATE, WB_RECREATE };
    struct plan plan = tables;

    for (int i = 0; i < 3; i++) {
        three[i] = (struct plan_task){ .entry = names[i], .config = moved, .work = &work };
        three[i].config.name = names[i];
        three[i].config.mode = modes[i];
        three[i].script = i == 0;
    }
    plan.memory_bytes = 3000;
    plan.channels = all_channels;
    plan.objects = all_objects;
    plan.tasks = three;
    plan.ports = all_ports;
    plan.rows = all_rows;
    plan.n_channels = 2;
    plan.n_objects = plan.n_tasks = 3;
    plan.n_ports = 4;
    plan.n_rows = 1;
    return plan;
}

enum { RECREATED_BYTES = 1000 };

static wb_task_entry *any_entry(void *state, const char *symbol)
{
    (void)state;
    return symbol[0] != '\0' ? never_runs : NULL;
}

static bool give_memory(void *state, struct wb_task_config *config)
{
    (void)state;
    config->stack = stack;
    config->heap = config->mode == WB_REPLICATE ? heap : NULL;
    return true;
}

static const char *keep_recreated(void *state, struct wb_task *task, const char *symbol)
{
    (void)state;
    CHECK(strcmp(symbol, "anew") == 0);
    return wb_system_alloc(task->system, RECREATED_BYTES, 8) != NULL ? NULL : "no room";
}

static size_t counted(const struct plan *plan)
{
    static _Alignas(4096) unsigned char scratch[SYSTEM_BYTES];
    struct plan_error error;
    size_t bytes = 0;

    (void)open_for(plan);  // kernels that can do everything
    memset(scratch, 0, sizeof scratch);
    CHECK(layout_count(scratch, sizeof scratch, plan, RECREATED_BYTES, &bytes, &error));
    memset(scratch, 0, sizeof scratch);
    CHECK(!layout_count(scratch, wb_system_bytes(&(struct wb_system_config){ .cores = 1 }), plan,
                        RECREATED_BYTES, &bytes, &error));
    CHECK(strcmp(error.kind, "memory") == 0);
    return bytes;
}

// An arena with so many bytes left, from `skew` bytes after a whole line on.
static bool fits(const struct plan *plan, size_t bytes, size_t skew, struct plan_error *error)
{
    const struct layout_host host = { .entry = any_entry,
                                      .memory = give_memory,
                                      .recreates = keep_recreated };
    struct wb_system *system = open_for(plan);

    CHECK(wb_system_alloc(system, 0, WB_LINE_BYTES) != NULL);
    system->arena = (unsigned char *)wb_system_alloc(system, 0, WB_LINE_BYTES) + skew;
    system->arena_end = system->arena + bytes;
    if (!layout_system(system, plan, &host, error))
        return false;
    CHECK(wb_system_alloc(system, plan->memory_bytes, 1) != NULL);
    return wb_system_reserve(system);
}

TEST(an_arena_as_large_as_counted_suffices_and_a_smaller_one_does_not)
{
    struct plan_task three[3];
    const struct plan plan = plan_of_all(three);
    const size_t bytes = counted(&plan);
    struct plan_error error;

    for (size_t skew = 0; skew < WB_LINE_BYTES; skew++)
        CHECK(fits(&plan, bytes, skew, &error));
    CHECK(!fits(&plan, bytes - 3 * WB_LINE_BYTES, 0, &error));
    CHECK(strcmp(error.kind, "memory") == 0 && strstr(error.text, "`memory`") != NULL);
}

TEST(every_part_of_a_plan_is_counted)
{
    struct plan_task three[3];
    const struct plan all = plan_of_all(three);
    const size_t bytes = counted(&all);
    struct plan plan = all;

    plan.n_params = 0;
    CHECK(counted(&plan) < bytes);
    plan = all;
    plan.n_rows = 0;
    CHECK(counted(&plan) < bytes);
    plan = all;
    plan.n_scripts = 0;
    three[0].script = 0;
    CHECK(counted(&plan) < bytes);
    plan = plan_of_all(three);
    three[1].config.checkpoint_every = 0;
    CHECK(counted(&plan) + 2 * (size_t)(8192 + 100000) < bytes);
    plan = plan_of_all(three);
    three[2].config.mode = WB_HANDOFF;
    CHECK(counted(&plan) + RECREATED_BYTES / 2 < bytes + 2 * (size_t)8192 + 2 * WB_LINE_BYTES);
    plan = plan_of_all(three);
    three[0].config.heap_bytes += 5 * WB_LINE_BYTES;
    CHECK(counted(&plan) >= bytes + 5 * WB_LINE_BYTES);
    plan = plan_of_all(three);
    plan.memory_bytes += 5;
    CHECK(counted(&plan) == bytes + 5);
}

TEST(what_has_no_room_is_named)
{
    struct plan_task three[3];
    const struct plan plan = plan_of_all(three);
    struct plan_error error;

    CHECK(!fits(&plan, 20000, 0, &error));
    CHECK(strcmp(error.kind, "memory") == 0 && strcmp(error.task, "kept") == 0);
    CHECK(strcmp(error.text, "there is no room for its heap") == 0);
    CHECK(!fits(&plan, 100000 * 2 + 20000, 0, &error));
    CHECK(strcmp(error.kind, "memory") == 0 && strcmp(error.key, "ring") == 0);
    CHECK(!fits(&plan, 64, 0, &error) && strcmp(error.kind, "memory") == 0);
}

// ---- Lines --------------------------------------------------------------------------------------

TEST(lines_arrive_in_any_pieces)
{
    int ends[2];
    struct lines lines = { .most = 1 << 20 };
    static const char text[] = "one two\nthree\nfo";
    size_t bytes;

    CHECK(pipe(ends) == 0);
    lines.fd = ends[0];
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        CHECK(write(ends[1], &text[i], 1) == 1);
        lines_read(&lines);
    }
    CHECK(strcmp(lines_next(&lines, &bytes), "one two") == 0 && bytes == 7);
    CHECK(strcmp(lines_next(&lines, &bytes), "three") == 0 && bytes == 5);
    CHECK(lines_next(&lines, &bytes) == NULL);
    CHECK(write(ends[1], "ur\n", 3) == 3);
    lines_read(&lines);
    CHECK(strcmp(lines_next(&lines, &bytes), "four") == 0);
    CHECK(lines_next(&lines, &bytes) == NULL);
    close(ends[1]);
    lines_read(&lines);
    CHECK(lines.closed && lines_next(&lines, &bytes) == NULL);
    close(ends[0]);
    lines_free(&lines);
}

TEST(a_line_without_an_end_does_not_grow_for_ever)
{
    int ends[2];
    struct lines lines = { .most = 1 << 20 };
    static char chunk[4096];

    memset(chunk, 'a', sizeof chunk);
    CHECK(pipe(ends) == 0);
    lines.fd = ends[0];
    for (int i = 0; i < 1000 && !lines.closed; i++) {
        CHECK(write(ends[1], chunk, sizeof chunk) == sizeof chunk);
        lines_read(&lines);
    }
    CHECK(lines.closed && lines.room <= 1 << 20);
    close(ends[0]);
    close(ends[1]);
    lines_free(&lines);
}
