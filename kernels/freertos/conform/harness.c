// SPDX-License-Identifier: Apache-2.0
// The harness on a board: "outside" is where a launcher runs (outside.h).

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>

#include "FreeRTOS.h"
#include "board.h"
#include "freertos_host.h"
#include "launcher.h"
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
    wb_host_close(h->host);
    free(h);
}

double harness_scale(void)
{
    return CONFORM_SCALE;
}
