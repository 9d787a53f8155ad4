// SPDX-License-Identifier: Apache-2.0
// The kernel contract (wb/kernel.h) on RISC-V: a small cooperative scheduler on every core.
//
// Fixed priority, first come first served within one; checkpoints and blocking calls are the
// scheduling points. A task that leaves the core switches straight to the next one, or to the
// kernel's loop; whoever runs next finishes the departure, because only then is the context of the
// one that left complete. Interrupts only set need_resched, and call nothing of the middleware.

#include "wb/kernel.h"

#include "internal.h"
#include "riscv_board.h"
#include "switch.h"
#include "wb/system.h"

enum after { GO_READY, GO_CAPTURED, GO_BLOCKED, GO_AWAY, GO_ENDED };

static struct {
    struct wb_core *core;
    struct wb_task *current;   // NULL in the loop
    struct wb_task *previous;  // left the core; its departure is to be finished
    enum after after;          // what becomes of it
    uint64_t left_ns;          // when it left
    void *loop_sp;
    uint64_t tick_ns;   // when the agent's tick is due
    uint64_t alarm_ns;  // for when the alarm is set; 0: it has rung
    bool in_supervisor;
} k WB_PRIVATE;

struct wb_word wb_kernel_need_resched WB_PRIVATE;

static bool has_pending_bits(void)
{
    return wb_word_load(&k.core->inbox.summary, WB_RELAXED) != 0;
}

static bool is_over(void)
{
    return wb_word_load(&k.core->system->live, WB_SEQ_CST) == 0;
}

void wb_riscv_attend_task(void)
{
    ready_heard();
    wb_word_store(&wb_kernel_need_resched, 1, WB_RELAXED);
}

void wb_riscv_attend(void)
{
    k.alarm_ns = 0;
    wb_word_store(&wb_kernel_need_resched, 1, WB_RELAXED);
}

// ---- Switching ----------------------------------------------------------------------------------

static void tell_all_that_it_is_over(void)
{
    for (uint32_t i = 0; i < k.core->system->n_cores; i++)
        board_ring(i);
}

static __attribute__((noinline)) void finish_departure(struct wb_task *task)
{
    switch (k.after) {
    case GO_CAPTURED:
        wb_task_captured(task);
        wb_task_paused(task, WB_TASK_READY, k.left_ns);
        ready_stay(task);
        break;
    case GO_READY:
        wb_task_paused(task, WB_TASK_READY, k.left_ns);
        ready_saved();
        break;
    case GO_AWAY:
        ready_saved();
        wb_task_departed(task, k.left_ns, k.left_ns);
        break;
    case GO_BLOCKED:
        wb_task_paused(task, WB_TASK_BLOCKED, k.left_ns);
        ready_saved();
        break;
    case GO_ENDED:
        wb_task_paused(task, WB_TASK_ENDED, k.left_ns);
        ready_saved();
        if (is_over())
            tell_all_that_it_is_over();
        break;
    }
}

static inline __attribute__((always_inline)) void finish(void)
{
    struct wb_task *task = k.previous;

    k.previous = NULL;
    if (task == NULL)
        return;
    if (k.after == GO_BLOCKED && wb_task_paused_plainly(task, WB_TASK_BLOCKED, k.left_ns))
        ready_saved();
    else
        finish_departure(task);
}

// The alarm of this core rings once, so it is set anew only if its time has changed.
static void set_alarm(uint64_t at_ns)
{
    if (at_ns == k.alarm_ns)
        return;
    k.alarm_ns = at_ns;
    board_alarm(at_ns);
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

// Serving clears need_resched; a request that the running task has not seen, or a more urgent task
// that is ready, raises it again, and so will the end of such a one's sleep and the agent's tick.
__attribute__((hot)) static void keep_need_resched(const struct wb_task *self)
{
    const uint32_t priority = wb_sync_priority(&self->sync);

    if (wb_checkpoint_wanted(self))
        wb_word_store(&wb_kernel_need_resched, 1, WB_RELAXED);
    ready_watch(priority);
    set_alarm(earlier(k.tick_ns, timers_next_ns((int32_t)priority)));
}

// Tells the middleware that `task` runs now.
static inline void announce(struct wb_task *task, uint64_t now_ns)
{
    k.current = task;
    board_guard(task->stack);
    wb_task_resumed(task, now_ns);
    keep_need_resched(task);
}

// Leaves the running task for `next`, or for the loop if that is NULL. Returns when the task runs
// again, maybe on another core.
static inline __attribute__((always_inline)) void switch_to(enum after after, struct wb_task *next)
{
    struct wb_task *from = k.current;

    k.previous = from;
    k.after = after;
    k.left_ns = board_now_ns();
    if (next != NULL)
        announce(next, k.left_ns);
    else
        k.current = NULL;
    context_switch(&of(from)->sp, next != NULL ? of(next)->sp : k.loop_sp);
    finish();
}

static __attribute__((noinline)) void finish_previous(void)
{
    finish();
}

static __attribute__((noinline)) void leave(enum after after, struct wb_task *next)
{
    switch_to(after, next);
}

static void start(void *task)
{
    finish_previous();
    wb_task_main(task);
}

// ---- What waits for this core -------------------------------------------------------------------

static uint64_t next_ns(void)
{
    return earlier(k.tick_ns, timers_next_ns(-1));
}

static void look(void)
{
    wb_word_store(&wb_kernel_need_resched, 0, WB_RELAXED);
    wb_word_order();  // whoever rings from here on raises it again
    if (has_pending_bits())
        (void)wb_agent_serve(k.core);
    if (next_ns() == WB_FOREVER)
        return;
    const uint64_t now_ns = board_now_ns();
    timers_wake(now_ns);
    if (now_ns >= k.tick_ns)
        k.tick_ns = wb_agent_tick(k.core, now_ns);
}

// Whoever leaves a note here, or a time that is due, sets need_resched; but for the end of a sleep
// of a task that is no more urgent than the one that runs.
static inline bool is_wanted(void)
{
    return wb_word_load(&wb_kernel_need_resched, WB_RELAXED) != 0 || next_ns() != WB_FOREVER;
}

static inline void serve(void)
{
    if (is_wanted())
        look();
}

// An interrupt that comes after the look ends the sleep at once.
static void idle(void)
{
    set_alarm(next_ns());
    const uint32_t irq_state = board_irq_save();
    if (wb_word_load(&wb_kernel_need_resched, WB_RELAXED) == 0 && !has_pending_bits() &&
        !is_over()) {
        wb_counter_add(&k.core->stats.sleeps, 1);
        board_sleep();
    }
    board_irq_restore(irq_state);
}

static void loop(void)
{
    while (!is_over()) {
        look();
        struct wb_task *next = ready_first();
        if (next == NULL) {
            idle();
            continue;
        }
        announce(next, board_now_ns());
        context_switch(&k.loop_sp, of(next)->sp);
        finish_previous();
    }
}

_Noreturn void wb_board_run(struct wb_core *core)
{
    k.core = core;
    ready_begin();
    k.tick_ns = wb_agent_tick(core, board_now_ns());
    board_irq_restore(UINT32_MAX);
    wb_word_store(&core->state, WB_CORE_UP, WB_RELEASE);
    loop();
    wb_word_store(&core->state, WB_CORE_STOPPED, WB_RELEASE);
    for (;;)
        board_sleep();
}

// ---- For the launcher ---------------------------------------------------------------------------

void wb_board_killed(void)
{
    ready_killed();
}

void wb_board_in_supervisor(bool in_supervisor)
{
    k.in_supervisor = in_supervisor;
}

bool wb_board_waits_for_ever(struct wb_task *task)
{
    const struct wb_system *system = task->system;

    for (uint32_t i = 0; i < system->n_cores; i++)
        if (of(task)->timers[i].on &&
            wb_word_load(&system->cores[i]->state, WB_RELAXED) == WB_CORE_UP)
            return false;
    return true;
}

bool wb_board_has_program(void)
{
    return false;
}

enum wb_status wb_board_recreates(struct wb_task *task, const char *entry, char *why,
                                  size_t why_bytes)
{
    (void)task;
    (void)entry;
    (void)why;
    (void)why_bytes;
    return WB_ERR_UNABLE;
}

void wb_riscv_fault(enum wb_fault_kind kind, const char *text)
{
    if (k.core != NULL)
        wb_system_fault(k.core->system, kind, wb_kernel_self(), text);
    board_halt();
}

// ---- The contract -------------------------------------------------------------------------------

struct wb_task *wb_kernel_self(void)
{
    return k.in_supervisor ? NULL : k.current;
}

// No private memory for tasks, and no place to load code into.
uint32_t wb_kernel_can(void)
{
    return WB_CAN_CAPTURE | ready_can();
}

uint32_t wb_kernel_core(void)
{
    return k.core != NULL && !k.in_supervisor ? k.core->index : WB_CORE_NONE;
}

uint64_t wb_kernel_now_ns(void)
{
    return board_now_ns();
}

enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    if (task->stack == NULL || wb_own_priority(task) >= PRIORITIES)
        return WB_ERR_INVAL;
    if (!ready_takes(task))
        return WB_ERR_UNABLE;
    of(task)->sp = context_make(task->stack, task->stack_bytes, start, task);
    return of(task)->sp != NULL ? WB_OK : WB_ERR_INVAL;
}

static void watch(void)
{
    if (k.current != NULL)
        ready_watch(wb_sync_priority(&k.current->sync));
}

void wb_kernel_attach(struct wb_task *task)
{
    ready_attach(task);
    watch();
}

enum wb_status wb_kernel_depart(void)
{
    leave(GO_AWAY, ready_leave(k.current));
    return WB_OK;
}

// What it calls may take it to another core, and the task is the one that runs there.
// `inlined`: in as few cycles as can be.
static inline __attribute__((always_inline)) void block(bool inlined)
{
    struct wb_task *next = ready_block(k.current);

    if (next == k.current)
        keep_need_resched(next);
    else if (inlined)
        switch_to(GO_BLOCKED, next);
    else
        leave(GO_BLOCKED, next);
    ready_looks(k.current);
}

static __attribute__((noinline)) enum wb_status block_until(uint64_t until_ns)
{
    serve();
    if (until_ns > board_now_ns()) {
        if (until_ns != WB_FOREVER)
            timers_add(k.current, until_ns);
        block(false);
        timers_remove(k.current);
    } else {
        wb_kernel_yield(wb_sync_priority(&k.current->sync));
        ready_looks(k.current);
    }
    return until_ns != WB_FOREVER && board_now_ns() >= until_ns ? WB_ERR_TIMEOUT : WB_OK;
}

__attribute__((hot)) enum wb_status wb_kernel_block(uint64_t until_ns)
{
    if (until_ns != WB_FOREVER || is_wanted())
        return block_until(until_ns);
    block(true);
    return WB_OK;
}

__attribute__((hot)) void wb_kernel_unblock(struct wb_task *task)
{
    timers_remove(task);
    ready_wake(task);
    watch();
}

void wb_kernel_reprioritise(struct wb_task *task)
{
    ready_move(task);
    if (k.current != NULL)
        keep_need_resched(k.current);
}

void wb_kernel_yield(uint32_t floor)
{
    struct wb_task *self = k.current;
    const uint32_t before = wb_sync_priority(&self->sync);

    serve();
    struct wb_task *next = ready_yield(self, wb_floor_after(&self->sync, before, floor));
    if (next != NULL)
        leave(GO_READY, next);
    else
        keep_need_resched(self);
}

// There is nothing to gain: who waits switches away in no more time than a message takes.
bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    (void)spin;
    (void)until_ns;
    return false;
}

void wb_kernel_compute(uint64_t cycles)
{
    const uint64_t until_ns = board_now_ns() + cycles * 1000 / (board_hz() / 1000000);

    if (!k.core->system->config.models_compute)
        return;
    while (board_now_ns() < until_ns) {}
}

// This core looks at its next scheduling point.
void wb_kernel_doorbell(uint32_t core)
{
    if (core == wb_kernel_core())
        wb_word_store(&wb_kernel_need_resched, 1, WB_RELAXED);
    else
        board_ring(core);
}

// No task gives way but where it asks for it, and interrupts call nothing of the middleware.
void wb_kernel_enter(void) {}

void wb_kernel_leave(void) {}

void wb_kernel_capture(void)
{
    serve();
    leave(GO_CAPTURED, NULL);
}

void *wb_kernel_stack_low(const struct wb_task *task)
{
    return ((const struct riscv_task *)(const void *)task->kernel)->sp;
}

void wb_kernel_exit(void)
{
    leave(GO_ENDED, ready_leave(k.current));
    __builtin_unreachable();
}

void wb_kernel_halt(void)
{
    board_halt();
}
