// SPDX-License-Identifier: Apache-2.0
// How does a FreeRTOS task move to another core's FreeRTOS, next to ordinary tasks that stay?
//
//     make -C examples/freertos run
//
// Four Cortex-A9 with a FreeRTOS each. On each of them an ordinary task counts ticks; the traveller
// visits them all and adds up. docs/freertos.md says how a project of your own gets there.
#include <stdio.h>
#include <stdlib.h>

#include "FreeRTOS.h"
#include "arm_board.h"
#include "task.h"
#include "wb_freertos.h"

#define GLOBAL __attribute__((section(".gvm")))  // seen by all cores

enum { CORES = 4, MOVERS = 1, HEAP_BYTES = 64 << 10 };

static _Alignas(64) unsigned char memory[32 << 10] GLOBAL;
static _Alignas(8) unsigned char heaps[CORES][HEAP_BYTES] GLOBAL;
static unsigned counted;  // private data: each core has its own

static void ordinary(void *unused)
{
    (void)unused;
    for (;; counted++)
        vTaskDelay(1);
}

static void traveller(void *unused)
{
    (void)unused;
    unsigned sum = 0;  // on the stack, which moves along

    for (uint32_t core = 0; core < CORES; core++) {
        if (wb_freertos_migrate(NULL, core, portMAX_DELAY) != WB_OK)
            exit(2);
        vTaskDelay(10);
        sum += counted;
        printf("core %u counted %u ticks, %u in all\n", (unsigned)board_core(), counted, sum);
    }
    exit(0);
}

static void begin(uint32_t core)
{
    TaskHandle_t moves;

    if (wb_freertos_start(memory, core, heaps[core], HEAP_BYTES) != WB_OK)
        exit(2);
    xTaskCreate(ordinary, "ordinary", 512, NULL, 2, NULL);
    if (core == 0 && (xTaskCreate(traveller, "traveller", 2048, NULL, 1, &moves) != pdPASS ||
                      wb_freertos_adopt(moves) != WB_OK))
        exit(2);
    vTaskStartScheduler();
}

int main(void)
{
    if (wb_freertos_init(memory, sizeof memory, CORES, MOVERS) != WB_OK)
        return 2;
    for (uint32_t core = 1; core < CORES; core++)
        if (!board_waits(core))
            return 2;
    board_start_others(CORES, begin);
    begin(0);
    return 2;
}
