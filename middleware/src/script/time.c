// SPDX-License-Identifier: Apache-2.0
// Events that take time: computing, copying, sleeping, and timers.

#include "run.h"

uint64_t run_stamp(struct run *run)
{
    if (run->stamp_ns == 0 || run->may_block)
        run->stamp_ns = wb_kernel_stamp_ns();
    return run->stamp_ns;
}

// ---- Computing ----------------------------------------------------------------------------------

static void begin_computing(struct run *run)
{
    if (!run->begun)
        run->ran_ns = run_stamp(run);
    run->begun = true;
}

static enum stop end_computing(struct run *run)
{
    run->begun = false;
    run->run_ns += run_stamp(run) - run->ran_ns;
    return run_done(run);
}

enum stop run_compute(struct run *run, const struct wb_script_event *event)
{
    const struct wb_system *system = run->self->system;

    if (run->begun)
        return end_computing(run);
    run->cycles = event->numbers[event->n_numbers > 1 ? system->cores[wb_kernel_core()]->kind : 0];
    begin_computing(run);
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

enum stop run_compute_until(struct run *run, const struct wb_script_event *event)
{
    const uint64_t now_ns = wb_kernel_now_ns();
    struct progress *progress = run_progress(run);

    begin_computing(run);
    if (progress->until == 0)
        progress->until = now_ns + event->amount;
    if (now_ns >= progress->until)
        return end_computing(run);
    run->cycles = cycles_within(wb_core_here(run->self->system), progress->until - now_ns);
    return TO_COMPUTE;
}

enum stop run_copy(struct run *run, const struct wb_script_event *event)
{
    enum { HALF = (8 << 10) - 8 };  // two, and what the heap keeps of them, are 16 KiB

    if (run->copied == NULL)
        run->copied = extent_alloc(run->self, 2, HALF);
    for (uint64_t left = event->amount; left != 0;) {
        const size_t bytes = left < HALF ? (size_t)left : HALF;
        wb_kernel_copy(run->copied, run->copied + HALF, bytes);
        left -= bytes;
    }
    return run_done(run);
}

// ---- Waiting ------------------------------------------------------------------------------------

enum stop run_sleep(struct run *run, const struct wb_script_event *event)
{
    const uint64_t now_ns = wb_kernel_now_ns();
    struct progress *progress = run_progress(run);

    if (progress->until == 0)
        progress->until = now_ns + event->amount;
    if (now_ns < progress->until)
        return TO_SLEEP;
    if (event->verb == WB_SCRIPT_DELAY)
        run->start_ns = progress->until;
    return run_done(run);
}

// It is a job of its own: released when it ended last, and due at its next time.
static void set_timer(struct run *run, const struct wb_script_event *event,
                      struct wb_script_timer *timer, uint64_t now_ns)
{
    const uint64_t release_ns = timer->begun ? timer->next_ns : run->start_ns;
    const uint64_t until_ns = release_ns + event->amount;
    struct wb_task *self = run->self;

    timer->begun = true;
    timer->next_ns = run->progress.until = until_ns;
    run->slack_ns = (int64_t)(until_ns - now_ns);
    run->timed = true;
    wb_period_count(self, release_ns, until_ns, now_ns);
    if (now_ns > until_ns && !event->is_absolute)
        timer->next_ns = now_ns;
    self->release.ns = timer->next_ns;
    self->job_deadline_ns = event->amount != 0 ? event->amount : 1;
}

// False: another task has it in its hands, and this one may not wait.
static bool find_timer(struct run *run, const struct wb_script_event *event)
{
    if (event->other == WB_SCRIPT_NONE) {
        set_timer(run, event, &run->timers[event->object], wb_kernel_now_ns());
        return true;
    }
    struct wb_shared_timer *shared = &run->script->objects[event->other].timer;
    run_note_position(run);
    if (wb_mutex_lock(&shared->mutex, timeout_of(run)) == WB_ERR_EMPTY)
        return false;
    set_timer(run, event, &shared->timer, wb_kernel_now_ns());
    (void)wb_mutex_unlock(&shared->mutex);
    return true;
}

enum stop run_timer(struct run *run, const struct wb_script_event *event)
{
    struct progress *progress = run_progress(run);

    if (progress->until == 0 && !find_timer(run, event))
        return TO_STACK;
    const uint64_t now_ns = wb_kernel_now_ns();
    if (now_ns < progress->until) {
        run->begun = true;
        return TO_SLEEP;
    }
    if (run->begun)
        wb_counter_add(&run->of_task->stats.wakeup_ns, now_ns - progress->until);
    else
        wb_kernel_reprioritise(run->self);  // late: it goes on at once, with the next deadline
    run->begun = false;
    return run_done(run);
}
