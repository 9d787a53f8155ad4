// SPDX-License-Identifier: Apache-2.0
// Who runs next by the HW-RTOS (rtl/hw_rtos): a task has the slot of its number there, with the
// cores in its affinity that may choose it: the one that it is on, or several.
//
// A task blocks at the port of its slot, and a message to it makes it ready: any core may send one.
// To block is one step of the hardware: where a message is there already, the task stays ready. So
// a wake and a block that race lose nothing, and no word of the task says which it is. What is
// there when the task goes on is taken out, before it looks at what it waits for.
//
// The HW-RTOS chooses by itself as soon as a core has no task, and interrupts it when there is a
// more urgent one; that only sets need_resched, and is kept away until the kernel has looked. A
// task of several cores is chosen by whoever is free. Nobody else has it then, and its context is
// complete: the core that it ran on has said so (ready_saved()), after all that it had to write of
// the task. So whoever has chosen it makes itself its owner in its place, and runs it.
//
// Who may choose a task changes under a lock of its word `queue`: others may do so, as it moves.

#include "hw_rtos_regs.h"
#include "internal.h"
#include "lock.h"
#include "riscv_board.h"

#define INTERRUPT (1u << (SOC_CAUSE_RTOS & 31))

// How long a task waits for the core that it ran on last, in cycles, before another may choose it:
// about what it costs that other core to load what it works on.
enum { PATIENCE_CYCLES = 1000 };

static uint32_t chosen WB_PRIVATE;    // the last slot that the HW-RTOS has chosen here, or none
static struct wb_system *the_system;  // of whose tasks are the slots
static struct wb_swapped living;      // the cores whose kernels run

// What is in memory is written before, and is loaded after.
static uint32_t get(uint32_t at)
{
    __asm__ volatile("" ::: "memory");
    const uint32_t value = *(volatile uint32_t *)(SOC_RTOS_BASE + at);
    __asm__ volatile("" ::: "memory");
    return value;
}

static void write_register(uint32_t at, uint32_t value)
{
    __asm__ volatile("" ::: "memory");
    *(volatile uint32_t *)(SOC_RTOS_BASE + at) = value;
}

static bool is_task(uint32_t slot)
{
    return (slot & HW_RTOS_NEXT_TASK_NONE) == 0;
}

static void listen(bool on)
{
    if (on)
        __asm__ volatile("csrs mie, %0" ::"r"(INTERRUPT) : "memory");
    else
        __asm__ volatile("csrc mie, %0" ::"r"(INTERRUPT) : "memory");
}

// ---- Who may choose a task ----------------------------------------------------------------------

static uint32_t own_bit(void)
{
    return 1u << here();
}

// Under its lock.
static void write(struct wb_task *task, uint32_t priority)
{
    const uint32_t cores = of(task)->queue, several = cores & (cores - 1);
    uint32_t config = 0;

    if (cores != 0)
        config = HW_RTOS_TASK_CONFIG_VALID | priority << HW_RTOS_TASK_CONFIG_PRIORITY_SHIFT |
                 cores << HW_RTOS_TASK_CONFIG_AFFINITY_SHIFT;
    if (several != 0)
        config |= HW_RTOS_TASK_CONFIG_PREFERS_LAST;
    write_register(HW_RTOS_TASK_CONFIG + 4 * task->id, config);
}

static void configure(struct wb_task *task, uint32_t priority)
{
    const uint32_t state = lock(&of(task)->queue);

    if (of(task)->queue != 0)
        write(task, priority);
    unlock(&of(task)->queue, state);
}

static uint32_t count_slots(void)
{
    const uint32_t info = get(HW_RTOS_INFO), slots = info >> 8 & 0xff, ports = info >> 16 & 0xff;

    return slots < ports ? slots : ports;
}

static uint32_t tasks(void)
{
    return the_system != NULL ? the_system->n_tasks : 0;
}

static uint32_t affinity(uint32_t slot)
{
    return get(HW_RTOS_TASK_CONFIG + 4 * slot) >> HW_RTOS_TASK_CONFIG_AFFINITY_SHIFT;
}

// This core is not to choose the task any more. One that ran here is cut short, and not to be
// chosen by anybody: recovery makes its context whole first.
static void forgo(struct wb_task *task)
{
    const uint32_t state = lock(&of(task)->queue),
                   owner_state = wb_word_load(&task->owner_state, WB_RELAXED);

    if (((of(task)->queue | affinity(task->id)) & own_bit()) != 0) {
        of(task)->queue &= owner_state == wb_owner_state(WB_TASK_RUNNING, here()) ? 0 : ~own_bit();
        write(task, wb_sync_priority(&task->sync));
    }
    unlock(&of(task)->queue, state);
}

// Others have taken it in before this kernel began.
static void share(struct wb_task *task)
{
    const uint32_t state = lock(&of(task)->queue);

    if (of(task)->queue != 0 && (wb_word_load(&task->cores, WB_RELAXED) & own_bit()) != 0) {
        of(task)->queue |= own_bit();
        write(task, wb_sync_priority(&task->sync));
    }
    unlock(&of(task)->queue, state);
}

// First nobody can be chosen here any more, then whom the module of this core has is given up. To
// give up nothing is an error that it counts.
void ready_killed(void)
{
    const uint32_t slots = count_slots();

    listen(false);
    (void)wb_word_and(&living, ~own_bit(), WB_SEQ_CST);
    for (uint32_t slot = 0; slot < slots; slot++)
        if (slot < tasks())
            forgo(&the_system->tasks[slot]);
        else if ((affinity(slot) & own_bit()) != 0)
            write_register(HW_RTOS_TASK_CONFIG + 4 * slot, 0);
    write_register(HW_RTOS_SAVED, 0);
    if (is_task(get(HW_RTOS_CURRENT))) {
        while (is_task(get(HW_RTOS_NEXT_TASK))) {}
        write_register(HW_RTOS_SAVED, 0);
    }
}

void ready_begin(void)
{
    ready_killed();
    chosen = HW_RTOS_NEXT_TASK_NONE;
    write_register(HW_RTOS_PATIENCE, PATIENCE_CYCLES);
    write_register(HW_RTOS_CONTROL, HW_RTOS_CONTROL_PRIORITY);
    write_register(HW_RTOS_CALL_RTOS, HW_RTOS_CALL_YIELD);
    (void)wb_word_or(&living, own_bit(), WB_SEQ_CST);
    for (uint32_t i = 0; i < tasks(); i++)
        share(&the_system->tasks[i]);
}

uint32_t ready_can(void)
{
    return WB_CAN_SHARE;
}

// ---- Tasks --------------------------------------------------------------------------------------

bool ready_takes(const struct wb_task *task)
{
    if (task->id >= count_slots())
        return false;
    the_system = task->system;
    // Of a task of this number before it.
    while (get(HW_RTOS_RECEIVE + 4 * task->id) != 0) {}
    return true;
}

// A dead core's is in its slot already if others share it, and one may have chosen it by now: then
// it is that one's, wherever it has gone since.
void ready_attach(struct wb_task *task)
{
    const uint32_t cores = wb_word_load(&task->cores, WB_RELAXED);
    const uint32_t state = lock(&of(task)->queue);
    uint32_t status = HW_RTOS_STATUS_OK;

    if (wb_word_load(&task->owner_state, WB_RELAXED) == wb_owner_state(WB_TASK_READY, here())) {
        of(task)->queue = (cores & wb_word_load(&living, WB_RELAXED)) | own_bit();
        write(task, wb_sync_priority(&task->sync));
        status = get(HW_RTOS_STATUS);
    }
    unlock(&of(task)->queue, state);
    if (status != HW_RTOS_STATUS_OK)
        wb_riscv_fault(WB_FAULT_KERNEL, "the slot of a task that has come is still in use");
    ready_wake(task);
}

// There is room for two messages; a third has no news.
void ready_wake(struct wb_task *task)
{
    write_register(HW_RTOS_SEND_NOW + 4 * task->id, 1);
}

void ready_looks(struct wb_task *self)
{
    (void)get(HW_RTOS_RECEIVE + 4 * self->id);
}

void ready_reprioritise(struct wb_task *task)
{
    configure(task, wb_sync_priority(&task->sync));
}

// ---- Choices ------------------------------------------------------------------------------------

static struct wb_task *choose(void)
{
    chosen = get(HW_RTOS_NEXT_TASK);
    if (!is_task(chosen))
        return NULL;
    struct wb_task *task = &the_system->tasks[chosen];
    if (wb_task_core(task) != here())
        wb_task_chosen(task, here(), board_now_ns());
    return task;
}

struct wb_task *ready_block(struct wb_task *self)
{
    write_register(HW_RTOS_WAIT_PORT, self->id);
    write_register(HW_RTOS_CALL_RTOS, HW_RTOS_CALL_BLOCK);
    return choose();
}

struct wb_task *ready_leave(struct wb_task *self)
{
    const uint32_t state = lock(&of(self)->queue);

    of(self)->queue = 0;
    unlock(&of(self)->queue, state);
    write_register(HW_RTOS_CALL_RTOS, HW_RTOS_CALL_EXIT);
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
    write_register(HW_RTOS_CALL_RTOS, HW_RTOS_CALL_YIELD);
    struct wb_task *next = choose();
    if (floor != priority)
        ready_reprioritise(self);
    return next != self ? next : NULL;
}

void ready_saved(struct wb_task *task, bool yields)
{
    (void)task;
    (void)yields;
    write_register(HW_RTOS_SAVED, 0);
}

// In the loop no context is in the registers.
static struct wb_task *choose_again(void)
{
    const uint32_t last = chosen;
    struct wb_task *next = choose();

    if (is_task(last) && chosen != last)
        write_register(HW_RTOS_SAVED, 0);
    return next;
}

void ready_stay(struct wb_task *self)
{
    (void)self;
    write_register(HW_RTOS_CALL_RTOS, HW_RTOS_CALL_YIELD);
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
