// SPDX-License-Identifier: Apache-2.0
// A project with another configuration than that of docs/freertos.md: its tasks are static, its
// heap is heap_4 or none, its tasks have newlib's part, 16 pointers and names of 32 bytes. Its
// globals are private, whatever its target is called.

#include <errno.h>
#include <string.h>

#include "FreeRTOS.h"
#include "cores.h"
#include "task.h"

enum { TASKS = 4, STACK_WORDS = 2048, SEVEN = 7, POINTER = 3, ERROR = 33 };

static const char name[] = "a task whose name has 31 letter";
_Static_assert(sizeof name == configMAX_TASK_NAME_LEN, "it is as long as it may be");

static _Alignas(64) unsigned char memory[64 << 10] GLOBAL;
static StaticTask_t tcb GLOBAL;
static StackType_t stack[STACK_WORDS] GLOBAL;
static int mine = SEVEN;  // each core's own

static void mover(void *unused)
{
    (void)unused;
    errno = ERROR;
    vTaskSetThreadLocalStoragePointer(NULL, POINTER, &tcb);
    for (uint32_t i = 1; i <= 2 * CORES; i++) {
        CHECK(wb_freertos_migrate(NULL, i % CORES, portMAX_DELAY) == WB_OK);
        CHECK(board_core() == i % CORES);
        CHECK(mine == SEVEN + (int)board_core());
        CHECK(errno == ERROR);
        CHECK(pvTaskGetThreadLocalStoragePointer(NULL, POINTER) == &tcb);
        CHECK(strcmp(pcTaskGetName(NULL), name) == 0);
    }
    printf("it moved\n");
    exit(0);
}

static void begin(uint32_t core)
{
    mine += (int)core;
    CHECK(wb_freertos_start(memory, core, NULL, 0) == WB_OK);
    if (core == 0) {
        TaskHandle_t task = xTaskCreateStatic(mover, name, STACK_WORDS, NULL, 1, stack, &tcb);
        CHECK(wb_freertos_adopt(task) == WB_OK);
    }
    vTaskStartScheduler();
}

int main(void)
{
    return start_cores(memory, sizeof memory, TASKS, begin);
}
