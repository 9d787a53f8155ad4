// SPDX-License-Identifier: Apache-2.0
// The harness on a board: "outside" is where a launcher runs (outside.h).

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "FreeRTOS.h"
#include "board_host.h"
#include "freertos_board.h"
#include "freertos_modules.h"
#include "launcher.h"
#include "semihosting.h"
#include "semphr.h"
#include "task.h"

enum { STACK_BYTES = 64 << 10 };

const struct harness_sizes harness_sizes = { .memory_bytes = 8 << 20,
                                             .shared_bytes = 1 << 20,
                                             .stack_bytes = STACK_BYTES };

// A core that is started again must have stopped before.
static void expect_all_to_wait(void)
{
    for (uint32_t i = 1; i < board_cores(); i++)
        if (!board_waits(i)) {
            fprintf(stderr, "conform: core %u has not booted: start all %u cores of the board\n",
                    (unsigned int)i, (unsigned int)board_cores());
            exit(2);
        }
}

// Cases keep interrupts away for as long as they like: no watchdog.
struct harness *harness_open(const struct harness_config *config)
{
    const uint64_t for_ever_ns = 3600000000000;

    expect_all_to_wait();
    struct harness *h = launcher_open(config, for_ever_ns, (struct wb_host_config){ .cpus = NULL });
    wb_host_watch(h->host, UINT32_MAX);
    return h;
}

bool harness_kill(struct harness *h, uint32_t core)
{
    wb_host_kill_core(h->host, core, "");
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
    char why[WB_MODULE_WHY_BYTES];

    (void)h;
    if (wb_freertos_recreates(task, "recreated", entry, why) != WB_OK)
        launcher_give_up(why);
    return true;
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
    board_limit_backing(core, starve ? 0 : SIZE_MAX);
    return true;
}

uint32_t harness_programs(struct harness *h)
{
    const struct wb_system *system = harness_system(h);
    uint32_t n = 0;

    for (uint32_t i = 0; i < system->n_cores; i++)
        if (wb_word_load(&system->cores[i]->state, WB_ACQUIRE) != WB_CORE_DEAD)
            n += wb_freertos_loaded(system, i);
    return n;
}

// Only tasks that are recreated have memory that comes and goes.
size_t harness_memory(struct harness *h, uint32_t core)
{
    (void)h;
    return board_backed(core);
}

void harness_close(struct harness *h)
{
    wb_host_close(h->host);
    free(h);
}

// CONFORM_SCALE, or what a word `scale=N` of the command line says.
double harness_scale(void)
{
    char words[256], *argv[8];
    const int argc = semihosting_arguments(words, sizeof words, argv, 8);

    for (int i = 0; i < argc; i++)
        if (strncmp(argv[i], "scale=", 6) == 0)
            return strtod(argv[i] + 6, NULL);
    return CONFORM_SCALE;
}
