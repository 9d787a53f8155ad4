// SPDX-License-Identifier: Apache-2.0
// What FreeRTOS does for a task, done by the kernel that has it, whichever that is: asked by a word
// of its descriptor and a note to its core (wb_freertos.h). What is asked again before it is done
// is done once, except for notifications, which are counted.
//
// A note that comes to a core which the task has left is passed on, and a task that is under way
// has its word looked at when it is taken in (come() of ordinary.c): both sides write, then fence,
// then read. Either the core that takes it in sees the word, or whoever asks sees the new owner;
// and if a note has come meanwhile to the old one, that has seen that the task is gone, and passes
// it on.

#include "internal.h"
#include "wb_freertos.h"

enum {
    SUSPEND = 1,
    RESUME = 2,
    DELETE = 4,
    NOTIFY = 8,
    PRIORITY = 16,
    PRIORITY_SHIFT = 8,
    PRIORITY_MASK = 0xff << PRIORITY_SHIFT,
};
_Static_assert(configMAX_PRIORITIES <= 256, "a priority has a byte of wb_ask");

static volatile bool asked OF_KERNEL;  // something is, of a task that may be here

static bool is_same_life(uint32_t a, uint32_t b)
{
    return (a ^ b) >> WB_ASKED_LIFE_SHIFT == 0;
}

// The task may be over meanwhile, and another have its descriptor: then the word says so.
static enum wb_status ask_owner(struct wb_task *task, uint32_t found, uint32_t clear, uint32_t set)
{
    uint32_t word = found;

    do
        if (!is_same_life(word, found))
            return WB_ERR_GONE;
    // Release: what has been counted in `given`.
    while (!wb_word_compare_swap_weak(&of(task)->asked, &word, (word & ~clear) | set, WB_RELEASE,
                                      WB_RELAXED));
    // Against look_for_asks() of ordinary.c, see above.
    wb_word_fence(WB_SEQ_CST);
    wb_inbox_post(task->system->cores[wb_task_core(task)], task->id);
    return WB_OK;
}

static enum wb_status ask_handle(TaskHandle_t handle, uint32_t clear, uint32_t set)
{
    uint32_t found;
    struct wb_task *task = wb_freertos_find(handle, &found);

    return task != NULL ? ask_owner(task, found, clear, set) : WB_ERR_GONE;
}

enum wb_status wb_freertos_suspend(TaskHandle_t task)
{
    return ask_handle(task, RESUME, SUSPEND);
}

enum wb_status wb_freertos_resume(TaskHandle_t task)
{
    return ask_handle(task, SUSPEND, RESUME);
}

enum wb_status wb_freertos_priority(TaskHandle_t task, UBaseType_t priority)
{
    if (priority >= configMAX_PRIORITIES - 1)
        return WB_ERR_INVAL;
    return ask_handle(task, PRIORITY_MASK, PRIORITY | (uint32_t)priority << PRIORITY_SHIFT);
}

enum wb_status wb_freertos_notify(TaskHandle_t handle, UBaseType_t index)
{
    uint32_t found;
    struct wb_task *task = wb_freertos_find(handle, &found);

    if (index >= WB_FREERTOS_NOTIFICATION)
        return WB_ERR_INVAL;
    if (task == NULL)
        return WB_ERR_GONE;
    struct wb_swapped *given = &of(task)->given[index];
    // Relaxed, here and below: ask_owner() publishes it.
    uint32_t count = wb_word_load(given, WB_RELAXED);
    do {
        if (!is_same_life(count, found))
            return WB_ERR_GONE;
        if ((count & WB_ASKED) == WB_ASKED)
            return WB_ERR_FULL;
    } while (!wb_word_compare_swap_weak(given, &count, count + 1, WB_RELAXED, WB_RELAXED));
    return ask_owner(task, found, 0, NOTIFY);
}

#if INCLUDE_vTaskDelete == 1
enum wb_status wb_freertos_delete(TaskHandle_t task)
{
    return ask_handle(task, 0, DELETE);
}

static void end_task(TaskHandle_t task)
{
    vTaskDelete(task);
}
#else
static void end_task(TaskHandle_t task)
{
    (void)task;  // nobody asks
}
#endif

static void notify(struct freertos_task *ft)
{
    for (UBaseType_t i = 0; i < WB_FREERTOS_NOTIFICATION; i++) {
        // Relaxed: the word that says NOTIFY has been acquired.
        uint32_t n = wb_word_and(&ft->given[i], ~(uint32_t)WB_ASKED, WB_RELAXED) & WB_ASKED;
        for (; n != 0; n--)
            xTaskNotifyGiveIndexed(ft->handle, i);
    }
}

// The task cannot leave meanwhile: nothing less urgent than the kernel's task runs, and no switch
// takes it away while that is busy.
static void obey(struct wb_task *task)
{
    struct freertos_task *ft = of(task);
    // Acquire: what was counted before it was asked.
    const uint32_t word = wb_word_and(&ft->asked, ~(uint32_t)WB_ASKED, WB_ACQUIRE);

    if ((word & PRIORITY) != 0)
        vTaskPrioritySet(ft->handle, (word & PRIORITY_MASK) >> PRIORITY_SHIFT);
    if ((word & NOTIFY) != 0)
        notify(ft);
    if ((word & SUSPEND) != 0)
        vTaskSuspend(ft->handle);
    if ((word & RESUME) != 0)
        vTaskResume(ft->handle);
    if ((word & DELETE) != 0)
        end_task(ft->handle);
}

// Those that are here, as each may have left since.
void wb_freertos_obey(const struct wb_core *core)
{
    struct wb_system *system = core->system;

    if (!asked)
        return;
    asked = false;
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        struct wb_task *task = &system->tasks[i];
        const uint32_t owner_state = wb_word_load(&task->owner_state, WB_ACQUIRE);
        if (of(task)->is_ordinary && wb_owner_state_is_kept(owner_state, core->index))
            obey(task);
    }
}

// What is asked is done by the kernel's task, which may call all functions of FreeRTOS. After the
// switch has chosen, the note goes to the next one.
void wb_freertos_look_for_asks(struct wb_task *task)
{
    if ((wb_word_load(&of(task)->asked, WB_RELAXED) & WB_ASKED) == 0)
        return;
    asked = true;
    wb_freertos_call_kernel();
}
