// SPDX-License-Identifier: Apache-2.0
// The least program of each kind: what it calls is what is linked.

#include "FreeRTOS.h"
#include "semphr.h"
#include "task.h"

int main(void);

// What any program of FreeRTOS calls.
static void loop(void *mutex)
{
    for (;;) {
        (void)xSemaphoreTake(mutex, portMAX_DELAY);
        vTaskPrioritySet(NULL, uxTaskPriorityGet(NULL));
        (void)xSemaphoreGive(mutex);
        (void)ulTaskNotifyTake(pdTRUE, 1);
        xTaskNotifyGive(xTaskGetCurrentTaskHandle());
        vTaskSuspendAll();
        (void)xTaskResumeAll();
        vTaskDelay(1);
        vTaskSuspend(NULL);
        vTaskResume(xTaskGetCurrentTaskHandle());
        vTaskDelete(NULL);
    }
}

static TaskHandle_t plain(void)
{
    static const HeapRegion_t none[] = { { NULL, 0 } };
    static StaticTask_t tcb;
    static StackType_t stack[configMINIMAL_STACK_SIZE];
    TaskHandle_t task;

    vPortDefineHeapRegions(none);
    (void)xTaskCreateStatic(loop, "static", configMINIMAL_STACK_SIZE, NULL, 1, stack, &tcb);
    (void)xTaskCreate(loop, "loop", configMINIMAL_STACK_SIZE, xSemaphoreCreateMutex(), 1, &task);
    return task;
}

#if defined WITH_ORDINARY || defined WITH_EVERYTHING
#include "freertos_board.h"
#include "wb_freertos.h"

static unsigned char memory[65536];

static void moves(TaskHandle_t task)
{
    wb_freertos_doorbell();
    wb_freertos_idle();
    if (wb_freertos_init(memory, sizeof memory, 4, 8) != WB_OK ||
        wb_freertos_start(memory, 0, memory, sizeof memory) != WB_OK ||
        wb_freertos_adopt(task) != WB_OK || wb_freertos_migrate(task, 1, 1) != WB_OK)
        return;
    wb_checkpoint();
}
#elif defined WITH_CHANNELS
#include "freertos_board.h"
#include "wb/launcher.h"
#include "wb/system.h"
#include "wb/wb.h"

static unsigned char memory[65536];

static int sends(struct wb_task *self)
{
    struct wb_port *port = wb_port_find_any(self, "out", 0);

    wb_checkpoint();
    return wb_port_receive(port, NULL, WB_FOREVER) == WB_OK &&
           wb_port_send(port, self, WB_FOREVER) == WB_OK;
}

static void moves(TaskHandle_t unused)
{
    struct wb_system *system;
    struct wb_task *task;
    struct wb_channel *channel;

    (void)unused;
    wb_freertos_doorbell();
    if (wb_system_init(&system, memory, sizeof memory, &(struct wb_system_config){ 0 }) != WB_OK ||
        wb_task_add(system, &(struct wb_task_config){ .entry = sends }, &task) != WB_OK ||
        wb_channel_add(system, &(struct wb_channel_config){ 0 }, &channel) != WB_OK ||
        wb_port_add(task, channel, WB_OUT, "out", 0) != WB_OK ||
        wb_system_start(system, 0) != WB_OK ||
        wb_migration_request(task, 1, WB_FOREVER, NULL) != WB_OK)
        return;
    wb_freertos_begin(system->cores[0]);
}
#else
static void moves(TaskHandle_t task)
{
    (void)task;
}
#endif

int main(void)
{
    moves(plain());
    vTaskStartScheduler();
    return 0;
}
