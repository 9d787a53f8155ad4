// SPDX-License-Identifier: Apache-2.0
// Ordinary tasks of FreeRTOS: each has a descriptor of the middleware while it is adopted, so it is
// asked, parked, offered and taken in as any other.
//
// Descriptors that nobody has are ENDED and free. Whoever adopts takes one by a compare-and-swap;
// the end of a task gives it back.

#include "wb/launcher.h"
#include "wb_freertos.h"

#include <string.h>

#include "freertos_board.h"
#include "internal.h"

enum { OFFER_TIMEOUT_NS = 1000000000 };

// Only heap_5 has it.
void vPortDefineHeapRegions(const HeapRegion_t *regions) __attribute__((weak));

static struct wb_system *the_system(void)
{
    const struct wb_core *core = wb_freertos_core();

    return core != NULL ? core->system : NULL;
}

static bool is_over(const struct wb_task *task)
{
    return wb_state_is_over(wb_word_load(&task->owner_state, WB_ACQUIRE));
}

// By comparing, as a handle may be of a task that is deleted. `over`: one that is, if there is none
// else.
static struct wb_task *find_any(TaskHandle_t handle, bool *over)
{
    struct wb_system *system = the_system();
    struct wb_task *found = NULL;

    for (uint32_t i = 0; system != NULL && i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        if (!of(task)->is_ordinary || of(task)->handle != handle)
            continue;
        *over = is_over(task);
        found = task;
        if (!*over)
            break;
    }
    return found;
}

static struct wb_task *find_ordinary(TaskHandle_t handle)
{
    bool over = false;
    struct wb_task *task = find_any(handle, &over);

    return over ? NULL : task;
}

static TaskHandle_t or_self(TaskHandle_t handle)
{
    return handle != NULL ? handle : xTaskGetCurrentTaskHandle();
}

struct wb_task *wb_freertos_find(TaskHandle_t handle, uint32_t *asked)
{
    struct wb_task *task = find_ordinary(or_self(handle));

    if (task == NULL)
        return NULL;
    // Acquire, and then the handle once more: it is the handle of this life.
    *asked = wb_word_load(&of(task)->asked, WB_ACQUIRE);
    return of(task)->handle == or_self(handle) && !is_over(task) ? task : NULL;
}

// ---- Beginning ----------------------------------------------------------------------------------

static void add_free(struct wb_system *system)
{
    struct wb_task *task = &system->tasks[system->n_tasks];

    task->system = system;
    task->id = system->n_tasks++;
    task->migratable = true;
    of(task)->is_ordinary = true;
    wb_word_init(&of(task)->is_free, 1);
    wb_word_init(&task->owner_state, wb_owner_state(WB_TASK_ENDED, 0));
}

enum wb_status wb_freertos_init(void *memory, size_t bytes, uint32_t cores, uint32_t tasks)
{
    const struct wb_system_config config = { .cores = cores,
                                             .tasks = tasks,
                                             .core_align = WB_LINE_BYTES,
                                             .offer_timeout_ns = OFFER_TIMEOUT_NS };
    struct wb_system *system;

    if (!board_is_global(memory))
        return WB_ERR_INVAL;
    const enum wb_status status = wb_system_init(&system, memory, bytes, &config);
    for (uint32_t i = 0; status == WB_OK && i < tasks; i++)
        add_free(system);
    if (status == WB_OK) {
        system->endless = true;
        wb_word_init(&system->live, 1);
    }
    return status;
}

enum wb_status wb_freertos_start(void *memory, uint32_t core, void *heap, size_t heap_bytes)
{
    struct wb_system *system = memory;

    if (core >= system->n_cores)
        return WB_ERR_INVAL;
    if (heap != NULL) {
        const HeapRegion_t regions[] = { { heap, heap_bytes }, { NULL, 0 } };
        struct freertos_core *own = (struct freertos_core *)(void *)system->cores[core]->kernel;
        if (vPortDefineHeapRegions == NULL || !board_is_global(heap) ||
            !board_is_global((unsigned char *)heap + heap_bytes - 1))
            return WB_ERR_INVAL;
        own->heap = heap;
        own->heap_end = own->heap + heap_bytes;
        vPortDefineHeapRegions(regions);
    }
    wb_freertos_begin(system->cores[core]);
    return WB_OK;
}

// ---- Coming -------------------------------------------------------------------------------------

// Against ask(): it sees that the task is here, or its word is seen here.
static void look_for_asks(struct wb_task *task)
{
    if (wb_freertos_look_for_asks == NULL)
        return;
    wb_word_fence(WB_SEQ_CST);
    wb_freertos_look_for_asks(task);
}

static void come(struct wb_task *task)
{
    struct freertos_task *ft = of(task);

    ft->ahead += wb_tcb_come(ft->handle) - ft->left_at;
    look_for_asks(task);
}

// ---- Moving asleep ------------------------------------------------------------------------------

static void come_asleep(struct wb_task *task)
{
    struct freertos_task *ft = of(task);

    if (ft->asleep == 0) {
        come(task);
        return;
    }
    ft->ahead += wb_tcb_come_asleep(ft->handle, ft->asleep) - ft->left_at;
    ft->asleep = 0;
    look_for_asks(task);
    wb_task_came_asleep(task, wb_kernel_stamp_ns());
}

// A request has come for one that may be asleep.
static void look_at_ordinary(struct wb_task *task)
{
    struct freertos_task *ft = of(task);

    ft->hold = wb_tcb_leave_asleep(ft->handle, &ft->left_at, &ft->asleep);
    if (ft->hold == WB_TCB_READY)
        return;  // it comes to its checkpoint
    if (ft->hold == WB_TCB_FALLING) {
        wb_inbox_post(wb_freertos_core(), task->id);
        return;
    }
    if (ft->hold != WB_TCB_FREE) {
        wb_migration_cancel(task, WB_ERR_HELD);
        return;
    }
    if (!wb_departure_accept(task)) {
        (void)wb_tcb_come_asleep(ft->handle, ft->asleep);
        ft->asleep = 0;
        return;
    }
    const uint64_t now_ns = wb_kernel_stamp_ns();
    task->resumed_ns = now_ns;  // it has not run since it was counted
    wb_task_departed(task, now_ns, now_ns);
}

// ---- Adopting -----------------------------------------------------------------------------------

static bool take_descriptor(struct wb_task *task, uint32_t core)
{
    uint32_t owner_state = wb_word_load(&task->owner_state, WB_RELAXED);

    // Acquire: what its last task left is written.
    return of(task)->is_ordinary && wb_word_load(&of(task)->is_free, WB_ACQUIRE) != 0 &&
           wb_task_state_of(owner_state) == WB_TASK_ENDED && !wb_migration_pending(task) &&
           wb_word_compare_swap(&task->owner_state, &owner_state, wb_owner_state(WB_TASK_NEW, core),
                                WB_ACQUIRE, WB_RELAXED);
}

static struct wb_task *take_any(struct wb_system *system, uint32_t core)
{
    for (uint32_t i = 0; i < system->n_tasks; i++)
        if (take_descriptor(&system->tasks[i], core))
            return &system->tasks[i];
    return NULL;
}

static bool can_move(const struct wb_tcb_about *about, TaskHandle_t handle)
{
    return board_is_global(handle) && board_is_global(about->stack) &&
           board_is_global((unsigned char *)about->stack + about->stack_bytes - 1) &&
           about->priority < configMAX_PRIORITIES - 1;
}

// Whoever asks yet for the task that had this descriptor before finds a new number, and gives up:
// first where it asks, then where it has counted.
static void begin_life(struct freertos_task *ft)
{
    const uint32_t last = wb_word_load(&ft->asked, WB_RELAXED) >> WB_ASKED_LIFE_SHIFT;

    // Release: whoever sees the number does not see the handle of the last life.
    ft->handle = NULL;
    (void)wb_word_swap(&ft->asked, (last + 1) << WB_ASKED_LIFE_SHIFT, WB_RELEASE);
    for (uint32_t i = 0; i < WB_FREERTOS_NOTIFICATION; i++)
        (void)wb_word_swap(&ft->given[i], (last + 1) << WB_ASKED_LIFE_SHIFT, WB_RELAXED);
}

static void adopt(struct wb_task *task, TaskHandle_t handle, const struct wb_tcb_about *about,
                  void (*enter)(struct wb_task *), void (*look)(struct wb_task *))
{
    struct freertos_task *ft = of(task);

    strncpy(task->name, about->name, sizeof task->name - 1);
    task->stack = about->stack;
    task->stack_bytes = about->stack_bytes;
    task->stats = (struct wb_task_stats){ 0 };
    begin_life(ft);
    ft->handle = handle;
    ft->enter = enter;
    ft->look = look;
    ft->is_deleted = false;
    wb_word_store(&ft->is_free, 0, WB_RELAXED);
    ft->asleep = ft->ahead = 0;
    ft->hold = WB_TCB_FREE;
    wb_tcb_adopt(handle, task);
    (void)wb_word_add(&task->system->live, 1, WB_RELAXED);
}

static enum wb_status adopt_as(TaskHandle_t handle, void (*enter)(struct wb_task *),
                               void (*look)(struct wb_task *))
{
    struct wb_core *core = wb_freertos_core();
    const struct wb_tcb_about about = wb_tcb_about(handle);

    if (core == NULL || !can_move(&about, handle))
        return WB_ERR_INVAL;
    if (find_ordinary(handle) != NULL)
        return WB_ERR_BUSY;
    // Nobody serves here while it is NEW: it is no task to be attached.
    taskENTER_CRITICAL();
    struct wb_task *descriptor = take_any(core->system, core->index);
    if (descriptor != NULL) {
        adopt(descriptor, handle, &about, enter, look);
        wb_word_store(&descriptor->owner_state, wb_owner_state(WB_TASK_READY, core->index),
                      WB_RELEASE);
    }
    taskEXIT_CRITICAL();
    // The switch to it finds out.
    if (handle == xTaskGetCurrentTaskHandle())
        taskYIELD();
    return descriptor != NULL ? WB_OK : WB_ERR_NOMEM;
}

// In two functions, so that a program that does not call the second does not have what it takes.
enum wb_status wb_freertos_adopt(TaskHandle_t task)
{
    return adopt_as(or_self(task), come, NULL);
}

enum wb_status wb_freertos_adopt_sleeper(TaskHandle_t task)
{
    return adopt_as(or_self(task), come_asleep, look_at_ordinary);
}

// ---- Asking -------------------------------------------------------------------------------------

enum wb_status wb_freertos_request(TaskHandle_t task, uint32_t core)
{
    struct wb_task *found = find_ordinary(task);

    return found != NULL ? wb_migration_request(found, core, WB_FOREVER, NULL) : WB_ERR_GONE;
}

// Whoever waits looks once in each tick: it need not be a task that is adopted. By the number, as
// others may ask for the next migration, which is not to be withdrawn, before this one looks.
static enum wb_status wait(struct wb_task *task, uint32_t core, uint32_t number, TickType_t ticks)
{
    enum wb_status status;

    while ((status = wb_migration_outcome(task, number)) == WB_ERR_EMPTY) {
        // Its target has it for good, but has not come to run it.
        if (ticks == 0 && wb_task_stays(task) && wb_task_core(task) == core)
            return WB_OK;
        if (ticks == 0)
            wb_migration_withdraw(task, number, WB_ERR_TIMEOUT);
        vTaskDelay(1);
        ticks -= ticks != 0;
    }
    return status;
}

enum wb_status wb_freertos_migrate(TaskHandle_t task, uint32_t core, TickType_t ticks)
{
    struct wb_task *found = find_ordinary(or_self(task));

    if (found == NULL)
        return WB_ERR_GONE;
    if (wb_task_core(found) == core && !wb_migration_pending(found))
        return WB_OK;
    uint32_t number;
    const enum wb_status asked = wb_migration_begin(found, core, WB_FOREVER, &number);
    if (asked != WB_OK)
        return asked;
    if (found == wb_kernel_self())
        wb_checkpoint_enter();
    return wait(found, core, number, ticks);
}

const char *wb_freertos_hold(TaskHandle_t task)
{
    static const char *const words[] = {
        [WB_TCB_FREE] = "nothing",
        [WB_TCB_HOLDS] = "it holds a mutex of its kernel",
        [WB_TCB_INHERITS] = "it has inherited a priority from a task of its kernel",
        [WB_TCB_CLOSES] = "it has suspended its scheduler",
        [WB_TCB_CRITICAL] = "it is in a critical section, or has disabled interrupts",
        [WB_TCB_WAITS] = "it waits for a queue, a semaphore or a notification of its kernel",
        [WB_TCB_SUSPENDED] = "it is suspended",
        [WB_TCB_READY] = "nothing",
        [WB_TCB_FALLING] = "nothing",
    };
    bool over = false;
    struct wb_task *found = find_any(or_self(task), &over);

    if (found == NULL)
        return "it is not adopted";
    return over ? "it is deleted" : words[of(found)->hold];
}

uint32_t wb_freertos_core_of(TaskHandle_t task)
{
    struct wb_task *found = find_ordinary(or_self(task));

    return found != NULL ? wb_task_core(found) : WB_CORE_NONE;
}

// ---- Ticks --------------------------------------------------------------------------------------

static TickType_t ahead(void)
{
    struct wb_task *self = wb_kernel_self();

    return self != NULL ? of(self)->ahead : 0;
}

TickType_t wb_freertos_ticks(void)
{
    return xTaskGetTickCount() - ahead();
}

// It may move meanwhile: what is carried is the clock's time.
BaseType_t wb_freertos_delay_until(TickType_t *last_wake, TickType_t period)
{
    TickType_t here = *last_wake + ahead();

    *last_wake += period;
    return xTaskDelayUntil(&here, period);
}
