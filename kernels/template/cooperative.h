// SPDX-License-Identifier: Apache-2.0
// The scheduler of a cooperative kernel, for its kernel.c alone: kernels/linux and kernels/riscv.
//
// Fixed priority, first come first served within one; checkpoints and blocking calls are the
// scheduling points. A task that leaves the core switches straight to the next one, or to the
// kernel's loop; whoever runs next finishes the departure, because only then is the context of the
// one that left complete.
//
// It is a header, so that the compiler inlines what a switch takes: on the SoC every call counts.
// A kernel defines `struct own` before it includes this, and the functions below.
#ifndef WB_COOPERATIVE_H
#define WB_COOPERATIVE_H

#include "ready.h"
#include "wb/kernel.h"
#include "wb/system.h"

#define WB_INLINED inline __attribute__((always_inline))

// What is kept out of a switch, where instruction caches are small; 1: yields and the beginnings of
// runs are, too.
#ifndef WB_APART
#define WB_APART
#endif
#ifndef WB_MORE_APART
#define WB_MORE_APART 0
#endif

// Where each core has memory of its own at one address.
#ifndef WB_PRIVATE
#define WB_PRIVATE
#endif

enum after { GO_READY, GO_CAPTURED, GO_BLOCKED, GO_AWAY, GO_ENDED };

static struct {
    struct wb_core *core;
    struct wb_task *current;   // NULL in the loop
    struct wb_task *previous;  // left the core; its departure is to be finished
    enum after after;          // what becomes of it
    uint64_t left_ns;          // when it left
    void *loop_sp;
    uint64_t tick_ns;  // when the agent's tick is due
    struct own own;    // what the kernel keeps besides
} k WB_PRIVATE;

// ---- What the kernel defines besides ------------------------------------------------------------

/// The kernel looks at what waits for this core: whoever rings from here on sets need_resched anew.
static void clear_need_resched(void);

/// Sets need_resched at this time, or earlier. WB_FOREVER: there is none.
static void set_alarm(uint64_t at_ns);

// context_leaves(from), context_is_back(from): functions or macros, for what the processor does not
// keep of the running task, before it leaves the core (k.left_ns) and once it runs again.

/// Saves one context and goes on with another. NULL: the loop's.
static void context_change(struct wb_task *from, struct wb_task *next);

/// A task has ended, which is known to all; its core runs on.
static void context_ended(void);

/// Makes up for what the running task owes of its core's time, if time is emulated.
static void catch_up(void);

/// Waits for something to do.
static void idle(void);

// ---- Switching ----------------------------------------------------------------------------------

static bool has_pending_bits(void)
{
    return wb_word_load(&k.core->inbox.summary, WB_RELAXED) != 0;
}

static bool is_over(void)
{
    return wb_word_load(&k.core->system->live, WB_SEQ_CST) == 0;
}

static WB_APART void finish_departure(struct wb_task *task)
{
    switch (k.after) {
    case GO_CAPTURED:
        wb_task_captured(task);
        wb_task_paused(task, WB_TASK_READY, k.left_ns);
        ready_stay(task);
        break;
    case GO_READY:
        wb_task_paused(task, WB_TASK_READY, k.left_ns);
        ready_saved(task, true);
        break;
    case GO_AWAY:
        ready_saved(task, false);
        wb_task_departed(task, k.left_ns, k.left_ns);
        break;
    case GO_BLOCKED:
        wb_task_paused(task, WB_TASK_BLOCKED, k.left_ns);
        ready_saved(task, false);
        break;
    case GO_ENDED:
        wb_task_paused(task, WB_TASK_ENDED, k.left_ns);
        ready_saved(task, false);
        context_ended();
        break;
    }
}

static WB_INLINED void finish(void)
{
    struct wb_task *task = k.previous;

    k.previous = NULL;
    if (task == NULL)
        return;
    if (k.after == GO_BLOCKED && wb_task_paused_plainly(task, WB_TASK_BLOCKED, k.left_ns))
        ready_saved(task, false);
    else if (!WB_MORE_APART && k.after == GO_READY &&
             wb_task_paused_plainly(task, WB_TASK_READY, k.left_ns))
        ready_saved(task, true);
    else
        finish_departure(task);
}

static WB_APART void finish_previous(void)
{
    finish();
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
        kernel_set_need_resched();
    ready_watch(priority);
    set_alarm(earlier(k.tick_ns, timers_next_ns((int32_t)priority)));
}

// Tells the middleware that `task` runs now.
static WB_INLINED void announce(struct wb_task *task, uint64_t now_ns)
{
    k.current = task;
    if (WB_MORE_APART || !wb_task_resumed_plainly(task, now_ns))
        wb_task_resumed(task, now_ns);
    keep_need_resched(task);
}

// Leaves the running task for `next`, or for the loop if that is NULL. Returns when the task runs
// again, maybe on another core.
static WB_INLINED void switch_to(enum after after, struct wb_task *next)
{
    struct wb_task *from = k.current;

    k.previous = from;
    k.after = after;
    k.left_ns = wb_kernel_now_ns();
    context_leaves(from);
    if (next != NULL)
        announce(next, k.left_ns);
    else
        k.current = NULL;
    context_change(from, next);
    finish();
    context_is_back(from);
}

static WB_APART void leave(enum after after, struct wb_task *next)
{
    switch_to(after, next);
}

// ---- What waits for this core -------------------------------------------------------------------

static uint64_t next_ns(void)
{
    return earlier(k.tick_ns, timers_next_ns(-1));
}

static void look(void)
{
    clear_need_resched();
    if (has_pending_bits())
        (void)wb_agent_serve(k.core);
    if (next_ns() == WB_FOREVER)
        return;
    const uint64_t now_ns = wb_kernel_now_ns();
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

static void run_loop(struct wb_core *core)
{
    k.tick_ns = wb_agent_tick(core, wb_kernel_now_ns());
    wb_word_store(&core->state, WB_CORE_UP, WB_RELEASE);
    while (!is_over()) {
        look();
        struct wb_task *next = ready_first();
        if (next == NULL) {
            idle();
            continue;
        }
        announce(next, wb_kernel_now_ns());
        context_change(NULL, next);
        finish_previous();
    }
    wb_word_store(&core->state, WB_CORE_STOPPED, WB_RELEASE);
}

// ---- The contract -------------------------------------------------------------------------------

// No task gives way but where it asks for it, and interrupts call nothing of the middleware.
void wb_kernel_enter(void) {}

void wb_kernel_leave(void) {}

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

// What it calls may take it to another core, and the task is the one that runs there.
// `inlined`: in as few cycles as can be.
static WB_INLINED void block(bool inlined)
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

static WB_APART enum wb_status block_until(uint64_t until_ns)
{
    serve();
    if (until_ns == WB_FOREVER || until_ns > wb_kernel_now_ns()) {
        if (until_ns != WB_FOREVER)
            timers_add(k.current, until_ns);
        block(false);
        timers_remove(k.current);
    } else {
        wb_kernel_yield(wb_sync_priority(&k.current->sync));
        ready_looks(k.current);
    }
    return until_ns != WB_FOREVER && wb_kernel_now_ns() >= until_ns ? WB_ERR_TIMEOUT : WB_OK;
}

__attribute__((hot)) enum wb_status wb_kernel_block(uint64_t until_ns)
{
    catch_up();
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
    ready_reprioritise(task);
    if (k.current != NULL)
        keep_need_resched(k.current);
}

void wb_kernel_yield(uint32_t floor)
{
    struct wb_task *self = k.current;
    const uint32_t before = wb_sync_priority(&self->sync);

    catch_up();
    serve();
    struct wb_task *next = ready_yield(self, wb_floor_after(&self->sync, before, floor));
    if (next == NULL)
        keep_need_resched(self);
    else if (WB_MORE_APART)
        leave(GO_READY, next);
    else
        switch_to(GO_READY, next);
}

void wb_kernel_exit(void)
{
    leave(GO_ENDED, ready_leave(k.current));
    __builtin_unreachable();
}

#endif
