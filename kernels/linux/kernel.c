// SPDX-License-Identifier: Apache-2.0
// The kernel of one core: a process that runs tasks as user-level contexts (cooperative.h).

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>

#include "arch.h"
#include "clock.h"
#include "private.h"

struct own {
    struct wb_system *system;
    void *loop_fake_stack;
    uint64_t spin_ns;
    uint64_t window_ns;  // how long a wait polls now: `spin_ns`, or less if it adapts
    bool adapts;
};

static void context_leaves(struct wb_task *from);
static void context_is_back(struct wb_task *from);

// `k` is private memory: every kernel has its own at this address.
#include "../template/cooperative.h"

void context_switch(void **save, void *load);

// The summary word of this core's inbox: the launcher maps the core's page over this one.
_Alignas(PAGE_BYTES) uint32_t wb_kernel_need_resched_page[PAGE_BYTES / sizeof(uint32_t)];
extern struct wb_word wb_kernel_need_resched __attribute__((alias("wb_kernel_need_resched_page")));

void kernel_set_system(struct wb_system *system)
{
    k.own.system = system;
}

struct wb_system *kernel_system(void)
{
    return k.own.system;
}

void kernel_set_need_resched(void)
{
    wb_word_or(&k.core->inbox.summary, 1, WB_RELAXED);
}

// Serving the inbox does.
static void clear_need_resched(void) {}

static __attribute__((noinline)) void set_signal(uint64_t at_ns)
{
    const uint64_t now_ns = clock_now_ns();
    if (frequency_slows() && now_ns + SLICE_NS < at_ns)
        at_ns = now_ns + SLICE_NS;
    alarm_set(at_ns, now_ns);
}

// Also for the end of a slice of an emulated frequency.
static void set_alarm(uint64_t at_ns)
{
    if (at_ns != WB_FOREVER || frequency_slows())
        set_signal(at_ns);
}

// ---- Contexts -----------------------------------------------------------------------------------

static void context_leaves(struct wb_task *from)
{
    libc_state_save(&kernel_task(from)->libc);
    frequency_count_run(k.left_ns);
}

static void context_is_back(struct wb_task *from)
{
    libc_state_restore(&kernel_task(from)->libc);
}

// AddressSanitizer has to know which stack is in use.
static __attribute__((noinline)) void
context_change_checked(struct wb_task *from, struct wb_task *next, void **save, void *load)
{
    void **fake_stack = from != NULL ? &kernel_task(from)->fake_stack : &k.own.loop_fake_stack;
    void **kept = from != NULL && k.after == GO_ENDED ? NULL : fake_stack;

    sanitizer_leave(kept, next != NULL ? next->stack : NULL, next != NULL ? next->stack_bytes : 0);
    context_switch(save, load);
    sanitizer_enter(*fake_stack);
}

static WB_INLINED void context_change(struct wb_task *from, struct wb_task *next)
{
    void **save = from != NULL ? &kernel_task(from)->sp : &k.loop_sp;
    void *load = next != NULL ? kernel_task(next)->sp : k.loop_sp;

    if (sanitizer_is_there())
        context_change_checked(from, next, save, load);
    else
        context_switch(save, load);
}

static void context_ended(void) {}

void kernel_task_start(struct wb_task *task)
{
    sanitizer_enter(NULL);
    finish_previous();
    libc_state_restore(&kernel_task(task)->libc);
    wb_task_main(task);
}

// ---- What waits for this core -------------------------------------------------------------------

// When the core has to look again by itself. `held`: a task waits for the emulated core.
static uint64_t look_again_ns(bool held)
{
    return held ? earlier(next_ns(), frequency_until_ns()) : next_ns();
}

// The buffer of standard output is this process's own: the beginning of a line goes before its end,
// which the task may print elsewhere.
static void print_pending(void)
{
    const int error_number = errno;

    if (__fpending(stdout) != 0)
        fflush(stdout);
    errno = error_number;
}

// As Linux's haltpoll governor (drivers/cpuidle/governors/haltpoll.c): one doubling where a longer
// window would have caught what ended the wait, one halving where even the longest would not.
static void adapt_window(uint64_t idle_ns)
{
    enum { FIRST_NS = 5000 };
    const uint64_t window_ns = k.own.window_ns;

    if (idle_ns > k.own.spin_ns)
        k.own.window_ns = window_ns / 2;
    else if (idle_ns > window_ns)
        k.own.window_ns = earlier(window_ns == 0 ? FIRST_NS : 2 * window_ns, k.own.spin_ns);
}

static bool has_work(void)
{
    return has_pending_bits() || is_over();
}

// Looks several times for each reading of the clock, which takes longer than a look; what has come
// does not wait for one.
static uint64_t poll(uint64_t now_ns)
{
    enum { LOOKS = 4 };

    for (uint32_t i = 0; i < LOOKS; i++) {
        arch_relax();
        if (has_work())
            return now_ns;
    }
    const uint64_t then_ns = clock_now_ns();
    wb_counter_add(&k.core->stats.idle_polling_ns, then_ns - now_ns);
    return then_ns;
}

static void idle_until(uint64_t until_ns, uint64_t since_ns)
{
    uint64_t now_ns = since_ns;

    while (!has_work() && now_ns < until_ns) {
        if (now_ns - since_ns >= k.own.window_ns) {
            print_pending();
            if (doorbell_sleep(k.core, until_ns, true))
                wb_counter_add(&k.core->stats.sleeps, 1);
            if (k.own.adapts)
                adapt_window(clock_now_ns() - since_ns);
            return;
        }
        joint_copy_help(k.core);
        now_ns = poll(now_ns);
    }
}

static void idle(void)
{
    const bool held = ready_any();
    const uint64_t since_ns = clock_now_ns();

    idle_until(look_again_ns(held), since_ns);
    if (frequency_slows())
        wb_counter_add(&k.core->stats.busy_ns, frequency_rest(since_ns, clock_now_ns(), !held));
}

// Makes up for the time that an emulated core would have taken for what the running task did. A
// task that is to depart does not wait for it: the loop does.
static void catch_up(void)
{
    if (!frequency_slows())
        return;
    frequency_count_run(clock_now_ns());
    while (frequency_owes(clock_now_ns()) && !wb_migration_requested(k.current)) {
        serve();
        doorbell_sleep(k.core, look_again_ns(true), false);
    }
    frequency_begin_run();
}

void kernel_run(struct wb_core *core, uint64_t spin_ns, bool adapts, bool to_completion)
{
    k.core = core;
    k.own.spin_ns = spin_ns;
    k.own.window_ns = spin_ns;
    k.own.adapts = adapts;
    if (to_completion)
        ready_run_to_completion();
    libc_state_init();
    if (!timers_init(k.own.system->n_tasks)) {
        wb_system_fault(k.own.system, WB_FAULT_KERNEL, NULL, "no memory for the kernel's timers");
        wb_kernel_halt();
    }
    alarm_init(kernel_set_need_resched);
    frequency_start(core, clock_now_ns());
    joint_copy_start(core);
    run_loop(core);
}

// ---- The contract -------------------------------------------------------------------------------

struct wb_task *wb_kernel_self(void)
{
    return k.current;
}

uint32_t wb_kernel_can(void)
{
    return WB_CAN_REPLICATE | WB_CAN_CAPTURE | WB_CAN_RECREATE | WB_CAN_SET_POINTS;
}

uint32_t wb_kernel_core(void)
{
    return k.core != NULL ? k.core->index : WB_CORE_NONE;
}

enum wb_status wb_kernel_depart(void)
{
    if (libc_state_is_held(&kernel_task(k.current)->libc))
        return WB_ERR_HELD;
    // Its target wakes up while this core parks the task.
    wb_kernel_doorbell(k.current->migration.target);
    if (k.current->mode == WB_REENTER && portable_is_wanted())
        portable_check(k.current);
    leave(GO_AWAY, ready_leave(k.current));
    return WB_OK;
}

// Reading the clock takes as long as a cache line takes to arrive, so most turns do not. A task of
// an emulated core does not poll: a message takes no longer to arrive there.
bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    enum { TURNS = 32 };

    if (ready_any() || has_pending_bits() || k.own.window_ns == 0 || frequency_slows())
        return false;
    if (++spin->turns % TURNS != 0)
        return true;
    arch_relax();
    const uint64_t now_ns = clock_now_ns();
    if (spin->turns == TURNS)
        spin->since_ns = now_ns;
    spin->polled_ns = now_ns - spin->since_ns;
    return spin->polled_ns < k.own.window_ns && now_ns < until_ns && now_ns < next_ns();
}

uint64_t kernel_poll_end_ns(uint64_t *spin_ns)
{
    *spin_ns = k.own.window_ns;
    return ready_any() ? 0 : next_ns();
}

// Real time passes by itself; what an emulated core still owes for a job makes that job later. A
// checkpoint comes here when it was asked for, as by the launcher now and then (stall.c).
void wb_kernel_charge(enum wb_action action, uint32_t units)
{
    (void)units;
    if (action == WB_ACTION_JOB)
        catch_up();
    else if (action == WB_ACTION_CHECKPOINT)
        print_pending();
}

void wb_kernel_capture(void)
{
    const bool held = libc_state_is_held(&kernel_task(k.current)->libc);

    serve();
    leave(held ? GO_READY : GO_CAPTURED,
          ready_yield(k.current, wb_sync_priority(&k.current->sync)));
}
