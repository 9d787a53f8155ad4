// SPDX-License-Identifier: Apache-2.0
// The harness on a board: "outside" is the program of the first core, which a timer wakes in the
// place of that core's kernel, whatever this does: its interrupt is more urgent than any that
// FreeRTOS masks. It calls nothing of FreeRTOS, and goes on when that core's kernel has been
// killed.

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "FreeRTOS.h"
#include "board_a9.h"
#include "map.h"
#include "semphr.h"
#include "task.h"

enum {
    PERIOD_US = 1000,
    ARENA_BYTES = 16 << 20,
    STACK_BYTES = 64 << 10,
    WORLD_BYTES = 16 << 10,
    FOR_EVER_S = 3600,
};

const struct harness_sizes harness_sizes = { .memory_bytes = 8 << 20,
                                             .shared_bytes = 1 << 20,
                                             .stack_bytes = STACK_BYTES };

void outside_switch(void **save, void *load);
void board_clear(void *from, void *end);

static _Alignas(64) unsigned char arena[ARENA_BYTES] __attribute__((section(".gvm")));

struct part {
    uint32_t core;
    unsigned char *at;
    size_t bytes;
};

static struct harness {
    struct wb_system *system;
    void *stacks[HARNESS_TASKS];
    uint32_t stacks_used;
    struct part parts[2 * HARNESS_TASKS];
    uint32_t n_parts;
    size_t private_used;
    bool killed[MAP_CORES], told[MAP_CORES], started;
} h_only;

// The two programs of the first core, while they wait.
static void *outside_sp, *world_sp;
static _Alignas(8) unsigned char world_stack[WORLD_BYTES];

static struct wb_system *volatile the_system __attribute__((section(".gvm")));

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "conform: %s\n", what);
    exit(2);
}

static void expect_to_wait(uint32_t core)
{
    if (board_waits(core))
        return;
    fprintf(stderr, "conform: core %u has not booted: start all %u cores of the board\n",
            (unsigned int)core, (unsigned int)MAP_CORES);
    exit(2);
}

// ---- Two programs on the first core -------------------------------------------------------------

void board_outside(void)
{
    wb_freertos_outside(true);
    outside_switch(&world_sp, outside_sp);
    wb_freertos_outside(false);
}

static void go_on(void)
{
    if (h_only.killed[0])
        for (const uint64_t until_ns = board_now_ns() + PERIOD_US * 1000u;
             board_now_ns() < until_ns;)
            board_relax();
    else
        outside_switch(&outside_sp, world_sp);
}

static void run_kernel(uint32_t core)
{
    wb_freertos_run(the_system->cores[core]);
}

static void run_first_kernel(void)
{
    run_kernel(0);
}

// As outside_switch() leaves one: d8 to d15, r4 to r11, and where to go.
static void prepare_world(void)
{
    enum { WORDS = 16 + 9 };
    uint32_t *sp = (uint32_t *)(void *)(world_stack + WORLD_BYTES) - WORDS - 1;

    memset(sp, 0, WORDS * sizeof *sp);
    sp[WORDS - 1] = (uint32_t)run_first_kernel;
    world_sp = sp;
}

// ---- The harness --------------------------------------------------------------------------------

struct harness *harness_open(const struct harness_config *config)
{
    const struct wb_system_config system = {
        .cores = config->cores,
        .tasks = HARNESS_TASKS,
        .channels = HARNESS_CHANNELS,
        .ports = HARNESS_PORTS,
        .core_align = WB_LINE_BYTES,
        .shared_bytes = harness_sizes.shared_bytes,
        .record_events = 1024,
        .record_migrations = 1024,
        .offer_timeout_ns = config->offer_timeout_ns != 0 ? config->offer_timeout_ns
                                                          : FOR_EVER_S * UINT64_C(1000000000),
        .transport = config->transport,
        .agent_period_ns = config->agent_period_ns,
        .coordinator = config->coordinator,
    };
    void *stacks[HARNESS_TASKS];

    memcpy(stacks, h_only.stacks, sizeof stacks);
    h_only = (struct harness){ 0 };
    memcpy(h_only.stacks, stacks, sizeof stacks);
    board_clear(arena, arena + ARENA_BYTES);
    if (wb_system_init(&h_only.system, arena, sizeof arena, &system) != WB_OK)
        give_up("no globally visible memory");
    the_system = h_only.system;
    return &h_only;
}

struct wb_system *harness_system(struct harness *h)
{
    return h->system;
}

void *harness_stack(struct harness *h)
{
    void **stack = &h->stacks[h->stacks_used];

    if (h->stacks_used == HARNESS_TASKS)
        give_up("no room for a stack");
    if (*stack == NULL)
        *stack = board_stack(STACK_BYTES);
    if (*stack == NULL)
        give_up("no room for a stack");
    h->stacks_used++;
    return *stack;
}

// Until the start it is the first core's: what is written there is given to its own then.
void *harness_private(struct harness *h, uint32_t core, size_t bytes)
{
    const size_t first = MAP_KERNEL_MB * MAP_MB, room = MAP_PRIVATE_MB * MAP_MB - first;
    unsigned char *at = (unsigned char *)MAP_PRIVATE + first + h->private_used;

    if (bytes > room - h->private_used || h->n_parts == 2 * HARNESS_TASKS)
        return NULL;
    memset(at, 0, bytes);
    h->private_used += (bytes + 63) / 64 * 64;
    h->parts[h->n_parts++] = (struct part){ core, at, bytes };
    return at;
}

void harness_start(struct harness *h)
{
    for (uint32_t i = 0; i < h->n_parts; i++)
        board_give_private(h->parts[i].core, h->parts[i].at, h->parts[i].bytes);
    if (wb_system_start(h->system, board_now_ns()) != WB_OK)
        give_up("the kernels cannot be started");
    for (uint32_t i = 1; i < MAP_CORES; i++)
        expect_to_wait(i);
    board_start_others(h->system->n_cores, run_kernel);
    board_reset_kernel();
    gic_core(0);
    prepare_world();
    gic_begin_outside(PERIOD_US);
    h->started = true;
}

static bool is_over(const struct wb_system *system)
{
    for (uint32_t i = 0; i < system->n_cores; i++) {
        const uint32_t state = wb_word_load(&system->cores[i]->state, WB_SEQ_CST);
        if (state != WB_CORE_STOPPED && state != WB_CORE_DEAD)
            return false;
    }
    return true;
}

// True once for each death.
static bool takes_over(struct harness *h)
{
    for (uint32_t i = 0; i < h->system->n_cores; i++) {
        if (!h->killed[i] || h->told[i])
            continue;
        if (i != 0)
            expect_to_wait(i);
        h->told[i] = true;
        (void)wb_core_died(h->system, i);
        return true;
    }
    return false;
}

enum harness_event harness_wait(struct harness *h, uint32_t limit_ms)
{
    const uint64_t until_ns = board_now_ns() + limit_ms * UINT64_C(1000000);

    do {
        wb_system_sweep(h->system, board_now_ns());
        if (wb_word_load(&h->system->fault.complete, WB_SEQ_CST) != 0)
            return HARNESS_FAULT;
        if (takes_over(h))
            return HARNESS_DIED;
        if (wb_word_load(&h->system->live, WB_SEQ_CST) == 0)
            for (uint32_t i = 0; i < h->system->n_cores; i++)
                board_ring(i);
        if (is_over(h->system))
            return HARNESS_ENDED;
        go_on();
    } while (board_now_ns() < until_ns);
    return HARNESS_NOTHING;
}

bool harness_kill(struct harness *h, uint32_t core)
{
    if (core != 0)
        board_kill(core);
    h->killed[core] = true;
    return true;
}

bool harness_preempts(void)
{
    return true;
}

void harness_close_ears(bool close)
{
    if (close) {
        taskENTER_CRITICAL();
    } else {
        taskEXIT_CRITICAL();
    }
}

// Of this kernel: another has its own at the same address.
bool harness_hold(struct wb_task *self, bool hold)
{
    static StaticSemaphore_t memory;
    static SemaphoreHandle_t mutex;

    (void)self;
    if (mutex == NULL)
        mutex = xSemaphoreCreateMutexStatic(&memory);
    return (hold ? xSemaphoreTake(mutex, 0) : xSemaphoreGive(mutex)) == pdTRUE;
}

bool harness_host(struct harness *h, struct wb_task *task, const char *entry)
{
    (void)h;
    (void)task;
    (void)entry;
    return false;
}

bool harness_has_processes(void)
{
    return false;
}

bool harness_kill_program(struct harness *h, const struct wb_task *task)
{
    (void)h;
    (void)task;
    return false;
}

bool harness_starve(struct harness *h, uint32_t core, bool starve)
{
    (void)h;
    (void)core;
    (void)starve;
    return false;
}

uint32_t harness_programs(struct harness *h)
{
    (void)h;
    return 0;
}

size_t harness_memory(struct harness *h, uint32_t core)
{
    (void)h;
    (void)core;
    return 0;
}

void harness_close(struct harness *h)
{
    for (uint32_t i = 1; i < h->system->n_cores && h->started; i++)
        if (!h->killed[i])
            board_kill(i);
    for (uint32_t i = 1; i < h->system->n_cores && h->started; i++)
        expect_to_wait(i);
    h->started = false;
}

double harness_scale(void)
{
    return CONFORM_SCALE;
}
