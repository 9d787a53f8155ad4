// SPDX-License-Identifier: Apache-2.0
// The kernel of one core: a process that runs tasks as user-level contexts.
//
// Fixed priority, first come first served within one; checkpoints and blocking calls are the
// scheduling points. A task that leaves the core switches straight to the next ready one, or to the
// kernel's loop; whoever runs next finishes the departure, because only then is the context of the
// one that left complete.

#define _GNU_SOURCE
#include "wb/kernel.h"

#include "arch.h"
#include "clock.h"
#include "private.h"

void context_switch(void **save, void *load);

// The summary word of this core's inbox: the launcher maps the core's page over this one.
_Alignas(PAGE_BYTES) uint32_t wb_kernel_need_resched_page[PAGE_BYTES / sizeof(uint32_t)];
extern struct wb_word wb_kernel_need_resched __attribute__((alias("wb_kernel_need_resched_page")));

enum after { GO_READY, GO_CAPTURED, GO_BLOCKED, GO_AWAY, GO_ENDED };

// Private memory: every kernel has its own at this address.
static struct {
    struct wb_system *system;
    struct wb_core *core;
    struct wb_task *current;   // NULL in the loop
    struct wb_task *previous;  // left the core; its departure is to be finished
    enum after after;          // what becomes of it
    uint64_t left_ns;          // when it left
    void *loop_sp;
    void *loop_fake_stack;
    uint64_t spin_ns;
    bool to_completion;  // a more urgent task waits until the running one does
    uint64_t tick_ns;    // when the agent's tick is due
    struct ready ready;
    struct timers timers;
} k;

void kernel_set_system(struct wb_system *system)
{
    k.system = system;
}

struct wb_system *kernel_system(void)
{
    return k.system;
}

// ---- Switching ----------------------------------------------------------------------------------

static void finish_previous(void)
{
    struct wb_task *task = k.previous;

    k.previous = NULL;
    if (task == NULL)
        return;
    switch (k.after) {
    case GO_CAPTURED:
        wb_task_captured(task);
        // fall through
    case GO_READY:
        wb_task_paused(task, WB_TASK_READY, k.left_ns);
        ready_push(&k.ready, task);
        break;
    case GO_AWAY:
        wb_task_departed(task, k.left_ns, k.left_ns);
        break;
    case GO_BLOCKED:
    case GO_ENDED:
        wb_task_paused(task, k.after == GO_ENDED ? WB_TASK_ENDED : WB_TASK_BLOCKED, k.left_ns);
        break;
    }
}

static bool is_more_urgent(uint32_t levels, uint32_t priority)
{
    return !k.to_completion && levels >> priority > 1;
}

static void set_need_resched(void)
{
    wb_word_or(&k.core->inbox.summary, 1, WB_RELAXED);
}

// Serving the inbox clears need_resched; a request that the running task has not seen, or a more
// urgent task that is ready, raises it again, and so will the end of such a one's sleep, the
// agent's tick, and the end of a slice of an emulated frequency.
static void keep_need_resched(const struct wb_task *self)
{
    const uint32_t priority = wb_sync_priority(&self->sync);
    uint64_t at_ns = k.tick_ns;

    if (wb_checkpoint_wanted(self) || is_more_urgent(k.ready.levels, priority))
        set_need_resched();
    if (is_more_urgent(k.timers.levels, priority) && timers_next_ns(&k.timers) < at_ns)
        at_ns = timers_next_ns(&k.timers);
    if (at_ns == WB_FOREVER && !frequency_slows())
        return;
    const uint64_t now_ns = clock_now_ns();
    if (frequency_slows() && now_ns + SLICE_NS < at_ns)
        at_ns = now_ns + SLICE_NS;
    alarm_set(at_ns, now_ns);
}

// Tells the middleware that `task` runs now, and sets need_resched for its migration request.
static void announce(struct wb_task *task, uint64_t now_ns)
{
    k.current = task;
    wb_task_resumed(task, now_ns);
    keep_need_resched(task);
}

// Leaves the running task for `next`, or for the loop if that is NULL. Returns when the task runs
// again, maybe in another process.
static void leave(enum after after, struct wb_task *next)
{
    struct wb_task *from = k.current;
    struct kernel_task *lt = kernel_task(from);
    void **fake_stack = after == GO_ENDED ? NULL : &lt->fake_stack;

    libc_state_save(lt);
    k.previous = from;
    k.after = after;
    k.left_ns = clock_now_ns();
    frequency_count_run(k.left_ns);
    if (next != NULL) {
        announce(next, k.left_ns);
        sanitizer_leave(fake_stack, next->stack, next->stack_bytes);
        context_switch(&lt->sp, kernel_task(next)->sp);
    } else {
        k.current = NULL;
        sanitizer_leave(fake_stack, NULL, 0);
        context_switch(&lt->sp, k.loop_sp);
    }
    sanitizer_enter(lt->fake_stack);
    finish_previous();
    libc_state_restore(lt);
}

void kernel_task_start(struct wb_task *task)
{
    sanitizer_enter(NULL);
    finish_previous();
    libc_state_restore(kernel_task(task));
    wb_task_main(task);
}

// ---- What waits for this core -------------------------------------------------------------------

static bool has_pending_bits(void)
{
    return wb_word_load(&k.core->inbox.summary, WB_RELAXED) != 0;
}

// When the core has to look again by itself. `held`: a task waits for the emulated core.
static uint64_t next_ns(bool held)
{
    const uint64_t timer_ns = timers_next_ns(&k.timers);
    const uint64_t until_ns = held ? frequency_until_ns() : WB_FOREVER;
    const uint64_t next = until_ns < k.tick_ns ? until_ns : k.tick_ns;

    return timer_ns < next ? timer_ns : next;
}

static void serve(void)
{
    if (has_pending_bits())
        (void)wb_agent_serve(k.core);
    if (next_ns(false) == WB_FOREVER)
        return;
    const uint64_t now_ns = clock_now_ns();
    timers_wake(&k.timers, now_ns);
    if (now_ns >= k.tick_ns)
        k.tick_ns = wb_agent_tick(k.core, now_ns);
}

static bool is_over(void)
{
    return wb_word_load(&k.system->live, WB_SEQ_CST) == 0;
}

static void idle_until(uint64_t until_ns, uint64_t since_ns)
{
    uint64_t now_ns = since_ns;

    while (!has_pending_bits() && now_ns < until_ns && !is_over()) {
        if (now_ns - since_ns > k.spin_ns) {
            if (doorbell_sleep(k.core, until_ns, true))
                wb_counter_add(&k.core->stats.sleeps, 1);
            return;
        }
        arch_relax();
        now_ns = clock_now_ns();
    }
}

// The task that is to run next; while an emulated core would still be busy only one that leaves.
static struct wb_task *next_ready(uint32_t floor)
{
    const bool owes = frequency_slows() && frequency_owes(clock_now_ns());
    return owes ? ready_pop_leaving(&k.ready) : ready_pop(&k.ready, floor);
}

static void idle(void)
{
    const bool held = k.ready.levels != 0;
    const uint64_t since_ns = clock_now_ns();

    idle_until(next_ns(held), since_ns);
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
        doorbell_sleep(k.core, next_ns(true), false);
    }
    frequency_begin_run();
}

static void loop(void)
{
    while (!is_over()) {
        serve();
        struct wb_task *next = next_ready(0);
        if (next == NULL) {
            idle();
            continue;
        }
        frequency_begin_run();
        announce(next, clock_now_ns());
        sanitizer_leave(&k.loop_fake_stack, next->stack, next->stack_bytes);
        context_switch(&k.loop_sp, kernel_task(next)->sp);
        sanitizer_enter(k.loop_fake_stack);
        finish_previous();
    }
}

void kernel_run(struct wb_core *core, uint64_t spin_ns, bool to_completion)
{
    k.core = core;
    k.spin_ns = spin_ns;
    k.to_completion = to_completion;
    libc_state_init();
    if (!timers_init(&k.timers, k.system->n_tasks)) {
        wb_system_fault(k.system, WB_FAULT_KERNEL, NULL, "no memory for the kernel's timers");
        wb_kernel_halt();
    }
    alarm_init(set_need_resched);
    frequency_start(core, clock_now_ns());
    k.tick_ns = wb_agent_tick(core, clock_now_ns());
    wb_word_store(&core->state, WB_CORE_UP, WB_RELEASE);
    loop();
    wb_word_store(&core->state, WB_CORE_STOPPED, WB_RELEASE);
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

static void make_ready(struct wb_task *task)
{
    ready_push(&k.ready, task);
    if (k.current != NULL && !k.to_completion &&
        wb_sync_priority(&task->sync) > wb_sync_priority(&k.current->sync))
        set_need_resched();
}

void wb_kernel_attach(struct wb_task *task)
{
    struct kernel_task *lt = kernel_task(task);

    // Below its stack pointer there may be frames of a kernel that was killed.
    sanitizer_clean(task->stack, (size_t)((unsigned char *)lt->sp - task->stack));
    lt->blocked = false;
    lt->woken = true;  // whatever it waited for, it looks again
    lt->timer = 0;
    make_ready(task);
}

enum wb_status wb_kernel_depart(void)
{
    if (libc_state_is_held(kernel_task(k.current)))
        return WB_ERR_HELD;
    frequency_count_run(clock_now_ns());
    leave(GO_AWAY, next_ready(0));
    return WB_OK;
}

enum wb_status wb_kernel_block(uint64_t until_ns)
{
    struct wb_task *self = k.current;
    struct kernel_task *lt = kernel_task(self);

    catch_up();
    serve();
    if (!lt->woken && (until_ns == WB_FOREVER || until_ns > clock_now_ns())) {
        lt->blocked = true;
        if (until_ns != WB_FOREVER)
            timers_add(&k.timers, self, until_ns);
        leave(GO_BLOCKED, next_ready(0));
    } else if (!lt->woken) {
        wb_kernel_yield(wb_sync_priority(&self->sync));
    } else {
        keep_need_resched(self);
    }
    lt->woken = false;
    lt->watches = false;
    return until_ns != WB_FOREVER && clock_now_ns() >= until_ns ? WB_ERR_TIMEOUT : WB_OK;
}

void wb_kernel_unblock(struct wb_task *task)
{
    struct kernel_task *lt = kernel_task(task);

    lt->woken = true;
    if (!lt->blocked)
        return;
    lt->blocked = false;
    if (lt->timer != 0)
        timers_remove(&k.timers, task);
    make_ready(task);
}

// Cooperative: nothing runs here before this task calls in.
void wb_kernel_enter(void) {}

void wb_kernel_leave(void) {}

void wb_kernel_reprioritise(struct wb_task *task)
{
    ready_move(&k.ready, task);
    timers_move(&k.timers, task);
    if (k.current != NULL)
        keep_need_resched(k.current);
}

void wb_kernel_yield(uint32_t floor)
{
    struct wb_task *self = k.current;
    const uint32_t before = wb_sync_priority(&self->sync);

    catch_up();
    serve();
    floor = wb_floor_after(&self->sync, before, floor);
    const bool preempts = floor > wb_sync_priority(&self->sync);
    struct wb_task *next = k.to_completion && preempts ? NULL : next_ready(floor);
    if (next != NULL)
        leave(GO_READY, next);
    else
        keep_need_resched(self);
}

// Reading the clock takes as long as a cache line takes to arrive, so most turns do not. A task of
// an emulated core does not poll: a message takes no longer to arrive there.
bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    enum { TURNS = 32 };

    if (k.ready.levels != 0 || has_pending_bits() || k.spin_ns == 0 || frequency_slows())
        return false;
    if (++spin->turns % TURNS != 0)
        return true;
    arch_relax();
    const uint64_t now_ns = clock_now_ns();
    if (spin->turns == TURNS)
        spin->since_ns = now_ns;
    spin->polled_ns = now_ns - spin->since_ns;
    return spin->polled_ns < k.spin_ns && now_ns < until_ns && now_ns < next_ns(false);
}

uint64_t kernel_poll_end_ns(uint64_t *spin_ns)
{
    *spin_ns = k.spin_ns;
    return k.ready.levels != 0 ? 0 : next_ns(false);
}

// Real time passes by itself; what an emulated core still owes for a job makes that job later.
void wb_kernel_charge(enum wb_action action, uint32_t units)
{
    (void)units;
    if (action == WB_ACTION_JOB)
        catch_up();
}

void wb_kernel_capture(void)
{
    const bool held = libc_state_is_held(kernel_task(k.current));

    serve();
    leave(held ? GO_READY : GO_CAPTURED, next_ready(wb_sync_priority(&k.current->sync)));
}

void wb_kernel_exit(void)
{
    frequency_count_run(clock_now_ns());
    leave(GO_ENDED, next_ready(0));
    __builtin_unreachable();
}
