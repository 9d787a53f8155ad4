// SPDX-License-Identifier: Apache-2.0
// Scripts, as steps: where one is stands in `struct run`, nothing of it on the stack. So a kernel
// may take the next step in a task's place, without a switch to its stack (wb_task.step), and a
// task that starts at its entry again goes on where it was.

#include "run.h"

#include "../measure/response.h"
#include "wb/memory.h"

// ---- Beginning ----------------------------------------------------------------------------------

static void *taken(struct wb_task *self, size_t count, size_t bytes)
{
    void *memory = wb_calloc(count != 0 ? count : 1, bytes);

    if (memory == NULL)
        wb_task_fail(self, "its heap has no room for its script: raise `heap`");
    return memory;
}

static void find_ends(struct wb_task *self, struct run *run)
{
    const struct wb_script_config *config = &run->script->config;
    struct wb_port **end;
    uint32_t n = 0;

    for (const struct wb_port *port = self->ports; port != NULL; port = port->next_of_task) {
        run->has_input |= port->direction == WB_IN;
        n++;
    }
    end = taken(self, n, sizeof *end);
    run->reach = taken(self, config->n_ports, sizeof *run->reach);
    for (uint32_t i = 0; i < config->n_ports; i++) {
        run->reach[i] = (struct reach){ end, wb_port_count(self, config->ports[i]) };
        for (uint32_t element = 0; element < run->reach[i].n; element++)
            *end++ = wb_port_find(self, config->ports[i], element);
    }
}

// What is left to do of going from one event to another, by a life that was cut short there.
static void arrive(struct run *run)
{
    const struct wb_script_event *from = run->of;

    if (from->verb == WB_SCRIPT_END && run->spot.event == &run->events[from->other] + 1)
        run->spot.left[from->object] = run->turns;
    begin_event(run);
}

// What was held is lost with the life that held it. The event there has begun before less is held,
// or a life that is cut short in between would take it for one that it came to by a loop's end.
static void return_to_safe(struct run *run)
{
    run->spot = run->safe;
    wb_word_order();
    begin_event(run);
    wb_word_order();
    run->held = 0;
}

static void begin_anew(struct run *run)
{
    run->begun = false;
    if (run->held != 0)
        return_to_safe(run);
    else if (run->of != run->spot.event)
        arrive(run);
}

static struct run *run_of(struct wb_task *self, const struct wb_messages *messages)
{
    const uint32_t life = wb_word_load(&self->lives, WB_RELAXED);
    struct run *run = self->state;

    if (run == NULL) {
        run = taken(self, 1, sizeof *run);
        run->of_task = self->scripted;
        run->script = self->scripted->script;
        run->events = run->spot.event = run->of = run->script->config.events;
        find_ends(self, run);
        run->timers = taken(self, run->script->config.n_timers, sizeof *run->timers);
        run->start_ns = wb_kernel_now_ns();
        self->state = run;
    } else if (run->life != life) {
        begin_anew(run);
    }
    run->life = life;
    run->passing = (struct passing){ .messages = messages };
    if (run->script->config.n_timers != 0)
        self->job_deadline_ns = WB_FOREVER / 2;  // until a timer has been set
    return run;
}

static uint64_t stamp(struct way *way)
{
    if (way->may_block)
        return wb_kernel_stamp_ns();
    if (way->stamp_ns == 0)
        way->stamp_ns = wb_kernel_stamp_ns();
    return way->stamp_ns;
}

// ---- Computing ----------------------------------------------------------------------------------

static void begin_computing(struct run *run, struct way *way)
{
    if (!run->begun)
        run->ran_ns = stamp(way);
    run->begun = true;
}

static enum stop end_computing(struct run *run, struct way *way)
{
    run->run_ns += stamp(way) - run->ran_ns;
    return done(run);
}

static enum stop compute(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                         struct way *way)
{
    const struct wb_system *system = self->system;

    if (run->begun)
        return end_computing(run, way);
    way->cycles = event->numbers[event->n_numbers > 1 ? system->cores[wb_kernel_core()]->kind : 0];
    begin_computing(run, way);
    return TO_COMPUTE;
}

// In pieces: a frequency may change, and a real processor may be another's meanwhile. Where no
// frequency is known, in short ones.
static uint64_t cycles_within(const struct wb_core *core, uint64_t ns)
{
    enum { MOST_NS = 1000000, UNKNOWN = 1000 };
    const uint64_t ns_per_s = 1000000000, piece_ns = ns < MOST_NS ? ns : MOST_NS;

    if (core->n_points == 0)
        return UNKNOWN;
    const uint64_t hz = core->points[wb_word_load(&core->point, WB_RELAXED)].hz;
    return (piece_ns * hz + ns_per_s - 1) / ns_per_s;
}

static enum stop compute_until(struct wb_task *self, struct run *run,
                               const struct wb_script_event *event, struct way *way)
{
    const uint64_t now_ns = wb_kernel_now_ns();

    begin_computing(run, way);
    if (run->until == 0)
        run->until = now_ns + event->amount;
    if (now_ns >= run->until)
        return end_computing(run, way);
    way->cycles = cycles_within(wb_core_here(self->system), run->until - now_ns);
    return TO_COMPUTE;
}

static enum stop copy(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                      const struct way *way)
{
    enum { HALF = (8 << 10) - 8 };  // two, and what the heap keeps of them, are 16 KiB

    if (!way->may_block)
        return TO_STACK;
    if (run->copied == NULL)
        run->copied = taken(self, 2, HALF);
    for (uint64_t left = event->amount; left != 0;) {
        const size_t bytes = left < HALF ? (size_t)left : HALF;
        wb_kernel_copy(run->copied, run->copied + HALF, bytes);
        left -= bytes;
    }
    return done(run);
}

// ---- Time ---------------------------------------------------------------------------------------

static enum stop sleep(struct run *run, const struct wb_script_event *event)
{
    const uint64_t now_ns = wb_kernel_now_ns();

    if (run->until == 0)
        run->until = now_ns + event->amount;
    if (now_ns < run->until)
        return TO_SLEEP;
    if (event->verb == WB_SCRIPT_DELAY)
        run->start_ns = run->until;
    return done(run);
}

// A timer is a job of its own: released when it ended last, and due at its next time.
static void end_job(struct wb_task *self, uint64_t release_ns, uint64_t due_ns, uint64_t now_ns)
{
    wb_counter_add(&self->stats.jobs, 1);
    if (self->response != NULL)
        response_count(self->response, release_ns, now_ns);
    if (now_ns > due_ns)
        wb_period_miss(self, now_ns - due_ns, now_ns);
}

static void set_timer(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                      struct wb_script_timer *timer, uint64_t now_ns)
{
    const uint64_t release_ns = timer->begun ? timer->next_ns : run->start_ns;

    timer->begun = true;
    timer->next_ns = run->until = release_ns + event->amount;
    run->slack_ns = (int64_t)(run->until - now_ns);
    run->timed = true;
    end_job(self, release_ns, run->until, now_ns);
    if (now_ns > run->until && !event->is_absolute)
        timer->next_ns = now_ns;
    self->release.ns = timer->next_ns;
    self->job_deadline_ns = event->amount != 0 ? event->amount : 1;
}

// False: another task has it in its hands, and this one may not wait.
static bool find_timer(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                       const struct way *way)
{
    if (event->other == WB_SCRIPT_NONE) {
        set_timer(self, run, event, &run->timers[event->object], wb_kernel_now_ns());
        return true;
    }
    struct wb_shared_timer *shared = &run->script->objects[event->other].timer;
    if (wb_mutex_lock(&shared->mutex, timeout_of(way)) == WB_ERR_EMPTY)
        return false;
    set_timer(self, run, event, &shared->timer, wb_kernel_now_ns());
    (void)wb_mutex_unlock(&shared->mutex);
    return true;
}

static enum stop wait_for_timer(struct wb_task *self, struct run *run,
                                const struct wb_script_event *event, const struct way *way)
{
    if (run->until == 0 && !find_timer(self, run, event, way))
        return TO_STACK;
    const uint64_t now_ns = wb_kernel_now_ns();
    if (now_ns < run->until) {
        run->begun = true;
        return TO_SLEEP;
    }
    if (run->begun)
        wb_counter_add(&run->of_task->stats.wakeup_ns, now_ns - run->until);
    else
        wb_kernel_reprioritise(self);  // late: it goes on at once, with the next deadline
    return done(run);
}

// ---- Messages -----------------------------------------------------------------------------------

static enum wb_status receive_one(struct wb_task *self, struct run *run, struct wb_port *in,
                                  uint64_t position)
{
    void *slot;
    const enum wb_status status = passing_hold(&run->passing, in, &slot);

    if (status != WB_OK)
        return status;
    passing_read(self, &run->passing, in, slot, position);
    port_release(in);
    return WB_OK;
}

static enum wb_status pass_at(struct wb_task *self, struct run *run, struct wb_port *port,
                              uint64_t count)
{
    enum wb_status status = WB_OK;
    uint64_t position = wb_port_position(port);

    if (run->until_of != run->at + 1) {
        run->until = position + count;
        wb_word_order();
        run->until_of = run->at + 1;
    }
    for (; status == WB_OK && position < run->until; position++)
        status = port->direction == WB_IN ? receive_one(self, run, port, position)
                                          : passing_put(&run->passing, port, position);
    run->passing.late = port_must_wait(status);
    return status;
}

static struct wb_port *end_of(const struct run *run, const struct wb_script_event *event)
{
    return run->reach[event->object].ends[run->at];
}

// Each end of the port in turn.
static enum stop pass(struct wb_task *self, struct run *run, const struct wb_script_event *event)
{
    const uint32_t n = run->reach[event->object].n;

    if (run->passing.late)
        port_end_wait(end_of(run, event));
    while (run->at < n) {
        const enum wb_status status = pass_at(self, run, end_of(run, event), event->amount);
        if (port_must_wait(status))
            return TO_WAIT;
        if (status != WB_OK)
            return to_exit(run);  // nothing more will come, or go
        wb_word_order();
        run->at++;
    }
    return done(run);
}

// ---- Its core -----------------------------------------------------------------------------------

static enum stop yield(struct run *run, const struct way *way)
{
    if (!way->may_block)
        return TO_STACK;
    wb_yield();
    return done(run);
}

// First it is done: one that is recreated starts at its entry over there.
static enum stop migrate(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                         const struct way *way)
{
    if (!way->may_block)
        return TO_STACK;
    done(run);
    for (uint32_t i = 0; i < event->n_numbers; i++)
        if (event->numbers[i] == wb_task_core(self))
            return GO_ON;
    const enum wb_status status = wb_migrate(self, (uint32_t)event->numbers[0], WB_FOREVER);
    if (status == WB_ERR_INVAL)
        run_fail(self, event, "it moves to a core that there is not, or that it does not run on");
    return GO_ON;
}

static enum stop prioritise(struct wb_task *self, struct run *run,
                            const struct wb_script_event *event, const struct way *way)
{
    if (!way->may_block)
        return TO_STACK;
    // Relaxed: others take it for a hint (wb_inherit_release()).
    wb_word_store(&self->priority, (uint32_t)event->amount, WB_RELAXED);
    if (wb_parts.locks->inherit(self))
        wb_kernel_reprioritise(self);
    return done(run);
}

// ---- Loops --------------------------------------------------------------------------------------

static void begin_firing(struct run *run, uint64_t now_ns)
{
    run->began_ns = now_ns;
    run->run_ns = 0;
    run->timed = false;
}

static void end_firing(struct wb_task *self, struct run *run, uint64_t now_ns)
{
    struct wb_script_stats *stats = &run->of_task->stats;

    wb_counter_add(&stats->period_ns, now_ns - run->began_ns);
    wb_counter_add(&stats->run_ns, run->run_ns);
    if (run->timed) {
        wb_counter_add(&stats->timed, 1);
        if (run->slack_ns >= 0)
            wb_counter_add(&stats->early_ns, (uint64_t)run->slack_ns);
        else
            wb_counter_add(&stats->late_ns, (uint64_t)-run->slack_ns);
    }
    wb_counter_add(&self->stats.firings, 1);
    response_fired(self);
}

static enum stop begin_loop(struct run *run, const struct wb_script_event *event, struct way *way)
{
    run->spot.left[event->object] = event->amount;
    if (event->is_firing)
        begin_firing(run, stamp(way));
    return done(run);
}

static enum stop end_loop(struct wb_task *self, struct run *run,
                          const struct wb_script_event *event, struct way *way)
{
    const uint64_t left = run->spot.left[event->object];

    if (event->is_firing) {
        const uint64_t now_ns = stamp(way);
        end_firing(self, run, now_ns);
        begin_firing(run, now_ns);  // if there is another
        if (wb_stopping(self) && !run->has_input && run->held == 0)
            return to_exit(run);
    }
    if (left == 1)
        return done(run);
    const struct wb_script_event *next = &run->events[event->other] + 1;
    run->turns = left != 0 ? left - 1 : 0;
    wb_word_order();
    run->spot.event = next;
    wb_word_order();
    run->spot.left[event->object] = run->turns;
    return go_to(run, next);
}

// ---- Steps --------------------------------------------------------------------------------------

static enum stop perform(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                         struct way *way)
{
    switch (event->verb) {
    case WB_SCRIPT_RUN:
        return compute(self, run, event, way);
    case WB_SCRIPT_RUNTIME:
        return compute_until(self, run, event, way);
    case WB_SCRIPT_MEMORY:
        return copy(self, run, event, way);
    case WB_SCRIPT_SLEEP:
    case WB_SCRIPT_DELAY:
        return sleep(run, event);
    case WB_SCRIPT_TIMER:
        return wait_for_timer(self, run, event, way);
    case WB_SCRIPT_LOCK:
    case WB_SCRIPT_UNLOCK:
    case WB_SCRIPT_WAIT:
    case WB_SCRIPT_SIGNAL:
    case WB_SCRIPT_BROADCAST:
    case WB_SCRIPT_BARRIER:
    case WB_SCRIPT_TAKE:
    case WB_SCRIPT_GIVE:
        return run_shared(self, run, event, way);
    case WB_SCRIPT_SEND:
    case WB_SCRIPT_RECEIVE:
        return pass(self, run, event);
    case WB_SCRIPT_YIELD:
        return yield(run, way);
    case WB_SCRIPT_CHECKPOINT:
        return done(run);
    case WB_SCRIPT_MIGRATE:
        return migrate(self, run, event, way);
    case WB_SCRIPT_PRIORITY:
        return prioritise(self, run, event, way);
    case WB_SCRIPT_LOOP:
        return begin_loop(run, event, way);
    case WB_SCRIPT_END:
        return end_loop(self, run, event, way);
    case WB_SCRIPT_EXIT:
        break;
    }
    return TO_END;
}

// For whoever tells of a deadlock. Relaxed: it is read once nothing moves any more.
static void note_place(struct run *run)
{
    const uint32_t at = (uint32_t)(run->spot.event - run->events);

    wb_word_store(&run->of_task->waits_at, at, WB_RELAXED);
}

static enum stop advance(struct wb_task *self, struct run *run, struct way *way)
{
    enum stop stop = GO_ON;

    while (stop == GO_ON && !run->due) {
        const struct wb_script_event *event = run->spot.event;
        if (way->may_block)
            note_place(run);
        stop = perform(self, run, event, way);
        run->due = stop == GO_ON && event->is_checkpoint &&
                   wb_word_load(&wb_kernel_attention, WB_RELAXED) != 0;
    }
    return run->due ? TO_CHECKPOINT : stop;
}

// By the kernel. Nobody acts between an attempt that fails and the block, so one attempt is enough.
static enum wb_step step(struct wb_task *self, uint64_t *value)
{
    struct run *run = self->state;
    struct way way = { .may_block = false };
    struct wb_port *port;

    switch (advance(self, run, &way)) {
    case TO_COMPUTE:
        *value = way.cycles;
        return WB_STEP_COMPUTE;
    case TO_WAIT:
        port = end_of(run, run->spot.event);
        if (passing_leaves(self) || passing_has_bell(port))
            break;
        note_place(run);
        port_begin_wait(port);
        *value = WB_FOREVER;
        return WB_STEP_BLOCK;
    case TO_SLEEP:
        if (passing_leaves(self))
            break;
        *value = run->until;
        return WB_STEP_BLOCK;
    default:
        break;
    }
    return WB_STEP_STACK;
}

// ---- The task -----------------------------------------------------------------------------------
// Whatever returns here after a block or a computation, the kernel may have taken steps meanwhile.

static void block(struct wb_task *self, uint64_t until_ns)
{
    self->step = step;
    (void)wb_kernel_block(until_ns);
    self->step = NULL;
    wb_departure_at_wait(self);
}

int wb_script_run(struct wb_task *self, const struct wb_messages *messages)
{
    struct run *run = run_of(self, messages);
    struct way way = { .may_block = true };

    for (;;) {
        switch (advance(self, run, &way)) {
        case TO_COMPUTE:
            self->step = step;
            wb_kernel_compute(way.cycles);
            self->step = NULL;
            break;
        case TO_WAIT:
            if (!passing_wait(&run->passing, end_of(run, run->spot.event)))
                block(self, WB_FOREVER);
            break;
        case TO_SLEEP:
            block(self, run->until);
            break;
        case TO_CHECKPOINT:
            run->due = false;
            wb_checkpoint_enter();
            break;
        default:
            return 0;
        }
    }
}
