// SPDX-License-Identifier: Apache-2.0
// The kernel contract (wb/kernel.h) on FreeRTOS: a task of the middleware is a task of FreeRTOS, of
// the same priority + 1.
//
// Two places serve the inbox, never at once. FreeRTOS's switch, which the doorbell's interrupt asks
// for, takes in what is brief: tasks that are handed off to this core, and wakes. It publishes a
// hand-off from here, too: it runs on a stack of its own (freertos_tasks_c_additions.h), so the
// context of the task that leaves is complete. All else is done by the kernel's own task, more
// urgent than all others.

#include "wb/kernel.h"

#include "freertos_board.h"
#include "freertos_modules.h"
#include "internal.h"

enum {
    KERNEL_PRIORITY = configMAX_PRIORITIES - 1,
    KERNEL_STACK_WORDS = 2048,
    NS_PER_TICK = 1000000000 / configTICK_RATE_HZ,
};

#if configUSE_TIMERS == 1
_Static_assert(configTIMER_TASK_PRIORITY < KERNEL_PRIORITY,
               "Whimbrel has the most urgent task: lower configTIMER_TASK_PRIORITY");
#endif

static struct {
    struct wb_core *core;
    struct wb_task *current;  // NULL: none of the middleware's
    struct wb_task *left;     // leaves the core; the kernel's task finishes that
    void (*finish)(struct wb_task *left);
    bool at_once;  // FreeRTOS's switch finishes that
    uint64_t left_ns, parked_ns;
    uint64_t switch_ns;  // the time of the present switch
    uint64_t tick_ns;    // when the agent's tick is due
    TaskHandle_t task;
    int ready;  // the task that left the processor last may run on
    // In FreeRTOS's switch, where none of its functions may be called: before the choice of who
    // runs next, or after it.
    enum { NOT_SWITCHING, CHOOSING, CHOSEN } switching;
    volatile bool rung;  // by the doorbell, and nobody has looked since
    volatile bool busy;  // the kernel's task does not wait
    // Of this switch: none is under way; its time is not known yet; switch_ns is its time.
    enum { NOT_TIMED, UNTIMED, TIMED } timing;
    bool entered;  // a task is between wb_kernel_enter() and wb_kernel_leave(), and has
    bool outdone;  // unblocked one that is more urgent
    bool rested;   // no task has run since this was counted as sleep
    bool in_supervisor;
    bool up;  // FreeRTOS's scheduler has started
} k OF_KERNEL;

struct wb_word wb_kernel_need_resched OF_KERNEL;

struct wb_recreated **wb_freertos_recreated(struct wb_task *task)
{
    return &of(task)->recreated;
}

static UBaseType_t priority_of(struct wb_task *task)
{
    return wb_sync_priority(&task->sync) + 1;
}

static bool has_pending_bits(void)
{
    return wb_word_load(&k.core->inbox.summary, WB_RELAXED) != 0;
}

static bool is_over(void)
{
    return wb_word_load(&k.core->system->live, WB_SEQ_CST) == 0;
}

// ---- Switching ----------------------------------------------------------------------------------

// FreeRTOS has written all that it keeps in the TCB.
static void depart_at_once(struct wb_task *task, uint64_t now_ns)
{
    const unsigned char *here;

    __asm__("mov %0, sp" : "=r"(here));
    // Its target may run it before this returns.
    configASSERT((size_t)(here - task->stack) >= task->stack_bytes);
    k.at_once = false;
    k.left = NULL;
    k.current = NULL;
    wb_task_departed(task, now_ns, now_ns);
}

static void check_pending_bits(void)
{
    k.rung = false;
    k.switching = CHOOSING;
    k.switch_ns = board_now_ns();
    k.timing = TIMED;
    if (wb_agent_admit(k.core) || is_over())
        (void)wb_tcb_notify(k.task, 0);
    k.switching = NOT_SWITCHING;
}

// Before FreeRTOS chooses who is next. All of its lists are whole, and interrupts are off.
void wb_freertos_out(int ready)
{
    k.ready = ready;
    k.timing = UNTIMED;
    if (k.rung && !k.busy)
        check_pending_bits();
}

// Its descriptor is free after this. Release: whoever adopts with it finds all of the end done.
static void end_deleted(struct wb_task *task, uint64_t now_ns)
{
    wb_task_paused(task, WB_TASK_ENDED, now_ns);
    wb_word_store(&of(task)->is_free, 1, WB_RELEASE);
}

static void switch_to(struct wb_task *next)
{
    struct wb_task *from = k.current;
    // One switch is one point in time.
    const uint64_t now_ns = k.timing == TIMED ? k.switch_ns : board_now_ns();

    k.switching = CHOSEN;
    k.switch_ns = now_ns;
    k.left_ns = now_ns;
    if (k.at_once)
        depart_at_once(from, now_ns);
    else if (from != NULL && from != k.left && of(from)->is_deleted)
        end_deleted(from, now_ns);
    else if (from != NULL && from != k.left)
        wb_task_paused(from, k.ready ? WB_TASK_READY : WB_TASK_BLOCKED, now_ns);
    k.current = next;
    if (next != NULL) {
        wb_task_resumed(next, now_ns);
        k.rested = false;
    }
    k.switching = NOT_SWITCHING;
}

// After it has chosen.
void wb_freertos_in(void *next)
{
    // Whoever comes must not store what another has loaded for exclusive use.
    __asm__ volatile("clrex");
    if (next != k.current)
        switch_to(next);
    k.timing = NOT_TIMED;
    if (next != NULL)
        wb_word_store(&wb_kernel_need_resched, wb_checkpoint_wanted(next), WB_RELAXED);
}

unsigned long long wb_freertos_run_time(void)
{
    if (k.timing == NOT_TIMED)
        return board_now_ns();
    if (k.timing == UNTIMED) {
        k.switch_ns = board_now_ns();
        k.timing = TIMED;
    }
    return k.switch_ns;
}

void wb_freertos_idle(void)
{
    if (!k.rested)
        wb_counter_add(&k.core->stats.sleeps, 1);
    k.rested = true;
}

// What leaves the core without being copied is published by the switch.
static enum wb_status leave_at_once(void)
{
    struct wb_task *self = k.current;
    enum wb_status status = WB_ERR_GONE;

    if (wb_port_is_disabled()) {
        of(self)->hold = WB_TCB_CRITICAL;
        return WB_ERR_HELD;
    }
    wb_port_mask();
    if (wb_departure_is_due(self)) {
        struct freertos_task *ft = of(self);
        ft->hold = wb_tcb_leave(ft->handle, &ft->left_at);
        status = ft->hold == WB_TCB_FREE ? WB_OK : WB_ERR_HELD;
    }
    if (status == WB_OK) {
        k.left = self;
        k.at_once = true;
        wb_port_switch();
    }
    wb_port_unmask();
    return status;
}

static void start(void *task)
{
    wb_task_main(task);
}

// Where its life begins.
static __attribute__((cold)) void begin(struct wb_task *task)
{
    struct freertos_task *ft = of(task);

    if (ft->recreated != NULL)
        wb_freertos_recreation.require(task);
    wb_tcb_create(&ft->tcb, &(struct wb_tcb_config){ .name = task->name,
                                                     .entry = start,
                                                     .task = task,
                                                     .priority = priority_of(task),
                                                     .stack = (StackType_t *)(void *)task->stack,
                                                     .stack_bytes = task->stack_bytes });
}

static void enter(struct wb_task *task)
{
    wb_tcb_attach(&of(task)->tcb, priority_of(task));
}

// In a critical section, so that no other task leaves meanwhile. The switch happens at its end;
// what is then saved with the task goes on wherever it runs next. What becomes of it is a function,
// so that the linker leaves out what no task of the program does.
static void leave(void (*finish)(struct wb_task *left))
{
    k.left = k.current;
    k.finish = finish;
    k.parked_ns = board_now_ns();
    xTaskNotifyGive(k.task);
}

static void finish_left(void)
{
    struct wb_task *task = k.left;

    k.left = NULL;
    if (task != NULL)
        k.finish(task);
}

// Of one that is recreated nothing stays here. It begins anew wherever it is attached.
static void clear_up(struct wb_task *task)
{
    wb_kernel_unload(task);
    if (of(task)->recreated != NULL)
        of(task)->begin = begin;
}

static void finish_departed(struct wb_task *task)
{
    clear_up(task);
    wb_task_departed(task, k.parked_ns, k.left_ns);
}

static void finish_captured(struct wb_task *task)
{
    wb_task_captured(task);
    wb_task_paused(task, WB_TASK_READY, k.left_ns);
}

static void finish_ended(struct wb_task *task)
{
    clear_up(task);
    wb_task_paused(task, WB_TASK_ENDED, k.left_ns);
}

// ---- The kernel's task --------------------------------------------------------------------------

static TickType_t ticks_until(uint64_t until_ns)
{
    if (until_ns == WB_FOREVER)
        return portMAX_DELAY;
    const uint64_t now_ns = board_now_ns();
    if (until_ns <= now_ns)
        return 0;
    // The present tick has begun already. Who waits for longer than four seconds looks in between:
    // dividing 64 bits would take hundreds of instructions.
    const uint64_t ns = until_ns - now_ns;
    return (uint32_t)(ns < UINT32_MAX ? ns : UINT32_MAX) / NS_PER_TICK + 2;
}

static void serve(void)
{
    const uint64_t now_ns = board_now_ns();

    if (has_pending_bits())
        (void)wb_agent_serve(k.core);
    if (now_ns >= k.tick_ns)
        k.tick_ns = wb_agent_tick(k.core, now_ns);
}

// After the switch has chosen it cannot be.
void wb_freertos_call_kernel(void)
{
    if (k.switching == CHOOSING)
        (void)wb_tcb_notify(k.task, 0);
    else if (k.entered)
        k.outdone |= wb_tcb_notify(k.task, 0);
    else if (k.switching != CHOSEN)
        xTaskNotifyGive(k.task);
}

static void run(void *unused)
{
    (void)unused;
    k.up = true;
    k.tick_ns = wb_agent_tick(k.core, board_now_ns());
    wb_word_store(&k.core->state, WB_CORE_UP, WB_RELEASE);
    while (!is_over()) {
        k.rung = false;
        finish_left();
        serve();
        if (wb_freertos_obey != NULL)
            wb_freertos_obey(k.core);
        // Who rings from here on has the switch wake this task, even before it waits.
        k.busy = false;
        if (!k.rung)
            (void)ulTaskNotifyTake(pdTRUE, ticks_until(k.tick_ns));
        k.busy = true;
    }
    wb_word_store(&k.core->state, WB_CORE_STOPPED, WB_RELEASE);
    vTaskSuspend(NULL);
}

void wb_freertos_begin(struct wb_core *core)
{
    static StackType_t stack[KERNEL_STACK_WORDS] OF_KERNEL;
    static StaticTask_t tcb OF_KERNEL;

    k.core = core;
    k.busy = true;
    k.task =
        xTaskCreateStatic(run, "whimbrel", KERNEL_STACK_WORDS, NULL, KERNEL_PRIORITY, stack, &tcb);
}

_Noreturn void wb_freertos_run(struct wb_core *core)
{
    wb_freertos_begin(core);
    vTaskStartScheduler();
    wb_freertos_fault(WB_FAULT_KERNEL, "FreeRTOS's scheduler does not start");
}

struct wb_core *wb_freertos_core(void)
{
    return k.core;
}

// ---- Calls of FreeRTOS for its tasks ------------------------------------------------------------

// One that runs is over when it is switched away from.
void wb_freertos_deleted(void *at, int runs)
{
    struct wb_task *task = at;

    if (task == NULL)
        return;
    configASSERT(of(task)->is_ordinary);  // others end by returning
    of(task)->is_deleted = true;
    if (runs)
        return;
    task->resumed_ns = k.switch_ns = board_now_ns();
    k.switching = CHOSEN;
    end_deleted(task, k.switch_ns);
    k.switching = NOT_SWITCHING;
}

void wb_freertos_doorbell(void)
{
    k.rung = true;
    portYIELD_FROM_ISR(k.up);
}

void wb_freertos_in_supervisor(bool in_supervisor)
{
    k.in_supervisor = in_supervisor;
}

// ---- The contract -------------------------------------------------------------------------------

struct wb_task *wb_kernel_self(void)
{
    return k.in_supervisor ? NULL : k.current;
}

uint32_t wb_kernel_can(void)
{
    return WB_CAN_REPLICATE | WB_CAN_CAPTURE |
           (wb_freertos_recreation.require != NULL ? WB_CAN_RECREATE : 0);
}

uint32_t wb_kernel_core(void)
{
    return k.core != NULL && !k.in_supervisor ? k.core->index : WB_CORE_NONE;
}

uint64_t wb_kernel_stamp_ns(void)
{
    return board_now_ns();
}

// A task may do nothing but read the clock.
uint64_t wb_kernel_now_ns(void)
{
    if (k.switching != NOT_SWITCHING)
        return k.switch_ns;
    board_relax();
    return board_now_ns();
}

// One that is handed off takes nothing along, and so does one whose core has died. One that is
// re-entered begins on the same stack.
static bool is_seen_where_it_goes(const struct wb_task *task)
{
    const unsigned char *last = task->stack + task->stack_bytes - 1;
    const bool keeps_its_stack = wb_task_is_handed_off(task) || task->mode == WB_REENTER;

    return !keeps_its_stack || (board_is_global(task->stack) && board_is_global(last));
}

// Its first context is written by the kernel that takes it in: its stack may be in private memory.
// All of the part that counts in a new life is set here or there: a life before may have been on
// these kernels.
enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    enum { LEAST_STACK_BYTES = 256 * sizeof(StackType_t) };

    if (task->stack == NULL || task->stack_bytes < LEAST_STACK_BYTES ||
        !is_seen_where_it_goes(task) || wb_own_priority(task) + 1 >= KERNEL_PRIORITY)
        return WB_ERR_INVAL;
    of(task)->handle = (TaskHandle_t)&of(task)->tcb;
    of(task)->begin = begin;
    of(task)->enter = enter;
    return WB_OK;
}

// Nothing else of this core runs, in the kernel's task as in the switch.
static void exclude(bool exclude)
{
    if (k.switching != NOT_SWITCHING)
        return;
    if (exclude) {
        taskENTER_CRITICAL();
    } else {
        taskEXIT_CRITICAL();
    }
}

void wb_kernel_attach(struct wb_task *task)
{
    struct freertos_task *ft = of(task);

    if (ft->begin != NULL) {
        ft->begin(task);
        ft->begin = NULL;
    }
    if (k.switching == CHOOSING) {
        ft->enter(task);
        return;
    }
    taskENTER_CRITICAL();
    ft->enter(task);
    taskEXIT_CRITICAL();
}

enum wb_status wb_kernel_depart(void)
{
    if (wb_task_is_handed_off(k.current))
        return leave_at_once();
    const struct freertos_task *ft = of(k.current);
    if (wb_tcb_held(ft->handle) != WB_TCB_FREE)
        return WB_ERR_HELD;
    const enum wb_status parked =
        ft->recreated != NULL ? wb_freertos_recreation.park(k.current) : WB_OK;
    if (parked != WB_OK)
        return parked;
    taskENTER_CRITICAL();
    const bool is_due = wb_departure_is_due(k.current);
    if (is_due) {
        wb_tcb_detach(ft->handle);
        leave(finish_departed);
    }
    taskEXIT_CRITICAL();
    return is_due ? WB_OK : WB_ERR_GONE;
}

enum wb_status wb_kernel_block(uint64_t until_ns)
{
    const TickType_t ticks = ticks_until(until_ns);

    // At its end, who is as urgent runs first.
    if (ulTaskNotifyTakeIndexed(WB_FREERTOS_NOTIFICATION, pdTRUE, ticks) == 0 && ticks == 0)
        taskYIELD();
    return until_ns != WB_FOREVER && board_now_ns() >= until_ns ? WB_ERR_TIMEOUT : WB_OK;
}

// A task that comes to run wakes whoever asked for its move, after FreeRTOS has chosen: the next
// switch does that, soon after.
void wb_kernel_unblock(struct wb_task *task)
{
    struct freertos_task *ft = of(task);

    if (wb_freertos_look_for_asks != NULL)
        wb_freertos_look_for_asks(task);
    if (ft->look != NULL && k.switching != CHOSEN && wb_migration_requested(task)) {
        exclude(true);
        ft->look(task);
        exclude(false);
        return;
    }
    if (k.switching == CHOOSING)
        (void)wb_tcb_notify(of(task)->handle, WB_FREERTOS_NOTIFICATION);
    else if (k.entered)
        k.outdone |= wb_tcb_notify(of(task)->handle, WB_FREERTOS_NOTIFICATION);
    else if (k.switching == CHOSEN)
        wb_inbox_post(k.core, task->id);
    else
        xTaskNotifyGiveIndexed(of(task)->handle, WB_FREERTOS_NOTIFICATION);
}

// Nothing interrupts FreeRTOS's switch; outside of kernels there is nothing to keep away.
static bool is_interruptible(void)
{
    return wb_kernel_core() != WB_CORE_NONE && k.switching == NOT_SWITCHING;
}

// FreeRTOS switches to a task that it makes ready also from within a critical section, which is of
// the task that leaves. So what is unblocked in this one comes into the lists alone, and the switch
// is at the end.
void wb_kernel_enter(void)
{
    if (!is_interruptible())
        return;
    taskENTER_CRITICAL();
    k.entered = true;
}

void wb_kernel_leave(void)
{
    if (!is_interruptible())
        return;
    const bool outdone = k.outdone;
    k.entered = k.outdone = false;
    if (outdone)
        taskYIELD();
    taskEXIT_CRITICAL();
}

void wb_kernel_reprioritise(struct wb_task *task)
{
    vTaskPrioritySet(of(task)->handle, priority_of(task));
}

// Who is more urgent runs already.
void wb_kernel_yield(uint32_t floor)
{
    if (has_pending_bits())
        xTaskNotifyGive(k.task);
    if (floor + 1 <= priority_of(k.current))
        taskYIELD();
}

// Among the cores of a board there is nothing to gain: who waits switches away in no more time than
// a message takes. From another program's kernel it takes as long as an interrupt from one machine
// to the other. Reading the clock takes longer than looking at the memory, so most turns do not.
bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    enum { SPIN_NS = 20000, TURNS = 16 };  // SPIN_NS: as --spin has it for Linux

    if (wb_parts.reenter == NULL || k.core->system->programs == NULL || has_pending_bits())
        return false;
    if (++spin->turns % TURNS != 0)
        return true;
    const uint64_t now_ns = wb_kernel_now_ns();
    if (spin->turns == TURNS)
        spin->since_ns = now_ns;
    spin->polled_ns = now_ns - spin->since_ns;
    return spin->polled_ns < SPIN_NS && now_ns < until_ns;
}

// Only what it runs for counts: not what others take of the processor meanwhile, up to the shortest
// time that they take.
void wb_kernel_compute(uint64_t cycles)
{
    enum { OTHERS_NS = 10000 };
    const uint64_t wanted_ns = cycles * 1000 / (board_hz() / 1000000);
    uint64_t ran_ns = 0, last_ns = board_now_ns();

    if (!k.core->system->config.models_compute)
        return;
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
    if (wb_tcb_held(of(k.current)->handle) != WB_TCB_FREE)
        return;
    taskENTER_CRITICAL();
    leave(finish_captured);
    taskEXIT_CRITICAL();
}

void *wb_kernel_stack_low(const struct wb_task *task)
{
    return wb_tcb_stack_low(&of(task)->tcb);
}

void wb_kernel_exit(void)
{
    taskENTER_CRITICAL();
    wb_tcb_detach(of(k.current)->handle);
    leave(finish_ended);
    taskEXIT_CRITICAL();
    __builtin_unreachable();
}
