// SPDX-License-Identifier: Apache-2.0
// The harness on FreeRTOS; what is the same on all boards is in board.c.

#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "FreeRTOS.h"
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

bool harness_preempts(void)
{
    return true;
}

void harness_irq_save(bool close)
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

bool harness_starve(struct harness *h, uint32_t core, bool starve)
{
    (void)h;
    board_limit_mapping(core, starve ? 0 : SIZE_MAX);
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
    return board_mapped_bytes(core);
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
