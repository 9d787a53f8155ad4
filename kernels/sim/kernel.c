// SPDX-License-Identifier: Apache-2.0
// The kernel contract in virtual time (wb/kernel.h).

#include "private.h"

#include "faults.h"
#include "private_mapping.h"
#include "wb/system.h"

struct wb_task *wb_kernel_self(void)
{
    return sim.self;
}

uint32_t wb_kernel_can(void)
{
    return WB_CAN_REPLICATE | WB_CAN_CAPTURE | WB_CAN_RECREATE | WB_CAN_SET_POINTS;
}

uint32_t wb_kernel_core(void)
{
    return sim.here != NULL ? sim.here->core->index : WB_CORE_NONE;
}

// Reading the clock takes no time, or instrumented code would be slower. But a task that does
// nothing else waits for time to pass, so it does once that task has looked often enough; the
// launcher, too. Steps and kernels wait for nothing.
static void look_at_clock(void)
{
    enum { POLLS = 64 };
    if (sim.here != NULL && sim.self == NULL)
        return;
    struct polls *polls = sim.here != NULL ? &kernel_task(sim.self)->sim.polls : &sim.polls;

    if (polls->last_ps != sim.engine->now_ps) {
        polls->last_ps = sim.engine->now_ps;
        polls->count = 0;
    } else if (++polls->count >= POLLS) {
        polls->count = 0;
        sim_pass(engine_look(sim.engine, sim.here != NULL ? sim.here->core->index : 0));
    }
}

static uint64_t odd_now_ns(void)
{
    if (sim.faults == NULL)
        return 0;
    look_at_clock();
    return faults_now_ns();
}

uint64_t wb_kernel_now_ns(void)
{
    if (sim.odd_clock)
        return odd_now_ns();
    if (!sim.stepping)
        look_at_clock();
    return sim_now_ns();
}

uint64_t wb_kernel_stamp_ns(void)
{
    if (sim.odd_clock)
        return sim.faults != NULL ? faults_now_ns() : 0;
    return sim_now_ns();
}

// Its first context is written where its next life begins.
enum wb_status wb_kernel_task_init(struct wb_task *task)
{
    if (task->mode == WB_REPLICATE && sim.here != NULL)
        private_mapping_give(task, sim.here->core->index);
    kernel_task(task)->sim.left_ps = kernel_task(task)->sim.left_hz =
        kernel_task(task)->sim.slice_ps = 0;
    sim.packed[task->id].bytes = sim.packed[task->id].times = 0;
    return stack_init(task);
}

void wb_kernel_attach(struct wb_task *task)
{
    struct kernel_task *kt = kernel_task(task);

    // A life of a recreated task begins at its entry (kernel_task_start()).
    if (task->mode == WB_RECREATE) {
        kt->sp = stack_first_context(task);
        kt->sim.left_ps = kt->sim.left_hz = 0;
    }
    if (task->mode == WB_REPLICATE)
        private_mapping_give(task, sim.here->core->index);
    if (kt->sp != NULL)
        sanitizer_clean(task->stack, (size_t)((unsigned char *)kt->sp - task->stack));
    kt->sim.slice_ps = 0;
    kt->blocked = false;
    kt->woken = true;  // whatever it waited for, it looks again
    sim_make_ready(sim.here, task);
}

enum wb_status wb_kernel_depart(void)
{
    struct wb_task *self = sim.self;

    if (libc_state_is_held(&kernel_task(self)->libc))
        return WB_ERR_HELD;
    if (self->mode == WB_RECREATE) {
        const enum wb_status parked = wb_recreation_park(self);
        if (parked != WB_OK)
            return parked;
    }
    // On the task's time: until it is parked, nobody may see that it left.
    sim.here->parked_ns = sim_now_ns();
    wb_kernel_charge(WB_ACTION_PARK, 1);
    // Interrupted before that, it may go on elsewhere, and its request be over.
    if (sim_may_be_preempted() && !wb_departure_is_due(self))
        return WB_ERR_GONE;
    sim_leave(GO_AWAY);
    return WB_OK;
}

// Lets tasks of the priority `floor` or above run. One that does not ask for that, but is at a
// checkpoint, or in a wait that is over at once, keeps what is left of its slice (fair.c).
static inline void let_others(uint32_t floor, bool forfeits)
{
    struct sim_core *c = sim.here;
    const uint32_t before = wb_sync_priority(&sim.self->sync);

    sim_serve(c);
    floor = wb_floor_after(&sim.self->sync, before, floor);
    if (floor < PRIORITIES && sim_has_ready(c, floor)) {
        if (__builtin_expect(c->scheduling.is_fair, 0) && forfeits)
            sim_forfeit(c);
        sim_leave(GO_READY);
    } else {
        sim_keep_need_resched(c);
    }
    look_at_clock();  // who yields in a loop waits for time to pass, too
}

enum wb_status wb_kernel_block(uint64_t until_ns)
{
    struct kernel_task *kt = kernel_task(sim.self);
    wb_task_step *const step = sim.self->step;

    if (until_ns != WB_FOREVER && sim.odd_clock)
        until_ns = faults_true_ns(until_ns);
    // Suspended while it serves, it does not wait yet for what the next step would look at.
    sim.self->step = NULL;
    sim_serve(sim.here);
    if (!kt->woken && (until_ns == WB_FOREVER || until_ns > sim_now_ns())) {
        sim_begin_wait(sim.self, until_ns);
        sim.self->step = step;
        sim_leave(GO_BLOCKED);
        sim_end_wait(kt);
    } else {
        if (kt->woken)
            sim_keep_need_resched(sim.here);
        else
            let_others(wb_sync_priority(&sim.self->sync), false);
        kt->woken = false;
    }
    return until_ns != WB_FOREVER && sim_now_ns() >= until_ns ? WB_ERR_TIMEOUT : WB_OK;
}

void wb_kernel_unblock(struct wb_task *task)
{
    struct kernel_task *kt = kernel_task(task);

    kt->woken = true;
    if (!kt->blocked)
        return;
    kt->blocked = false;
    sim_stop_timer(task);
    sim_make_ready(sim.here, task);
}

// In virtual time no file changes by itself.
enum wb_status wb_kernel_watch(int file, uint32_t events, bool wake)
{
    (void)file;
    (void)events;
    (void)wake;
    return WB_ERR_UNABLE;
}

// A cooperative kernel does nothing here before this task calls in.
void wb_kernel_enter(void)
{
    if (sim_may_be_preempted())
        sim.here->irq.masked = true;
}

static void unmask(void)
{
    struct sim_core *c = sim.here;

    c->irq.masked = false;
    if ((c->irq.pends || sim_is_outdone(c)) && !c->choice.is_due)
        sim_give_way();
}

// Whoever was unblocked meanwhile runs from here on, if it is more urgent.
void wb_kernel_leave(void)
{
    if (sim_may_be_preempted())
        unmask();
}

void wb_kernel_reprioritise(struct wb_task *task)
{
    struct sim_core *c = sim.here;

    if (sim_take_ready(c, task))
        sim_queue(c, task);
    else if (__builtin_expect(c->scheduling.is_fair, 0))
        sim_follow_priority(c, task);
    else if (__builtin_expect(c->place != NULL, 0))
        sim_follow_shared(c, task);
    sim_keep_need_resched(c);
    if (__builtin_expect(c->scheduling.slice_ps != 0, 0))
        sim_time_slice(c);
    if (sim_may_be_preempted() && sim_is_outdone(c))
        sim_give_way();
}

void wb_kernel_yield(uint32_t floor)
{
    let_others(floor, floor <= wb_sync_priority(&sim.self->sync));
}

// Polling would be an event for each turn: the doorbell has its cost instead. Who polls on
// regardless waits for time to pass.
bool wb_kernel_spin(struct wb_spin *spin, uint64_t until_ns)
{
    (void)spin;
    (void)until_ns;
    look_at_clock();
    return false;
}

// It takes time, or somebody has to know.
static __attribute__((noinline)) void ring(struct sim_core *c, uint32_t from)
{
    struct engine *engine = sim.engine;
    const bool quiet = sim.quiet;
    uint64_t ring_ps = 0, owed_ps = 0;

    // The last task of all has ended: islands do not hear of each other.
    if (sim.islands.on && sim.here != NULL && wb_word_load(&sim.system->live, WB_RELAXED) == 0)
        return;
    c->irq.rung = true;
    if (sim.here != NULL) {
        sim.quiet = true;
        sim_record_power(c);
        wb_record_event(c->core, WB_EVENT_DOORBELL, UINT32_MAX, from, 0, sim_now_ns());
        sim.quiet = quiet;
        if (!is_free(sim.here, CHARGE_RING))
            ring_ps = engine_ring(engine, from, c->core->index);
        owed_ps = sim.self == NULL ? sim.here->overhead_ps : 0;
    }
    // It rings even if the task that rings is killed meanwhile.
    const uint64_t ps =
        sim_sum(sim_sum(owed_ps, ring_ps),
                is_free(c, CHARGE_NOTICE) ? 0 : engine_notice(engine, from, c->core->index));
    if (__builtin_expect(sim.faults != NULL, 0))
        faults_ring(c, engine->now_ps + ps);
    else if (ps == 0)
        sim_ring_now(c);
    else
        sim_push_in(ps, EVENT_RING, c->core->index);
    sim_spend(ring_ps);
}

void wb_kernel_doorbell(uint32_t core)
{
    struct sim_core *c = &sim.cores[core];

    if (c == sim.here) {
        // A kernel looks into its own inbox before it rests, and a task at its next checkpoint.
        if (sim.self != NULL && c->scheduling.preempts)
            sim_give_way();
        else if (sim.self != NULL)
            sim_keep_need_resched(c);
    } else if (c->irq.rung || c->dead) {
        return;
    } else if (sim.self != NULL && c->skips.rings_at_once && sim.here->skips.takes_steps) {
        c->irq.rung = true;
        sim_ring_now(c);
    } else {
        ring(c, sim.here != NULL ? sim.here->core->index : core);
    }
}

static __attribute__((noinline)) void out_of_fuel(void)
{
    if (sim.faults != NULL)
        faults_strike();
    else
        sim_pause();
}

static void count_charge(void)
{
    if (--sim.charges.fuel == 0)
        out_of_fuel();
    sim_moment();
}

// What ends with a transfer, which those who come meanwhile make longer (core.c, resume()).
static void spend_with_transfer(uint64_t ps)
{
    sim.here->transfers = true;
    sim_spend(ps);
}

// A message is in the cache of the core that sent it. In the mean over those that the task receives
// in a firing: which of them it has read is not told here.
static uint64_t far_ps(const struct wb_task *task)
{
    const uint32_t core = sim.here->core->index;
    uint64_t bytes = 0, messages = 0;

    for (const struct wb_port *port = task->ports; port != NULL; port = port->next_of_task) {
        if (port->direction != WB_IN)
            continue;
        const struct wb_port *from = port->channel->senders;
        messages += port->rate;
        if (from != NULL && wb_task_core(from->task) != core)
            bytes += (uint64_t)port->rate * port->channel->slot_bytes;
    }
    return bytes != 0 ? engine_far(sim.engine, core, bytes / messages) : 0;
}

static __attribute__((noinline)) void charge(enum wb_action action, uint32_t units)
{
    if (sim.charges.counted)
        count_charge();
    if (sim.here == NULL || is_free(sim.here, action))
        return;
    const uint64_t ps =
        engine_action(sim.engine, sim_begins_ps(), sim.here->core->index, action, units);
    if (action <= WB_ACTION_RECEIVE)
        spend_with_transfer(ps);
    else if (action == WB_ACTION_RELEASE && sim.self != NULL)
        sim_spend(sim_sum(ps, far_ps(sim.self)));
    else
        sim_spend(ps);
}

void wb_kernel_charge(enum wb_action action, uint32_t units)
{
    if (__builtin_expect((sim.free >> action & 1) == 0, 0))
        charge(action, units);
}

// Traffic goes along with the cycles in a few parts, so that cores that compute at the same time
// are in each other's way a little all the time, not once for long.
void wb_kernel_compute(uint64_t cycles)
{
    enum { PARTS = 8 };
    const uint64_t bytes = sim.self->work.traffic_bytes;

    if (bytes == 0) {
        sim_compute(cycles);
        return;
    }
    for (uint64_t i = 0; i < PARTS; i++) {
        sim_compute(cycles * (i + 1) / PARTS - cycles * i / PARTS);
        // Where cores share a scheduler it may have gone on elsewhere meanwhile.
        spend_with_transfer(engine_transfer(sim.engine, sim_begins_ps(), sim.here->core->index,
                                            bytes * (i + 1) / PARTS - bytes * i / PARTS));
    }
}

// What the target of a migration copies is not where the task has its memory yet: it may still be
// given back to its source and run there.
void wb_kernel_copy(void *to, const void *from, size_t bytes)
{
    const uint32_t core = wb_kernel_core();

    sanitizer_clean(to, bytes);
    if (core == WB_CORE_NONE) {
        sanitizer_copy(to, from, bytes);
        return;
    }
    sanitizer_copy(private_mapping_of(core, to), private_mapping_of(core, from), bytes);
    spend_with_transfer(engine_copy(sim.engine, sim_begins_ps(), core, bytes));
}

// The comparison takes no time: the platforms have no cost for it.
bool wb_kernel_update(void *to, const void *from, size_t bytes)
{
    const uint32_t core = wb_kernel_core();
    const bool differs =
        sanitizer_differs(private_mapping_of(core, to), private_mapping_of(core, from), bytes);

    if (differs)
        wb_kernel_copy(to, from, bytes);
    return differs;
}

const void *wb_kernel_private(uint32_t core, const void *address)
{
    return private_mapping_contains(address) ? private_mapping_of(core, address) : NULL;
}

void wb_kernel_capture(void)
{
    const bool held = libc_state_is_held(&kernel_task(sim.self)->libc);

    sim_serve(sim.here);
    sim_leave(held ? GO_READY : GO_CAPTURED);
}

void wb_kernel_set_point(uint32_t point)
{
    struct wb_core *core = sim.here->core;

    if (point >= core->n_points)
        return;
    const uint64_t ps = engine_set_point(sim.engine, core->index, point);
    sim_record_change(sim.here);
    sim_spend(ps);
    wb_core_enter_point(core, point, sim_now_ns());
    wb_record_event(core, WB_EVENT_FREQUENCY, UINT32_MAX, 0, core->points[point].hz / 1000,
                    sim_now_ns());
}

int32_t wb_kernel_temperature_mc(void)
{
    const int32_t mc = engine_temperature_mc(sim.engine, sim.here->core->index);
    return mc == INT32_MIN ? WB_NO_TEMPERATURE : mc;
}

enum wb_status wb_kernel_load(struct wb_task *task)
{
    if (sim.here->starved)
        return WB_ERR_NOMEM;
    const size_t heap_bytes = (size_t)(task->heap.end - task->heap.base);
    sim_spend(engine_load(sim.engine, sim.here->core->index, task->stack_bytes + heap_bytes));
    return WB_OK;
}

void wb_kernel_unload(struct wb_task *task)
{
    (void)task;
}

void wb_kernel_exit(void)
{
    sim.islands.live--;
    sim_leave(GO_ENDED);
    __builtin_unreachable();
}

void wb_kernel_halt(void)
{
    sim_halt();
}

// In whole pages: how much of one is in use is the compiler's affair, and what is copied would take
// another time on another machine.
void *wb_kernel_stack_low(const struct wb_task *task)
{
    const struct kernel_task *kt = (const struct kernel_task *)(const void *)task->kernel;
    // A first context that is not written yet will take a page.
    const size_t used =
        kt->sp != NULL ? (size_t)(task->stack + task->stack_bytes - (unsigned char *)kt->sp) : 1;
    const size_t pages = whole_pages(used);

    return task->stack + (pages < task->stack_bytes ? task->stack_bytes - pages : 0);
}
