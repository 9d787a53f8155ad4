// SPDX-License-Identifier: Apache-2.0
// The kernel contract (wb/kernel.h) on FreeRTOS: a task of the middleware is a task of FreeRTOS, of
// the same priority + 1.
//
// The kernel's own task, more urgent than all others, serves the inbox; the doorbell's interrupt
// only wakes it. A task that leaves the core does so by switching to that task, which finishes the
// departure from its own stack: before, the context is not complete, because FreeRTOS stores the
// stack pointer only at the switch.

#include "wb/kernel.h"

#include <string.h>

#include "board.h"
#include "tcb.h"
#include "wb/system.h"

enum after { GO_AWAY, GO_CAPTURED, GO_ENDED };

enum {
    KERNEL_PRIORITY = configMAX_PRIORITIES - 1,
    KERNEL_STACK_WORDS = 2048,
    NS_PER_TICK = 1000000000 / configTICK_RATE_HZ,
};

// The kernel's own part of a task. It moves along.
struct freertos_task {
    StaticTask_t tcb;
    bool fresh;  // its first context is to be written where its life begins
};

_Static_assert(sizeof(struct freertos_task) <= WB_KERNEL_TASK_BYTES, "raise WB_KERNEL_TASK_BYTES");

// Private memory: every kernel has its own at this address.
static struct {
    struct wb_core *core;
    struct wb_task *current;  // NULL: none of the middleware's
    struct wb_task *left;     // leaves the core; the kernel's task finishes that
    enum after after;         // what becomes of it
    uint64_t left_ns, parked_ns;
    uint64_t tick_ns;  // when the agent's tick is due
    TaskHandle_t task;
    bool ready;      // the task that left the processor last may run on
    bool switching;  // in FreeRTOS's switch, where none of its functions may be called
    bool rested;     // no task has run since this was counted as sleep
    bool outside;
} k;

struct wb_word wb_kernel_attention;

static struct freertos_task *of(struct wb_task *task)
{
    return (struct freertos_task *)(void *)task->kernel;
}

static TaskHandle_t handle(struct wb_task *task)
{
    return (TaskHandle_t)&of(task)->tcb;
}

static UBaseType_t priority_of(struct wb_task *task)
{
    return wb_sync_priority(&task->sync) + 1;
}

static bool has_notes(void)
{
    return wb_word_load(&k.core->inbox.summary, WB_RELAXED) != 0;
}

static bool is_over(void)
{
    return wb_word_load(&k.core->system->live, WB_SEQ_CST) == 0;
}

// ---- Switching ----------------------------------------------------------------------------------

void wb_freertos_out(int ready)
{
    k.ready = ready;
}

// On the stack of the task that leaves, below what has been saved of it: the kernel's task tells of
// a departure. Interrupts are off.
void wb_freertos_in(void *next)
{
    struct wb_task *from = k.current;

    // Whoever comes must not store what another has loaded for exclusive use.
    __asm__ volatile("clrex");
    if (next == from)
        return;
    const uint64_t now_ns = board_now_ns();
    k.switching = true;
    k.left_ns = now_ns;
    if (from != NULL && from != k.left)
        wb_task_paused(from, k.ready ? WB_TASK_READY : WB_TASK_BLOCKED, now_ns);
    k.current = next;
    if (next != NULL) {
        wb_task_resumed(next, now_ns);
        wb_word_store(&wb_kernel_attention, wb_checkpoint_wanted(next), WB_RELAXED);
        k.rested = false;
    }
    k.switching = false;
}

void wb_freertos_idle(void)
{
    if (!k.rested)
        wb_counter_add(&k.core->stats.sleeps, 1);
    k.rested = true;
}

// One step: no other task may leave meanwhile. The switch happens at once; the rest of the critical
// section is saved with the task, and done wherever it runs next. Returns false if it was not left.
static bool leave(enum after after)
{
    taskENTER_CRITICAL();
    if (after == GO_AWAY && !wb_departure_is_due(k.current)) {
        taskEXIT_CRITICAL();
        return false;
    }
    k.left = k.current;
    k.after = after;
    k.parked_ns = board_now_ns();
    xTaskNotifyGive(k.task);
    taskEXIT_CRITICAL();
    return true;
}

static void tell_all_that_it_is_over(void)
{
    for (uint32_t i = 0; i < k.core->system->n_cores; i++)
        board_ring(i);
}

static void finish_left(void)
{
    struct wb_task *task = k.left;

    k.left = NULL;
    if (task == NULL)
        return;
    if (k.after == GO_CAPTURED) {
        wb_task_captured(task);
        wb_task_paused(task, WB_TASK_READY, k.left_ns);
        return;
    }
    wb_tcb_detach(&of(task)->tcb);
    if (k.after == GO_AWAY)
        wb_task_departed(task, k.parked_ns, k.left_ns);
    else
        wb_task_paused(task, WB_TASK_ENDED, k.left_ns);
    if (is_over())
        tell_all_that_it_is_over();
}

// ---- The kernel's task --------------------------------------------------------------------------

static TickType_t ticks_until(uint64_t until_ns)
{
    const uint64_t most = portMAX_DELAY - 1;

    if (until_ns == WB_FOREVER)
        return portMAX_DELAY;
    const uint64_t now_ns = board_now_ns();
    if (until_ns <= now_ns)
        return 0;
    // The present tick has begun already.
    const uint64_t ticks = (until_ns - now_ns) / NS_PER_TICK + 2;
    return (TickType_t)(ticks < most ? ticks : most);
}

static void serve(void)
{
    const uint64_t now_ns = board_now_ns();

    if (has_notes())
        (void)wb_agent_serve(k.core);
    if (now_ns >= k.tick_ns)
        k.tick_ns = wb_agent_tick(k.core, now_ns);
}

static void run(void *unused)
{
    (void)unused;
    k.tick_ns = wb_agent_tick(k.core, board_now_ns());
    wb_word_store(&k.core->state, WB_CORE_UP, WB_RELEASE);
    while (!is_over()) {
        finish_left();
        serve();
        if (!has_notes())
            (void)ulTaskNotifyTake(pdTRUE, ticks_until(k.tick_ns));
    }
    wb_word_store(&k.core->state, WB_CORE_STOPPED, WB_RELEASE);
    vTaskSuspend(NULL);
}

_Noreturn void wb_freertos_run(struct wb_core *core)
{
    static StackType_t stack[KERNEL_STACK_WORDS];
    static StaticTask_t tcb;

    k.core = core;
    k.task =
        xTaskCreateStatic(run, "whimbrel", KERNEL_STACK_WORDS, NULL, KERNEL_PRIORITY, stack, &tcb);
    vTaskStartScheduler();
    board_halt();
}

void wb_freertos_doorbell(void)
{
    BaseType_t woken = pdFALSE;

    if (k.task != NULL)
        vTaskNotifyGiveFromISR(k.task, &woken);
    portYIELD_FROM_ISR(woken);
}

void wb_freertos_fault(enum wb_fault_kind kind, const char *text)
{
    if (k.core != NULL)
        wb_system_fault(k.core->system, kind, wb_kernel_self(), text);
    board_halt();
}

// configASSERT() of FreeRTOSConfig.h.
_Noreturn void wb_freertos_asserted(const char *file, int line);
void wb_freertos_asserted(const char *file, int line)
{
    (void)line;
    wb_freertos_fault(WB_FAULT_KERNEL, file);
}

void wb_freertos_outside(bool outside)
{
    k.outside = outside;
}

// ---- The contract -------------------------------------------------------------------------------

struct wb_task *wb_kernel_self(void)
{
    return k.outside ? NULL : k.current;
}

uint32_t wb_kernel_can(void)
{
    return WB_CAN_REPLICATE | WB_CAN_CAPTURE;
}

uint32_t wb_kernel_core(void)
{
    return k.core != NULL && !k.outside ? k.core->index : WB_CORE_NONE;
}

uint64_t wb_kernel_stamp_ns(void)
{
    return board_now_ns();
}

// A task may do nothing but read the clock.
uint64_t wb_kernel_now_ns(void)
{
    board_relax();
    return board_now_ns();
}

static void start(void *task)
{
    wb_task_main(task);
}

// Its first context is written by the kernel that takes it in: its stack may be in private memory.
enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    enum { LEAST_STACK_BYTES = 1024 };

    if (task->stack == NULL || task->stack_bytes < LEAST_STACK_BYTES ||
        task->priority + 1 >= KERNEL_PRIORITY)
        return WB_ERR_INVAL;
    of(task)->fresh = true;
    return WB_OK;
}

void wb_kernel_attach(struct wb_task *task)
{
    struct freertos_task *ft = of(task);

    if (ft->fresh)
        wb_tcb_create(&ft->tcb,
                      &(struct wb_tcb_config){ .name = task->name,
                                               .entry = start,
                                               .task = task,
                                               .priority = priority_of(task),
                                               .stack = (StackType_t *)(void *)task->stack,
                                               .stack_bytes = task->stack_bytes });
    ft->fresh = false;
    wb_tcb_attach(&ft->tcb, priority_of(task));
}

enum wb_status wb_kernel_depart(void)
{
    if (wb_tcb_is_held(&of(k.current)->tcb))
        return WB_ERR_HELD;
    return leave(GO_AWAY) ? WB_OK : WB_ERR_GONE;
}

enum wb_status wb_kernel_block(uint64_t until_ns)
{
    const TickType_t ticks = ticks_until(until_ns);

    // At its end, who is as urgent runs first.
    if (ulTaskNotifyTakeIndexed(WB_FREERTOS_NOTIFICATION, pdTRUE, ticks) == 0 && ticks == 0)
        taskYIELD();
    return until_ns != WB_FOREVER && board_now_ns() >= until_ns ? WB_ERR_TIMEOUT : WB_OK;
}

// A task that arrives wakes whoever asked for its move: the kernel's task does that, soon after.
void wb_kernel_unblock(struct wb_task *task)
{
    if (k.switching)
        wb_inbox_post(k.core, task->id);
    else
        xTaskNotifyGiveIndexed(handle(task), WB_FREERTOS_NOTIFICATION);
}

// Nothing interrupts FreeRTOS's switch; outside of kernels there is nothing to keep away.
static bool is_interruptible(void)
{
    return wb_kernel_core() != WB_CORE_NONE && !k.switching;
}

void wb_kernel_enter(void)
{
    if (is_interruptible())
        taskENTER_CRITICAL();
}

void wb_kernel_leave(void)
{
    if (is_interruptible())
        taskEXIT_CRITICAL();
}

void wb_kernel_reprioritise(struct wb_task *task)
{
    vTaskPrioritySet(handle(task), priority_of(task));
}

// Who is more urgent runs already.
void wb_kernel_yield(uint32_t floor)
{
    if (has_notes())
        xTaskNotifyGive(k.task);
    if (floor + 1 <= priority_of(k.current))
        taskYIELD();
}

// There is nothing to gain: who waits switches away in no more time than a message takes.
bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    (void)spin;
    (void)until_ns;
    return false;
}

// Only what it runs for counts: not what others take of the processor meanwhile, up to the shortest
// time that they take.
void wb_kernel_compute(uint64_t cycles)
{
    enum { OTHERS_NS = 10000 };
    const uint64_t wanted_ns = cycles * 1000 / (board_hz() / 1000000);
    uint64_t ran_ns = 0, last_ns = board_now_ns();

    while (ran_ns < wanted_ns) {
        const uint64_t now_ns = wb_kernel_now_ns(), runs = now_ns - last_ns;
        ran_ns += runs < OTHERS_NS ? runs : 0;
        last_ns = now_ns;
    }
}

void wb_kernel_doorbell(uint32_t core)
{
    board_ring(core);
}

const void *wb_kernel_private(uint32_t core, const void *address)
{
    return board_private(core, address);
}

void wb_kernel_capture(void)
{
    if (!wb_tcb_is_held(&of(k.current)->tcb))
        (void)leave(GO_CAPTURED);
}

void *wb_kernel_stack_low(const struct wb_task *task)
{
    return wb_tcb_stack_low(&((const struct freertos_task *)(const void *)task->kernel)->tcb);
}

void wb_kernel_exit(void)
{
    (void)leave(GO_ENDED);
    __builtin_unreachable();
}

void wb_kernel_halt(void)
{
    board_halt();
}
