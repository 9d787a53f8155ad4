// SPDX-License-Identifier: Apache-2.0
// The harness on FreeRTOS; what is the same on all boards is in board.c.

#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "FreeRTOS.h"
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
