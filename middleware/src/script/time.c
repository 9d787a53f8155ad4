// SPDX-License-Identifier: Apache-2.0
// Events that take time: computing, copying, sleeping, and timers.

#include "../measure/response.h"
#include "run.h"

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

enum stop run_compute(struct wb_task *self, struct run *run, const struct wb_script_event *event,
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

enum stop run_compute_until(struct wb_task *self, struct run *run,
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

enum stop run_copy(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                   const struct way *way)
{
    enum { HALF = (8 << 10) - 8 };  // two, and what the heap keeps of them, are 16 KiB

    if (!way->may_block)
        return TO_STACK;
    if (run->copied == NULL)
        run->copied = run_alloc(self, 2, HALF);
    for (uint64_t left = event->amount; left != 0;) {
        const size_t bytes = left < HALF ? (size_t)left : HALF;
        wb_kernel_copy(run->copied, run->copied + HALF, bytes);
        left -= bytes;
    }
    return done(run);
}

// ---- Waiting ------------------------------------------------------------------------------------

enum stop run_sleep(struct run *run, const struct wb_script_event *event)
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

enum stop run_timer(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                    const struct way *way)
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
