// SPDX-License-Identifier: Apache-2.0
// Linked with the project of docs/freertos.md, by its FreeRTOSConfig.h: how many instructions the
// move of an ordinary task takes there, and what its run-time statistics are. An emulator that
// takes one nanosecond for each instruction tells (qemu -icount shift=0,sleep=off).

#include "FreeRTOS.h"
#include "cores.h"
#include "task.h"

enum { TASKS = 4, HEAP_BYTES = 64 << 10, HOPS = 21, STAMPS = 100, STAY_MS = 40 };

static _Alignas(64) unsigned char memory[32 << 10] GLOBAL;
static _Alignas(8) unsigned char heaps[CORES][HEAP_BYTES] GLOBAL;
static volatile bool counting GLOBAL, counted GLOBAL;
static uint32_t hops_ns[HOPS] GLOBAL;
static TaskHandle_t hopper;

// The linker has every call come here (--wrap). An emulator that runs one core at a time goes on
// with the next, as it would be really.
void __real_board_ring(uint32_t core);
void __wrap_board_ring(uint32_t core);

void __wrap_board_ring(uint32_t core)
{
    __real_board_ring(core);
    if (counting)
        board_relax();
}

static uint32_t time_of_stamp(void)
{
    const uint64_t begin_ns = board_now_ns();

    for (uint32_t i = 1; i < STAMPS; i++)
        (void)board_now_ns();
    return (uint32_t)((board_now_ns() - begin_ns) / STAMPS);
}

static void hops(void *unused)
{
    const uint32_t stamp_ns = time_of_stamp();

    (void)unused;
    for (uint32_t i = 0; i < HOPS; i++) {
        const uint32_t next = (wb_freertos_core_of(NULL) + 1) % CORES;
        if (wb_freertos_request(xTaskGetCurrentTaskHandle(), next) != WB_OK)
            exit(2);
        while (!migration_requested) {}
        counting = true;
        const uint64_t begin_ns = board_now_ns();
        TASK_IN_SAFE_STATE();
        const uint64_t end_ns = board_now_ns();
        counting = false;
        if (board_core() != next)
            exit(2);
        hops_ns[i] = (uint32_t)(end_ns - begin_ns) - stamp_ns;
        vTaskDelay(2);
    }
    counted = true;
    for (;;)
        if (migration_requested)
            TASK_IN_SAFE_STATE();
}

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void tell_hops(void)
{
    qsort(hops_ns, HOPS, sizeof *hops_ns, by_size);
    printf("a move: median %u, from %u to %u\n", (unsigned int)hops_ns[HOPS / 2],
           (unsigned int)hops_ns[0], (unsigned int)hops_ns[HOPS - 1]);
}

// What a task has run for while it stays, what time has passed, and its percentage. `elsewhere_ns`:
// how long it has not run since the board began.
static void tell_run_time(uint64_t elsewhere_ns)
{
    const uint64_t before = ulTaskGetRunTimeCounter(hopper), since_ns = board_now_ns();

    vTaskDelay(pdMS_TO_TICKS(STAY_MS));
    const uint64_t ran = ulTaskGetRunTimeCounter(hopper), now_ns = board_now_ns();
    printf("on core %u: ran %u us of %u us, %u of %u percent\n",
           (unsigned int)wb_freertos_core_of(hopper), (unsigned int)((ran - before) / 1000),
           (unsigned int)((now_ns - since_ns) / 1000),
           (unsigned int)ulTaskGetRunTimePercent(hopper),
           (unsigned int)((now_ns - elsewhere_ns) * 100 / now_ns));
}

static void observer(void *unused)
{
    (void)unused;
    while (!counted)
        vTaskDelay(1);
    tell_hops();
    // From here on it computes all the time.
    const uint64_t elsewhere_ns = board_now_ns() - ulTaskGetRunTimeCounter(hopper);
    for (uint32_t core = 1; core <= CORES; core++) {
        if (wb_freertos_migrate(hopper, core % CORES, pdMS_TO_TICKS(1000)) != WB_OK)
            exit(2);
        tell_run_time(elsewhere_ns);
    }
    exit(0);
}

static void begin(uint32_t core)
{
    if (wb_freertos_start(memory, core, heaps[core], HEAP_BYTES) != WB_OK)
        exit(2);
    if (core == 0) {
        xTaskCreate(hops, "hops", 1024, NULL, 1, &hopper);
        if (wb_freertos_adopt(hopper) != WB_OK)
            exit(2);
        xTaskCreate(observer, "observer", 4096, NULL, 2, NULL);
    }
    vTaskStartScheduler();
}

int main(void)
{
    return start_cores(memory, sizeof memory, TASKS, begin);
}
