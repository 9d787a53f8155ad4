// SPDX-License-Identifier: Apache-2.0
#include "scripted.h"

#include "wb/launcher.h"
#include "wb/wb.h"

enum { WAIT_NS = 50000 };
enum { PICTURE, TAKEN, ROUND, N_OBJECTS };

static const struct wb_object_config objects[N_OBJECTS] = {
    [PICTURE] = { .name = "picture", .kind = WB_OBJECT_MUTEX },
    [TAKEN] = { .name = "taken", .kind = WB_OBJECT_CONDITION },
    [ROUND] = { .name = "round", .kind = WB_OBJECT_BARRIER, .value = 2 },
};

static const uint64_t cycles[] = { 500 };
static const char *const out[] = { "out" }, *const in[] = { "in" };

#define OF(a, ...)                                                                                 \
    {                                                                                              \
        .verb = WB_SCRIPT_##a, .is_checkpoint = true, .place = #a, __VA_ARGS__                     \
    }
#define RUN OF(RUN, .numbers = cycles, .n_numbers = 1)
#define LOOP(end) OF(LOOP, .other = end, .is_firing = true)
#define END OF(END, .is_firing = true)
#define EXIT OF(EXIT, .amount = 0)

static const struct wb_script_event camera[] = {
    LOOP(7),
    OF(LOCK, .object = PICTURE),
    RUN,
    OF(SEND, .amount = 1),
    OF(WAIT, .object = TAKEN, .other = PICTURE),
    OF(UNLOCK, .object = PICTURE),
    OF(TIMER, .amount = WAIT_NS, .other = WB_SCRIPT_NONE),
    END,
    EXIT,
};

static const struct wb_script_event decoder[] = {
    LOOP(6),
    OF(RECEIVE, .amount = 1),
    OF(LOCK, .object = PICTURE),
    RUN,
    OF(SIGNAL, .object = TAKEN),
    OF(UNLOCK, .object = PICTURE),
    END,
    EXIT,
};

static const struct wb_script_event worker[] = {
    LOOP(4), RUN, OF(BARRIER, .object = ROUND), OF(SLEEP, .amount = WAIT_NS), END, EXIT,
};

#define EVENTS(name) .events = name, .n_events = sizeof name / sizeof *name

static const struct wb_script_config scripts[] = {
    { EVENTS(camera), .ports = out, .n_ports = 1, .n_timers = 1 },
    { EVENTS(decoder), .ports = in, .n_ports = 1 },
    { EVENTS(worker) },
    { EVENTS(worker) },
};

static const char *const names[SCRIPTED] = { "camera", "decoder", "worker a", "worker b" };

// ---- Messages -----------------------------------------------------------------------------------

static void write_number(void *slot, uint32_t bytes, uint64_t number)
{
    (void)bytes;
    *(uint32_t *)slot = (uint32_t)number;
}

static bool read_number(const void *slot, uint32_t bytes, uint64_t number)
{
    (void)bytes;
    return *(const uint32_t *)slot == (uint32_t)number;
}

static const struct wb_messages messages = { .write = write_number, .read = read_number };

static int scripted(struct wb_task *self)
{
    return wb_script_run(self, &messages);
}

// ---- A system -----------------------------------------------------------------------------------

// Each script `turns` times, but for the decoder: a turn of the camera that was cut short comes
// twice.
static void give_script(struct harness *h, struct wb_task *task, struct wb_object *common,
                        uint32_t turns)
{
    struct wb_script_event events[16];
    struct wb_script_config config = scripts[task->id];
    struct wb_script *script;

    for (uint32_t i = 0; i < config.n_events; i++)
        events[i] = config.events[i];
    events[0].amount = config.events == decoder ? 0 : turns;
    config.events = events;
    CHECK(wb_script_add(harness_system(h), &config, common, N_OBJECTS, &script) == WB_OK);
    CHECK(wb_task_set_script(task, script) == WB_OK);
}

struct harness *scripted_open(uint32_t cores, uint32_t turns)
{
    struct harness *h = suite_open(cores, sizeof(uint64_t));
    struct wb_object *common;
    struct wb_task *tasks[SCRIPTED];

    CHECK(wb_objects_add(harness_system(h), objects, N_OBJECTS, &common) == WB_OK);
    for (uint32_t i = 0; i < SCRIPTED; i++) {
        tasks[i] = suite_task(h, &(struct wb_task_config){ .name = names[i],
                                                           .core = i % cores,
                                                           .priority = SUITE_PRIORITY + i,
                                                           .entry = scripted,
                                                           .migratable = true,
                                                           .moves_at_waits = i % 2 == 0,
                                                           .restart = true });
        give_script(h, tasks[i], common, turns);
    }
    suite_channel(h, &(struct wb_channel_config){ .name = "pictures", .slots = 2, .slot_bytes = 4 },
                  tasks[0], tasks[1]);
    return h;
}

uint64_t scripted_firings(struct harness *h, uint32_t task)
{
    return wb_counter_get(&harness_system(h)->tasks[task].stats.firings);
}
