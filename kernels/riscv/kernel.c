// SPDX-License-Identifier: Apache-2.0
// The kernel contract (wb/kernel.h) on RISC-V: a small cooperative scheduler on every core
// (cooperative.h). Interrupts only set need_resched, and call nothing of the middleware.

#include "internal.h"
#include "riscv_board.h"
#include "switch.h"

struct own {
    uint64_t alarm_ns;  // for when the alarm is set; 0: it has rung
    bool in_supervisor;
};

#define WB_APART __attribute__((noinline))
#define WB_MORE_APART 1
#define context_leaves(from) ((void)(from))
#define context_is_back(from) ((void)(from))
#include "../template/cooperative.h"

struct wb_word wb_kernel_need_resched WB_PRIVATE;

void kernel_set_need_resched(void)
{
    wb_word_store(&wb_kernel_need_resched, 1, WB_RELAXED);
}

static void clear_need_resched(void)
{
    wb_word_store(&wb_kernel_need_resched, 0, WB_RELAXED);
    wb_word_order();  // whoever rings from here on raises it again
}

void wb_riscv_attend_task(void)
{
    ready_heard();
    kernel_set_need_resched();
}

void wb_riscv_attend(void)
{
    k.own.alarm_ns = 0;
    kernel_set_need_resched();
}

// The alarm of this core rings once, so it is set anew only if its time has changed.
static void set_alarm(uint64_t at_ns)
{
    if (at_ns == k.own.alarm_ns)
        return;
    k.own.alarm_ns = at_ns;
    board_alarm(at_ns);
}

// ---- Contexts -----------------------------------------------------------------------------------

static WB_INLINED void context_change(struct wb_task *from, struct wb_task *next)
{
    if (next != NULL)
        board_guard(next->stack);
    context_switch(from != NULL ? &of(from)->sp : &k.loop_sp,
                   next != NULL ? of(next)->sp : k.loop_sp);
}

static void context_ended(void)
{
    if (is_over())
        for (uint32_t i = 0; i < k.core->system->n_cores; i++)
            board_ring(i);
}

static void catch_up(void) {}

static void start(void *task)
{
    finish_previous();
    wb_task_main(task);
}

// An interrupt that comes after the look ends the sleep at once.
static void idle(void)
{
    set_alarm(next_ns());
    const uint32_t irq_state = board_irq_save();
    if (wb_word_load(&wb_kernel_need_resched, WB_RELAXED) == 0 && !has_pending_bits() &&
        !is_over()) {
        wb_counter_add(&k.core->stats.sleeps, 1);
        board_idle();
    }
    board_irq_restore(irq_state);
}

_Noreturn void wb_board_run(struct wb_core *core)
{
    k.core = core;
    ready_begin();
    board_irq_restore(UINT32_MAX);
    run_loop(core);
    for (;;) {
        const uint32_t irq_state = board_irq_save();
        board_idle();
        board_irq_restore(irq_state);
    }
}

// ---- For the launcher ---------------------------------------------------------------------------

void wb_board_killed(void)
{
    ready_killed();
}

void wb_board_in_supervisor(bool in_supervisor)
{
    k.own.in_supervisor = in_supervisor;
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
    return k.own.in_supervisor ? NULL : k.current;
}

// No private memory for tasks, and no place to load code into.
uint32_t wb_kernel_can(void)
{
    return WB_CAN_CAPTURE | ready_can();
}

uint32_t wb_kernel_core(void)
{
    return k.core != NULL && !k.own.in_supervisor ? k.core->index : WB_CORE_NONE;
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

enum wb_status wb_kernel_depart(void)
{
    leave(GO_AWAY, ready_leave(k.current));
    return WB_OK;
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
        kernel_set_need_resched();
    else
        board_ring(core);
}

void wb_kernel_capture(void)
{
    serve();
    leave(GO_CAPTURED, NULL);
}

void *wb_kernel_stack_low(const struct wb_task *task)
{
    return ((const struct riscv_task *)(const void *)task->kernel)->sp;
}

void wb_kernel_halt(void)
{
    board_halt();
}
