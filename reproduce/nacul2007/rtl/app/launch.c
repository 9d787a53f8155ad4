// SPDX-License-Identifier: Apache-2.0
// Starts an application as a line on the serial line says, and tells what came of it:
//
//   MAPPING LANES PLAYS CYCLES PATIENCE
//
// MAPPING is 1 (all tasks on core 0), s (each on its core), d (on any), or A and so on (that task
// on core 0 by itself, all others on core 1). CYCLES: the end is after so many, and the line is
// `done N` and for each core `idle N`; 0: when all tasks are over, and the application says what
// came out. PATIENCE: for so many cycles a task waits for the core where it was; 0: it does not.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

enum { TASKS = RTOS_TASKS, STACK_BYTES = 4096, SHARED_BYTES = 192 * 1024, HEAP_BYTES = 32 * 1024 };
enum { LINE_BYTES = 64, ALIGN = 16 };

struct options {
    char mapping;
    uint32_t lanes, plays, cycles, patience;
};

struct wb_word wb_kernel_need_resched;

static struct wb_app *app;
static struct wb_task *tasks;
static volatile uint32_t alive;
static uint32_t used, heap_used;
static _Alignas(ALIGN) uint8_t stacks[TASKS][STACK_BYTES], heap[HEAP_BYTES];

// A program that reads its name has the range of addresses that several cores write to.
_Alignas(64) uint8_t app_shared_memory[SHARED_BYTES];

// ---- Memory -------------------------------------------------------------------------------------

void *app_shared(uint32_t bytes)
{
    void *at = app_shared_memory + used;

    used += (bytes + ALIGN - 1) & ~(ALIGN - 1U);
    if (used > SHARED_BYTES)
        soc_exit(RTOS_TOO_SMALL);
    return at;
}

void *wb_app_alloc(struct wb_app *of, size_t bytes)
{
    (void)of;
    return app_shared(bytes);
}

// No other task of this core comes in between, and no other core.
static uint32_t enter(void)
{
    uint32_t status;

    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(status)::"memory");
    soc_lock(&alive);
    return status;
}

static void leave(uint32_t status)
{
    soc_unlock(&alive);
    __asm__ volatile("csrw mstatus, %0" ::"r"(status) : "memory");
}

void *wb_memalign(size_t align, size_t bytes)
{
    // Tasks ask for a line of a PC's cache. Here a line has ALIGN bytes, and no type needs more.
    (void)align;
    const uint32_t status = enter();
    void *at = heap + heap_used;

    heap_used += (bytes + ALIGN - 1) & ~(ALIGN - 1U);
    const bool fits = heap_used <= HEAP_BYTES;
    leave(status);
    return fits ? at : NULL;
}

// ---- What the application asks for --------------------------------------------------------------

static struct app_param *param(const char *key)
{
    for (uint32_t i = 0; i < app_n_params; i++)
        if (strcmp(app_params[i].key, key) == 0)
            return &app_params[i];
    return NULL;
}

void app_set(const char *key, double number)
{
    param(key)->number = number;
}

const char *wb_param_text(const struct wb_app *of, const char *key, const char *fallback)
{
    const struct app_param *found = param(key);

    (void)of;
    return found && found->text ? found->text : fallback;
}

double wb_param_number(const struct wb_app *of, const char *key, double fallback)
{
    const struct app_param *found = param(key);

    (void)of;
    return found ? found->number : fallback;
}

double wb_param_element(const struct wb_app *of, const char *key, uint32_t index, double fallback)
{
    const struct app_param *found = param(key);

    (void)of;
    return found && index < found->n ? found->elements[index] : fallback;
}

struct wb_app *wb_task_app(const struct wb_task *self)
{
    return self->app;
}

void *wb_task_state(const struct wb_task *self)
{
    return self->state;
}

void wb_task_set_state(struct wb_task *self, void *state)
{
    self->state = state;
}

bool wb_compute(struct wb_task *self)
{
    (void)self;
    return true;
}

bool wb_stopping(const struct wb_task *self)
{
    (void)self;
    return false;
}

void wb_checkpoint_enter(void) {}

// ---- The ends -----------------------------------------------------------------------------------

static int put(char byte, FILE *file)
{
    const char text[2] = { byte };

    (void)file;
    soc_put(text);
    return 0;
}

static FILE line = FDEV_SETUP_STREAM(put, NULL, NULL, _FDEV_SETUP_WRITE);
FILE *const stderr = &line;

static void refuse(const char *why)
{
    soc_put(why);
    soc_put("\n");
    soc_exit(1);
}

void wb_task_fail(struct wb_task *self, const char *text)
{
    soc_put(self->about->name);
    soc_put(": ");
    refuse(text);
    for (;;) {}
}

void program_end(void)
{
    const uint32_t cores = soc_read(SOC_SYSTEM_BASE + SYSTEM_INFO) & 0xFF, done = app_done(app);
    uint32_t idle[4];

    for (uint32_t core = 0; core < cores; core++)
        idle[core] = soc_counter(core, SOC_COUNTER_ASLEEP);
    soc_put("done ");
    soc_put_number(done);
    for (uint32_t core = 0; core < cores; core++) {
        soc_put(" idle ");
        soc_put_number(idle[core]);
    }
    soc_put("\n");
    soc_exit(0);
}

static void run(void *argument)
{
    struct wb_task *self = argument;

    self->about->entry(self);
    for (uint32_t i = 0; i < self->n_ports; i++)
        wb_port_close(&self->ports[i]);
    const uint32_t status = enter();
    const uint32_t left = --alive;
    leave(status);
    if (left == 0) {
        if (wb_app_finish(app) != WB_OK)
            refuse(app->error);
        soc_exit(0);
    }
    rtos_exit();
}

// ---- The start ----------------------------------------------------------------------------------

static struct options read_options(void)
{
    char text[LINE_BYTES], *at = text;

    while (at < text + sizeof text - 1 && (*at = soc_get()) != '\n')
        at++;
    *at = '\0';
    at = text + 1;
    struct options options = { .mapping = text[0] };
    options.lanes = strtoul(at, &at, 10);
    options.plays = strtoul(at, &at, 10);
    options.cycles = strtoul(at, &at, 10);
    options.patience = strtoul(at, &at, 10);
    return options;
}

static void add_port(struct wb_task *task, struct app_link *link, const char *name, bool is_input)
{
    struct wb_port *port = &task->ports[task->n_ports];

    port->index = wb_port_count(task, name);
    port->name = name;
    port->is_input = is_input;
    port_open(port, link);
    task->n_ports++;
}

static void make_channels(void)
{
    for (uint32_t i = 0; i < app_n_channels; i++) {
        const struct app_channel *channel = &app_channels[i];
        struct app_link *link = app_link(channel);

        add_port(&tasks[channel->from], link, channel->out, false);
        add_port(&tasks[channel->to], link, channel->in, true);
    }
}

static uint32_t cores_of(uint32_t task, char mapping)
{
    if (mapping >= 'A' && mapping <= 'Z')
        return task == (uint32_t)(mapping - 'A') ? 1 : 2;
    if (mapping == 's')
        return app_tasks[task].cores;
    return mapping == 'd' ? RTOS_CORE_ALL : 1;
}

void program_setup(void)
{
    const struct options options = read_options();

    app_define(options.lanes);
    app_set("plays", options.plays);
    app = app_shared(sizeof *app);
    if (wb_app_setup(app) != WB_OK)
        refuse(app->error);
    tasks = app_shared(app_n_tasks * sizeof *tasks);
    for (uint32_t i = 0; i < app_n_tasks; i++)
        tasks[i] = (struct wb_task){ .about = &app_tasks[i], .app = app };
    make_channels();
    alive = app_n_tasks;
    if (options.patience > 0)
        rtos_prefer_last(options.patience);
    for (uint32_t i = 0; i < app_n_tasks; i++)
        rtos_task(run, &tasks[i], stacks[i], STACK_BYTES, cores_of(i, options.mapping));
    if (options.cycles > 0)
        rtos_end_after(options.cycles);
}
