// SPDX-License-Identifier: Apache-2.0
// Time and periods.

#include "../measure/response.h"
#include "life.h"
#include "wb/descriptor.h"

uint64_t wb_now_ns(void)
{
    return wb_kernel_now_ns();
}

void wb_yield(void)
{
    wb_kernel_yield(wb_sync_priority(&wb_kernel_self()->sync));
}

void wb_sleep_until(uint64_t time_ns)
{
    while (wb_kernel_now_ns() < time_ns) {
        (void)wb_kernel_block(time_ns);
        wb_departure_at_wait(wb_kernel_self());
    }
}

// A period, exactly: so many nanoseconds, and so many parts of one that has `rate` of them.
struct period {
    uint64_t ns;  // 0: none
    uint32_t parts, rate;
};

static struct period own_period(const struct wb_task *task)
{
    return (struct period){ task->period_ns, task->period_rest, task->rate_millihz };
}

static struct period period_of(const struct wb_task *task)
{
    const uint64_t parts_of_frames = 1000000000000;  // a frame takes so many, by its rate
    const uint32_t rate =
        task->follows_rate ? wb_word_load(&task->system->rate_millihz, WB_RELAXED) : 0;

    if (rate == 0 || rate == task->rate_millihz)
        return own_period(task);
    const uint64_t ns = parts_of_frames / rate;
    return (struct period){ ns, (uint32_t)(parts_of_frames - ns * rate), rate };
}

// What rounding has lost so far and now comes to a nanosecond.
static bool carries(const struct wb_task *task, const struct period *period)
{
    return task->release.rest >= period->rate - period->parts;
}

// With its period for a deadline a job ends when the next is released.
static uint64_t deadline_at_start(const struct wb_task *task)
{
    const struct period period = own_period(task);

    return task->relative_deadline_ns +
           (task->relative_deadline_ns == task->period_ns && carries(task, &period));
}

// Of the job that has just been released, after its release; 0: none. Where the frame rate is
// another than at the start, deadlines are in proportion.
static uint64_t deadline_of(const struct wb_task *task, const struct period *period)
{
    if (task->period_ns == 0 || task->relative_deadline_ns == task->period_ns)
        return period->ns + carries(task, period);
    if (period->ns == task->period_ns)
        return task->relative_deadline_ns;
    return wb_part(period->ns, task->relative_deadline_ns * WB_PPM / task->period_ns);
}

static inline void arrive(struct wb_task *task, bool is_first)
{
    struct wb_arrival *arrival = &task->arrival;

    arrival->ready_ns = task->release.ns;
    if ((arrival->jitter_ns | arrival->gap_ns) != 0)
        wb_parts.arrivals->draw(task, is_first);
}

void wb_period_begin(struct wb_task *task, uint64_t start_ns)
{
    task->release =
        (struct wb_release){ start_ns + task->offset_ns, task->offset_rest, task->rate_millihz };
    arrive(task, true);
    task->job_deadline_ns = task->period_ns != 0 ? deadline_at_start(task) : 0;
}

// One period later. What is left over of another rate is not counted on.
static void release_next(struct wb_task *task, const struct period *period)
{
    struct wb_release *release = &task->release;

    if (release->rate != period->rate)
        release->rest = 0;
    const bool carry = carries(task, period);
    release->ns += period->ns + carry;
    release->rest += period->parts - (carry ? period->rate : 0);
    release->rate = period->rate;
    arrive(task, false);
    task->job_deadline_ns = deadline_of(task, period);
}

static void miss(struct wb_task *self, uint64_t late_ns, uint64_t now_ns)
{
    wb_counter_add(&self->stats.misses, 1);
    if (late_ns > wb_stamp_get(&self->stats.worst_late_ns))
        wb_stamp_set(&self->stats.worst_late_ns, late_ns);
    wb_record(wb_core_here(self->system), WB_EVENT_MISS, self->id, 0, late_ns, now_ns);
}

inline void wb_period_count(struct wb_task *self, uint64_t release_ns, uint64_t due_ns,
                            uint64_t now_ns)
{
    wb_counter_add(&self->stats.jobs, 1);
    if (self->response != NULL)
        response_count(self->response, release_ns, now_ns);
    if (now_ns > due_ns)
        miss(self, now_ns - due_ns, now_ns);
}

// Jobs are released at start + offset + k * period (acquaviva2008 section 6.3: a frame that is not
// there when the consumer's period ends is a deadline miss). The frame rate may change between two
// jobs; the deadline of a job is that of its release.
bool wb_period_end(struct wb_task *self, bool *met)
{
    wb_kernel_charge(WB_ACTION_JOB, 1);
    const uint64_t now_ns = wb_kernel_now_ns();
    const uint64_t deadline_ns = self->release.ns + self->job_deadline_ns;
    const struct period period = period_of(self);

    *met = self->job_deadline_ns == 0 || now_ns <= deadline_ns;
    if (self->job_deadline_ns != 0) {
        wb_period_count(self, self->release.ns, deadline_ns, now_ns);
    } else {
        wb_counter_add(&self->stats.jobs, 1);
        self->release = (struct wb_release){ .ns = now_ns };  // its periods begin now, if they do
    }
    release_next(self, &period);
    // It goes on at once, with the next deadline.
    if (now_ns >= self->arrival.ready_ns && self->job_deadline_ns != 0)
        wb_kernel_reprioritise(self);
    return period.ns != 0;
}

bool wb_period_wait(struct wb_task *self)
{
    bool met;

    if (wb_period_end(self, &met))
        wb_sleep_until(self->arrival.ready_ns);
    return met;
}

bool wb_task_is_periodic(const struct wb_task *self)
{
    return period_of(self).ns != 0;
}

// ---- Arrivals -----------------------------------------------------------------------------------

// When jobs may begin: release jitter (N. Audsley, A. Burns, M. Richardson, K. Tindell, A.
// Wellings: "Applying new scheduling theory to static priority pre-emptive scheduling", 1993) and
// sporadic releases (A. K. Mok, 1983), whose period is the least time between two.
//
// A deadline counts from the release, a response too: jitter is a part of both.

// A stream of its own: what a task computes does not depend on when it is released.
enum { STREAM = 1 << 30 };

static uint64_t evenly_to(uint64_t *random, uint64_t most)
{
    const uint64_t ns = wb_draw_cycles(random, WB_UNIFORM, WB_PPM, most - most / 2);

    return ns < most ? ns : most;
}

static void draw(struct wb_task *task, bool is_first)
{
    struct wb_arrival *arrival = &task->arrival;

    if (is_first)
        arrival->random = wb_draw_seed(task->system->config.seed, task->id | STREAM);
    else if (arrival->gap_ns != 0)
        task->release.ns += wb_draw_cycles(&arrival->random, WB_EXPONENTIAL, 0, arrival->gap_ns);
    arrival->ready_ns = task->release.ns;
    if (arrival->jitter_ns != 0)
        arrival->ready_ns += evenly_to(&arrival->random, arrival->jitter_ns);
}

const struct wb_part_arrivals wb_part_arrivals = { .draw = draw };
