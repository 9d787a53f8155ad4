// SPDX-License-Identifier: Apache-2.0
// Who runs next by the HW-RTOS (rtl/hw_rtos): a task that is on a core has the slot of its number
// there, with that core alone in its affinity.
//
// A task blocks at the port of its slot, and a message to it makes it ready. It is taken out when
// the task is chosen, so a port has one message at most. The HW-RTOS chooses by itself as soon as a
// core has no task, and interrupts it when there is a more urgent one; that only raises attention,
// and is kept away until the kernel has looked.

#include "hw_rtos_regs.h"
#include "own.h"
#include "riscv_board.h"
#include "soc_regs.h"

#define INTERRUPT (1u << (SOC_CAUSE_RTOS & 31))

static struct {
    struct wb_task *tasks;  // of the system, by number
    uint32_t chosen;        // the slot that the HW-RTOS has chosen last, or that there is none
} slots WB_PRIVATE;

// What is in memory is written before, and is loaded after.
static uint32_t get(uint32_t at)
{
    __asm__ volatile("" ::: "memory");
    const uint32_t value = *(volatile uint32_t *)(SOC_RTOS_BASE + at);
    __asm__ volatile("" ::: "memory");
    return value;
}

static void put(uint32_t at, uint32_t value)
{
    __asm__ volatile("" ::: "memory");
    *(volatile uint32_t *)(SOC_RTOS_BASE + at) = value;
}

static bool is_task(uint32_t slot)
{
    return (slot & HW_RTOS_NO_TASK) == 0;
}

static void listen(bool on)
{
    if (on)
        __asm__ volatile("csrs mie, %0" ::"r"(INTERRUPT) : "memory");
    else
        __asm__ volatile("csrc mie, %0" ::"r"(INTERRUPT) : "memory");
}

static uint32_t affinity(void)
{
    uint32_t core;

    __asm__("csrr %0, mhartid" : "=r"(core));
    return 1u << (HW_RTOS_TASK_AFFINITY_SHIFT + core);
}

static void configure(const struct wb_task *task, uint32_t priority)
{
    put(HW_RTOS_TASK_CONFIG + 4 * task->id,
        HW_RTOS_TASK_VALID | priority << HW_RTOS_TASK_PRIORITY_SHIFT | affinity());
}

// ---- Tasks of this core -------------------------------------------------------------------------

static uint32_t count(void)
{
    const uint32_t info = get(HW_RTOS_INFO), tasks = info >> 8 & 0xff, ports = info >> 16 & 0xff;

    return tasks < ports ? tasks : ports;
}

// Whatever the module of this core was about when it was stopped: first nobody can be chosen any
// more, then whom it has is given up. To give up nothing is an error that it counts.
void ready_begin(void)
{
    const uint32_t n = count();

    listen(false);
    for (uint32_t slot = 0; slot < n; slot++)
        if ((get(HW_RTOS_TASK_CONFIG + 4 * slot) & affinity()) != 0)
            put(HW_RTOS_TASK_CONFIG + 4 * slot, 0);
    put(HW_RTOS_SAVED, 0);
    put(HW_RTOS_CONTROL, HW_RTOS_CONTROL_PRIORITY);
    if (is_task(get(HW_RTOS_CURRENT))) {
        while (is_task(get(HW_RTOS_NEXT_TASK))) {}
        put(HW_RTOS_SAVED, 0);
    }
    put(HW_RTOS_CALL_RTOS, HW_RTOS_CALL_YIELD);
    slots.chosen = HW_RTOS_NO_TASK;
}

bool ready_takes(const struct wb_task *task)
{
    return task->id < count();
}

void ready_attach(struct wb_task *task)
{
    const uint32_t at = 4 * task->id;

    slots.tasks = task - task->id;
    put(HW_RTOS_TASK_CONFIG + at, 0);
    (void)get(HW_RTOS_RECEIVE + at);
    of(task)->queue = 1;
    of(task)->blocked = false;
    of(task)->woken = true;
    configure(task, wb_sync_priority(&task->sync));
    if (get(HW_RTOS_STATUS) != HW_RTOS_STATUS_OK)
        wb_riscv_fault(WB_FAULT_KERNEL, "the slot of a task that has come is still in use");
}

void ready_wake(struct wb_task *task)
{
    of(task)->woken = !of(task)->blocked;
    if (!of(task)->blocked)
        return;
    of(task)->blocked = false;
    put(HW_RTOS_SEND_NOW + 4 * task->id, 0);
}

void ready_looks(struct wb_task *self)
{
    of(self)->woken = false;
}

void ready_move(struct wb_task *task)
{
    if (of(task)->queue != 0)
        configure(task, wb_sync_priority(&task->sync));
}

// ---- Choices ------------------------------------------------------------------------------------

static struct wb_task *choose(void)
{
    slots.chosen = get(HW_RTOS_NEXT_TASK);
    if (!is_task(slots.chosen))
        return NULL;
    (void)get(HW_RTOS_RECEIVE + 4 * slots.chosen);
    return &slots.tasks[slots.chosen];
}

struct wb_task *ready_block(struct wb_task *self)
{
    if (of(self)->woken)
        return self;
    of(self)->blocked = true;
    put(HW_RTOS_WAIT_PORT, self->id);
    put(HW_RTOS_CALL_RTOS, HW_RTOS_CALL_BLOCK);
    return choose();
}

struct wb_task *ready_leave(struct wb_task *self)
{
    of(self)->queue = 0;
    put(HW_RTOS_CALL_RTOS, HW_RTOS_CALL_EXIT);
    return choose();
}

// Others of at least its priority go first: so meanwhile it has that of the floor.
struct wb_task *ready_yield(struct wb_task *self, uint32_t floor)
{
    const uint32_t priority = wb_sync_priority(&self->sync);

    if (floor >= PRIORITIES)
        return NULL;
    if (floor != priority)
        configure(self, floor);
    put(HW_RTOS_CALL_RTOS, HW_RTOS_CALL_YIELD);
    struct wb_task *next = choose();
    if (floor != priority)
        configure(self, priority);
    return next != self ? next : NULL;
}

void ready_saved(void)
{
    put(HW_RTOS_SAVED, 0);
}

// In the loop no context is in the registers.
static struct wb_task *choose_again(void)
{
    const uint32_t last = slots.chosen;
    struct wb_task *next = choose();

    if (is_task(last) && slots.chosen != last)
        put(HW_RTOS_SAVED, 0);
    return next;
}

void ready_stay(struct wb_task *self)
{
    (void)self;
    put(HW_RTOS_CALL_RTOS, HW_RTOS_CALL_YIELD);
    (void)choose_again();
}

// The HW-RTOS may have chosen before the kernel served, and a more urgent one be ready since then.
struct wb_task *ready_first(void)
{
    if (choose_again() != NULL)
        return choose_again();
    listen(true);
    return NULL;
}

// The HW-RTOS compares.
void ready_watch(uint32_t priority)
{
    (void)priority;
    listen(true);
}

void ready_heard(void)
{
    listen(false);
}
