// SPDX-License-Identifier: Apache-2.0
// Ordinary tasks of FreeRTOS on the four cores of the board, moved by their handles: what they
// keep, what they are refused for, and whose memory is whose. The first word of the command line is
// the case; the next one which of its kind, or `exact`: times are checked, too. Without a debugger
// there are no words.

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "FreeRTOS.h"
#include "cores.h"
#include "event_groups.h"
#include "semphr.h"
#include "stream_buffer.h"

enum { MOVERS = 8, HEAP_BYTES = 256 << 10, STACK_WORDS = 1024, LOW = 3, HIGH = 6 };

static _Alignas(64) unsigned char memory[64 << 10] GLOBAL;
static _Alignas(8) unsigned char heaps[CORES][HEAP_BYTES] GLOBAL;
static char wanted[32] GLOBAL, kind[48] GLOBAL;
static bool exact GLOBAL;  // time passes as the instructions do, so that it can be checked
static volatile uint32_t progress GLOBAL, finished GLOBAL;

static TaskHandle_t make(TaskFunction_t code, const char *name, UBaseType_t priority,
                         bool moves_asleep)
{
    TaskHandle_t task;

    CHECK(xTaskCreate(code, name, STACK_WORDS, NULL, priority, &task) == pdPASS);
    CHECK((moves_asleep ? wb_freertos_adopt_sleeper(task) : wb_freertos_adopt(task)) == WB_OK);
    return task;
}

static uint32_t turns(uint32_t n)
{
    return n * CONFORM_SCALE >= 8 ? (uint32_t)(n * CONFORM_SCALE) : 8;
}

// ---- What it keeps ------------------------------------------------------------------------------

enum { WORDS = 64, VALUE = 0x5eed };

static uint32_t next_of(uint32_t *state)
{
    return *state = *state * 1664525 + 1013904223;
}

static void expect_kept(UBaseType_t priority)
{
    CHECK(strcmp(pcTaskGetName(NULL), "keeper") == 0);
    CHECK(uxTaskPriorityGet(NULL) == priority);
    CHECK(ulTaskNotifyValueClear(NULL, 0) == VALUE);
}

// Its stack, heap, registers of both kinds, notification and changed priority.
static void keeper(void *unused)
{
    uint32_t words[WORDS], state = 1, again = 1;
    uint32_t *const heap = pvPortMalloc(sizeof words);
    double sum = 0;

    (void)unused;
    xTaskNotify(xTaskGetCurrentTaskHandle(), VALUE, eSetValueWithOverwrite);
    for (uint32_t i = 0; i < turns(8000); i++) {
        const uint32_t to = (board_core() + 1 + i % 3) % CORES;
        const UBaseType_t priority = i % 2 != 0 ? LOW : HIGH;
        vTaskPrioritySet(NULL, priority);
        for (uint32_t w = 0; w < WORDS; w++)
            words[w] = heap[w] = next_of(&state);
        sum += 1.0 / (1 + i);
        double there = sum;
        CHECK(wb_freertos_request(xTaskGetCurrentTaskHandle(), to) == WB_OK);
        while (!migration_requested) {}
        TASK_IN_SAFE_STATE();
        CHECK(board_core() == to && wb_freertos_core_of(NULL) == to && !migration_requested);
        for (uint32_t w = 0; w < WORDS; w++)
            CHECK(next_of(&again) == words[w] && heap[w] == words[w]);
        CHECK(there == sum);
        expect_kept(priority);
        progress = i;
    }
    vPortFree(heap);
    finished = 1;
    vTaskDelete(NULL);
}

// A task that closes its scheduler again and again: no switch then, and its lists are not whole.
static void noise(void *unused)
{
    (void)unused;
    for (;;) {
        vTaskSuspendAll();
        for (volatile uint32_t i = 0; i < 50; i++) {}
        (void)xTaskResumeAll();
        vTaskDelay(1);
    }
}

static void wait_until_finished(uint32_t n)
{
    while (finished != n)
        vTaskDelay(1);
}

static void keeps(void)
{
    (void)make(keeper, "keeper", LOW, false);
    wait_until_finished(1);
}

// ---- Asleep -------------------------------------------------------------------------------------

// A sleep may be off by a tick for each move of it; kernels' ticks begin at different times.
enum { NAP_TICKS = 40, NAPS = 12, OFF = 8, TICK_NS = 1000000000 / configTICK_RATE_HZ };

static void sleeper(void *unused)
{
    (void)unused;
    TickType_t last = wb_freertos_ticks();
    const uint64_t begin_ns = board_now_ns();

    for (uint32_t i = 0; i < NAPS; i++) {
        const uint64_t nap_ns = board_now_ns();
        vTaskDelay(NAP_TICKS);
        const uint64_t slept = (board_now_ns() - nap_ns) / TICK_NS;
        CHECK(!exact || (slept >= NAP_TICKS - OFF && slept <= NAP_TICKS + OFF));
        const BaseType_t waited = wb_freertos_delay_until(&last, 2 * NAP_TICKS);
        CHECK(!exact || waited == pdTRUE);
        progress = i + 1;
    }
    const uint64_t all = (board_now_ns() - begin_ns) / TICK_NS;
    CHECK(!exact || (all >= NAPS * 2 * NAP_TICKS - OFF && all <= NAPS * 2 * NAP_TICKS + OFF));
    finished = 1;
    vTaskDelete(NULL);
}

static void moves_asleep(void)
{
    TaskHandle_t task = make(sleeper, "sleeper", LOW, true);
    uint32_t moved = 0;

    while (finished == 0) {
        const uint32_t to = (wb_freertos_core_of(task) + 1) % CORES;
        if (to < CORES && wb_freertos_migrate(task, to, 5) == WB_OK)
            moved++;
        vTaskDelay(7);
    }
    printf("# moved %u times\n", (unsigned int)moved);
    CHECK(moved >= NAPS);
}

// ---- What is refused ----------------------------------------------------------------------------

static SemaphoreHandle_t mutex;

static void expect_critical(void)
{
    CHECK(wb_freertos_request(xTaskGetCurrentTaskHandle(), 1) == WB_OK);
    wb_checkpoint_enter();
    CHECK(board_core() == 0);
    CHECK(strstr(wb_freertos_hold(NULL), "critical section") != NULL);
    CHECK(wb_freertos_core_of(NULL) == 0);
}

static void stays_in_critical_sections(void)
{
    taskENTER_CRITICAL();
    taskENTER_CRITICAL();
    expect_critical();
    taskEXIT_CRITICAL();
    expect_critical();
    taskEXIT_CRITICAL();
    taskDISABLE_INTERRUPTS();
    expect_critical();
    taskENABLE_INTERRUPTS();
    CHECK(wb_freertos_migrate(NULL, 1, portMAX_DELAY) == WB_OK && board_core() == 1);
    CHECK(wb_freertos_migrate(NULL, 0, portMAX_DELAY) == WB_OK && board_core() == 0);
}

static void holder(void *unused)
{
    (void)unused;
    CHECK(xSemaphoreTake(mutex, portMAX_DELAY) == pdTRUE);
    CHECK(wb_freertos_migrate(NULL, 1, 100) == WB_ERR_HELD);
    CHECK(strstr(wb_freertos_hold(NULL), "holds a mutex") != NULL);
    progress = 1;
    while (progress != 2)
        vTaskDelay(1);
    CHECK(xSemaphoreGive(mutex) == pdTRUE);
    vTaskSuspendAll();
    CHECK(wb_freertos_request(xTaskGetCurrentTaskHandle(), 1) == WB_OK);
    wb_checkpoint_enter();
    CHECK(strstr(wb_freertos_hold(NULL), "suspended its scheduler") != NULL);
    (void)xTaskResumeAll();
    stays_in_critical_sections();
    finished++;
    vTaskDelete(NULL);
}

static void waits(void *unused)
{
    (void)unused;
    CHECK(xSemaphoreTake(mutex, portMAX_DELAY) == pdTRUE);
    CHECK(xSemaphoreGive(mutex) == pdTRUE);
    vTaskSuspend(NULL);
    finished++;
    vTaskDelete(NULL);
}

static void never(void *unused)
{
    (void)unused;
    for (;;)
        vTaskDelay(1000);
}

static void refuses_private(void)
{
    static StaticTask_t tcb;
    static StackType_t stack[STACK_WORDS];
    TaskHandle_t task = xTaskCreateStatic(never, "private", STACK_WORDS, NULL, LOW, stack, &tcb);

    CHECK(wb_freertos_adopt(task) == WB_ERR_INVAL);
    CHECK(wb_freertos_request(task, 1) == WB_ERR_GONE);
    vTaskDelete(task);
}

static void refuses_what_is_not_there(void)
{
    TaskHandle_t task = make(never, "never", LOW, false);

    CHECK(wb_freertos_adopt(task) == WB_ERR_BUSY);
    CHECK(wb_freertos_request(task, CORES) == WB_ERR_INVAL);
    CHECK(wb_freertos_migrate(task, 1, 3) == WB_ERR_TIMEOUT);
    vTaskDelete(task);
    CHECK(wb_freertos_request(task, 1) == WB_ERR_GONE);
    CHECK(wb_freertos_core_of(task) == WB_CORE_NONE);
    CHECK(strcmp(wb_freertos_hold(task), "it is deleted") == 0);
    CHECK(strcmp(wb_freertos_hold(NULL), "it is not adopted") == 0);
}

static void refuses_too_many(void)
{
    TaskHandle_t tasks[MOVERS + 1];
    uint32_t adopted = 0;

    for (uint32_t i = 0; i <= MOVERS; i++) {
        CHECK(xTaskCreate(never, "many", 256, NULL, LOW, &tasks[i]) == pdPASS);
        const enum wb_status status = wb_freertos_adopt(tasks[i]);
        CHECK(status == (adopted < MOVERS ? WB_OK : WB_ERR_NOMEM));
        adopted += status == WB_OK;
    }
    for (uint32_t i = 0; i <= MOVERS; i++)
        vTaskDelete(tasks[i]);
}

static void refuses_bad_memory(void)
{
    static _Alignas(64) unsigned char private[64 << 10];
    static _Alignas(64) unsigned char small[4 << 10] GLOBAL;

    CHECK(wb_freertos_init(private, sizeof private, CORES, MOVERS) == WB_ERR_INVAL);
    CHECK(wb_freertos_init(small, sizeof small, CORES, MOVERS) == WB_ERR_NOMEM);
    CHECK(wb_freertos_init(memory, sizeof memory, 0, MOVERS) == WB_ERR_INVAL);
    CHECK(wb_freertos_start(memory, CORES, NULL, 0) == WB_ERR_INVAL);
    CHECK(wb_freertos_start(memory, 0, private, sizeof private) == WB_ERR_INVAL);
    // A heap that is used up is FreeRTOS's to tell.
    CHECK(xTaskCreate(never, "large", HEAP_BYTES, NULL, LOW, NULL) ==
          errCOULD_NOT_ALLOCATE_REQUIRED_MEMORY);
}

static void refuses(void)
{
    refuses_bad_memory();
    mutex = xSemaphoreCreateMutex();
    TaskHandle_t first = make(holder, "holder", LOW, false);
    while (progress != 1)
        vTaskDelay(1);
    TaskHandle_t second = make(waits, "waits", HIGH, true);
    while (uxTaskPriorityGet(first) != HIGH)  // until the second waits
        vTaskDelay(1);
    CHECK(wb_freertos_migrate(second, 1, 100) == WB_ERR_HELD);
    CHECK(strstr(wb_freertos_hold(second), "waits for a queue") != NULL);
    progress = 2;
    while (eTaskGetState(second) != eSuspended)
        vTaskDelay(1);
    CHECK(wb_freertos_migrate(second, 1, 100) == WB_ERR_HELD);
    CHECK(strcmp(wb_freertos_hold(second), "it is suspended") == 0);
    vTaskResume(second);
    wait_until_finished(2);
    refuses_private();
    refuses_what_is_not_there();
    refuses_too_many();
}

// ---- Outcomes -----------------------------------------------------------------------------------

// Comes to another core and is refused its next move there, before whoever moved it looks.
static void restless(void *unused)
{
    (void)unused;
    for (;;) {
        TASK_IN_SAFE_STATE();
        if (board_core() == 0)
            continue;
        vTaskSuspendAll();
        CHECK(wb_freertos_migrate(NULL, (board_core() + 1) % CORES, 100) == WB_ERR_HELD);
        (void)xTaskResumeAll();
        while (progress == 0)
            vTaskDelay(1);
        CHECK(wb_freertos_migrate(NULL, 0, portMAX_DELAY) == WB_OK);
        progress = 0;
    }
}

static void outcomes(void)
{
    TaskHandle_t task = make(restless, "restless", LOW, false);

    for (uint32_t i = 0; i < turns(200); i++) {
        const enum wb_status status = wb_freertos_migrate(task, 1 + i % (CORES - 1), 100);
        CHECK(status == WB_OK || status == WB_ERR_BUSY);
        progress = 1;
        while (progress != 0)
            vTaskDelay(1);
    }
}

// ---- Deletion -----------------------------------------------------------------------------------

static void short_lived(void *unused)
{
    (void)unused;
    void *block = pvPortMalloc(100);
    const enum wb_status moved_as =
        wb_freertos_migrate(NULL, 1 + progress % (CORES - 1), portMAX_DELAY);
    if (moved_as != WB_OK)
        printf("# %s: %s\n", wb_status_text(moved_as), wb_freertos_hold(NULL));
    CHECK(moved_as == WB_OK);
    vPortFree(block);
    finished++;
    vTaskDelete(NULL);
}

static size_t free_bytes(void)
{
    vPortFree(pvPortMalloc(1));  // takes back what others have freed
    return xPortGetFreeHeapSize();
}

static void deletes(void)
{
    const size_t before = free_bytes();

    for (uint32_t i = 0; i < turns(6000); i++) {
        progress = i;
        (void)make(short_lived, "short", LOW, false);
        wait_until_finished(i + 1);
    }
    // The last ones are freed by the idle tasks of their last kernels.
    for (uint32_t i = 0; i < 100 && free_bytes() != before; i++)
        vTaskDelay(2);
    CHECK(free_bytes() == before);
}

// ---- Calls for a task that has moved ------------------------------------------------------------

// What FreeRTOS is asked for a task that core 2 has, and what that task does there meanwhile.
static struct {
    TaskHandle_t task;
    QueueHandle_t queue;
    SemaphoreHandle_t mutex;
    EventGroupHandle_t group;
    StreamBufferHandle_t stream;
} moved GLOBAL;

static void delete_and_wait(void)
{
    CHECK(wb_freertos_delete(moved.task) == WB_OK);
    while (wb_freertos_core_of(moved.task) != WB_CORE_NONE)
        vTaskDelay(1);
}

// Its name, what core 0 calls, and what the task waits in on core 2.
#define MISUSES(_, task)                                                                           \
    _("vTaskPrioritySet", vTaskPrioritySet(task, HIGH), ASLEEP)                                    \
    _("vTaskSuspend", vTaskSuspend(task), ASLEEP)                                                  \
    _("vTaskResume", vTaskResume(task), ASLEEP)                                                    \
    _("xTaskResumeFromISR", xTaskResumeFromISR(task), ASLEEP)                                      \
    _("xTaskAbortDelay", xTaskAbortDelay(task), ASLEEP)                                            \
    _("vTaskDelete", vTaskDelete(task), ASLEEP)                                                    \
    _("eTaskGetState", eTaskGetState(task), ASLEEP)                                                \
    _("xTaskNotify", xTaskNotifyGive(task), ASLEEP)                                                \
    _("xTaskNotifyAndQueryIndexed", xTaskNotifyAndQueryIndexed(task, 0, 1, eSetBits, &word),       \
      ASLEEP)                                                                                      \
    _("xTaskNotifyFromISR", xTaskNotifyFromISR(task, 1, eSetBits, NULL), ASLEEP)                   \
    _("vTaskNotifyGiveFromISR", vTaskNotifyGiveFromISR(task, NULL), ASLEEP)                        \
    _("xTaskNotifyStateClear", xTaskNotifyStateClear(task), ASLEEP)                                \
    _("ulTaskNotifyValueClear", ulTaskNotifyValueClear(task, 1), ASLEEP)                           \
    _("xQueueSend/xSemaphoreGive", xQueueSend(moved.queue, &word, 0),                              \
      xQueueReceive(moved.queue, &word, portMAX_DELAY))                                            \
    _("xSemaphoreTake", xSemaphoreTake(moved.mutex, 10),                                           \
      (xSemaphoreTake(moved.mutex, portMAX_DELAY), vTaskSuspend(NULL)))                            \
    _("xEventGroupSetBits", xEventGroupSetBits(moved.group, 1),                                    \
      xEventGroupWaitBits(moved.group, 1, pdTRUE, pdTRUE, portMAX_DELAY))                          \
    _("xStreamBufferSend", xStreamBufferSend(moved.stream, &word, sizeof word, 0),                 \
      xStreamBufferReceive(moved.stream, &word, sizeof word, portMAX_DELAY))                       \
    _("deleted", (delete_and_wait(), vTaskSuspend(task)), ASLEEP)
#define ASLEEP vTaskDelay(portMAX_DELAY)
#define CALL(name, call, wait)                                                                     \
    if (strcmp(kind, name) == 0)                                                                   \
        (void)(call);
#define WAIT(name, call, wait)                                                                     \
    if (strcmp(kind, name) == 0)                                                                   \
        (void)(wait);

static void goes(void *unused)
{
    uint32_t word;

    (void)unused;
    CHECK(wb_freertos_migrate(NULL, 2, portMAX_DELAY) == WB_OK);
    progress = 1;
    MISUSES(WAIT, moved.task)
    CHECK(!"it was woken, or there is no such kind");
}

// What only reads or writes a word of the TCB is right on every kernel.
static void expect_right(TaskHandle_t task)
{
    int tag;

    CHECK(uxTaskPriorityGet(task) == LOW && uxTaskBasePriorityGet(task) == LOW);
    CHECK(uxTaskPriorityGetFromISR(task) == LOW && uxTaskBasePriorityGetFromISR(task) == LOW);
    CHECK(strcmp(pcTaskGetName(task), "mover") == 0);
    CHECK(xTaskGetHandle("mover") == NULL);  // no task of this kernel
    CHECK(uxTaskGetStackHighWaterMark(task) > 0);
    vTaskSetApplicationTaskTag(task, (TaskHookFunction_t)(void *)&tag);
    CHECK(xTaskGetApplicationTaskTag(task) == (TaskHookFunction_t)(void *)&tag);
    CHECK(xTaskGetApplicationTaskTagFromISR(task) == (TaskHookFunction_t)(void *)&tag);
}

static void misused(void)
{
    uint32_t word = 7;

    moved.queue = xQueueCreate(1, sizeof word);
    moved.mutex = xSemaphoreCreateMutex();
    moved.group = xEventGroupCreate();
    moved.stream = xStreamBufferCreate(16, 1);
    moved.task = make(goes, "mover", LOW, false);
    while (progress != 1 || wb_freertos_core_of(moved.task) != 2)
        vTaskDelay(1);
    vTaskDelay(5);  // it waits
    expect_right(moved.task);
    MISUSES(CALL, moved.task)
    CHECK(!"the program goes on");
}

// ---- What is asked wherever it is ---------------------------------------------------------------

enum { ASKERS = 2 };

static volatile uint32_t asked[ASKERS] GLOBAL, taken GLOBAL, heard GLOBAL;

// Moves all the time, and counts its notifications.
static void asked_task(void *unused)
{
    (void)unused;
    for (uint32_t i = 1;; i++) {
        if (wb_freertos_request(xTaskGetCurrentTaskHandle(), (board_core() + 1 + i % 3) % CORES) ==
            WB_OK)
            TASK_IN_SAFE_STATE();
        taken += ulTaskNotifyTake(pdTRUE, 0);
        heard = uxTaskPriorityGet(NULL);
        progress = i;
        if (i % 8 == 0)
            vTaskDelay(1);
    }
}

static void asks_to_notify(void *n)
{
    const uint32_t asker = (uint32_t)(uintptr_t)n;

    CHECK(wb_freertos_migrate(NULL, 1 + asker, portMAX_DELAY) == WB_OK);
    for (uint32_t i = 0; i < turns(4000); i++) {
        CHECK(wb_freertos_notify(moved.task, 0) == WB_OK);
        asked[asker]++;
        if (i % 16 == 0)
            vTaskDelay(1);
    }
    finished++;
    vTaskDelete(NULL);
}

// Nothing changes `progress` for longer than the task ever needs for a turn.
static bool stands_still(void)
{
    const uint32_t before = progress;

    vTaskDelay(30);
    return progress == before;
}

static void stops_and_goes(TaskHandle_t task)
{
    for (uint32_t i = 0; i < turns(60); i++) {
        CHECK(wb_freertos_suspend(task) == WB_OK);
        while (!stands_still()) {}
        const uint32_t before = progress;
        CHECK(wb_freertos_resume(task) == WB_OK);
        while (progress == before)
            vTaskDelay(1);
        const UBaseType_t priority = i % 2 != 0 ? LOW : HIGH;
        CHECK(wb_freertos_priority(task, priority) == WB_OK);
        while (heard != priority)
            vTaskDelay(1);
    }
}

static void delete_asked(TaskHandle_t task)
{
    CHECK(wb_freertos_delete(task) == WB_OK);
    while (wb_freertos_core_of(task) != WB_CORE_NONE)
        vTaskDelay(1);
    CHECK(wb_freertos_notify(task, 0) == WB_ERR_GONE && wb_freertos_suspend(task) == WB_ERR_GONE);
    CHECK(wb_freertos_resume(task) == WB_ERR_GONE &&
          wb_freertos_priority(task, LOW) == WB_ERR_GONE);
    CHECK(wb_freertos_delete(task) == WB_ERR_GONE);
}

static void asks(void)
{
    const size_t before = free_bytes();

    moved.task = make(asked_task, "asked", LOW, true);
    CHECK(wb_freertos_notify(moved.task, 1) == WB_ERR_INVAL);
    CHECK(wb_freertos_priority(moved.task, configMAX_PRIORITIES - 1) == WB_ERR_INVAL);
    for (uintptr_t i = 0; i < ASKERS; i++) {
        TaskHandle_t asker;
        CHECK(xTaskCreate(asks_to_notify, "asker", STACK_WORDS, (void *)i, LOW, &asker) == pdPASS);
        CHECK(wb_freertos_adopt(asker) == WB_OK);
    }
    stops_and_goes(moved.task);
    wait_until_finished(ASKERS);
    while (taken != asked[0] + asked[1])
        vTaskDelay(1);
    delete_asked(moved.task);
    // Of its own, and of others that are under way when they are deleted.
    for (uint32_t i = 0; i < turns(600); i++) {
        moved.task = make(asked_task, "asked", LOW, i % 2 != 0);
        vTaskDelay(i % 4);
        delete_asked(moved.task);
    }
    for (uint32_t i = 0; i < 100 && free_bytes() != before; i++)
        vTaskDelay(2);
    CHECK(free_bytes() == before);
}

// ---- Everything at once -------------------------------------------------------------------------

static void wanderer(void *unused)
{
    uint32_t state = (uint32_t)(uintptr_t)xTaskGetCurrentTaskHandle(), first = state;

    (void)unused;
    for (uint32_t i = 0; i < turns(4000); i++) {
        if (migration_requested)
            TASK_IN_SAFE_STATE();
        if (i % 16 == 0)
            vTaskDelay(1);
        (void)next_of(&state);
    }
    for (uint32_t i = 0; i < turns(4000); i++)
        (void)next_of(&first);
    CHECK(first == state);
    finished++;
    vTaskDelete(NULL);
}

// Whatever it is doing, or has done.
static void ask(TaskHandle_t task, uint32_t core)
{
    const enum wb_status status = wb_freertos_request(task, core);

    CHECK(status == WB_OK || status == WB_ERR_BUSY || status == WB_ERR_GONE);
}

static void mixes(void)
{
    TaskHandle_t tasks[MOVERS];
    uint32_t state = 7;

    for (uint32_t i = 0; i < MOVERS; i++)
        tasks[i] = make(wanderer, "wanderer", LOW + i % 3, i % 2 != 0);
    while (finished != MOVERS) {
        for (uint32_t i = 0; i < MOVERS; i++)
            ask(tasks[i], next_of(&state) >> 16 & (CORES - 1));
        vTaskDelay(1);
    }
}

// ---- After a reset ------------------------------------------------------------------------------

// The board resets itself: its memory keeps what it had, and all cores begin again.
#ifdef __aarch64__
#define KEPT 0x40900000  // between page tables and the stacks of booting, which nothing clears

static void reset(void)
{
    register uint64_t function __asm__("x0") = 0x84000009;  // of PSCI

    __asm__ volatile("dsb sy\n hvc #0" : "+r"(function)::"memory");
}
#else
#define KEPT 0x10000038  // flags that stay

static void reset(void)
{
    enum { REBOOT = 0xc0900000 };

    *(volatile uint32_t *)0x100000a4 = REBOOT;
}
#endif

static void resets(void)
{
    volatile uint32_t *const kept = (volatile uint32_t *)KEPT;

    (void)make(keeper, "keeper", LOW, false);
    wait_until_finished(1);
    if (*kept != 0)
        return;
    printf("# begins again\n");
    *kept = 1;
    reset();
    for (;;) {}
}

// ---- What ends the program ----------------------------------------------------------------------

static void asserts(void)
{
    (void)xTaskResumeAll();  // nobody has suspended the scheduler
}

static void crasher(void *unused)
{
    (void)unused;
    CHECK(wb_freertos_migrate(NULL, 1, portMAX_DELAY) == WB_OK);
    *(volatile int *)16 = 0;
}

static void crashes(void)
{
    (void)make(crasher, "crasher", LOW, false);
    wait_until_finished(1);
}

// Files are the debugger's. What is printed has no memory, so that it faults inside.
static void has_no_debugger(void)
{
    CHECK(open("file", O_RDONLY) == -1 && errno == ENOSYS);
    errno = 0;
    CHECK(fopen("file", "w") == NULL && errno == ENOSYS);
    printf("no files\n");
    (void)write(STDOUT_FILENO, (const char *)16, 1);
}

// ---- The program --------------------------------------------------------------------------------

static void observer(void *unused)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = { { "keeps", keeps },     { "moves_asleep", moves_asleep },
                  { "refuses", refuses }, { "outcomes", outcomes },
                  { "deletes", deletes }, { "mixes", mixes },
                  { "asserts", asserts }, { "crashes", crashes },
                  { "misused", misused }, { "asks", asks },
                  { "resets", resets },   { "", has_no_debugger } };

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, wanted) != 0)
            continue;
        cases[i].run();
        printf("ok %s\n", cases[i].name);
        exit(0);
    }
    printf("no case %s\n", wanted);
    exit(2);
}

static void begin(uint32_t core)
{
    if (wb_freertos_start(memory, core, heaps[core], HEAP_BYTES) != WB_OK)
        exit(2);
    (void)xTaskCreate(noise, "noise", 256, NULL, 1, NULL);
    if (core == 0)
        (void)xTaskCreate(observer, "observer", 4 * STACK_WORDS, NULL, HIGH + 1, NULL);
    vTaskStartScheduler();
}

int main(int argc, char **argv)
{
    strncpy(wanted, argc > 1 ? argv[1] : "", sizeof wanted - 1);
    strncpy(kind, argc > 2 ? argv[2] : "", sizeof kind - 1);
    exact = strcmp(kind, "exact") == 0;
    return start_cores(memory, sizeof memory, MOVERS, begin);
}
