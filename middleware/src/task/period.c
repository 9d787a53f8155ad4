// SPDX-License-Identifier: Apache-2.0
// Time and periods.

#include "../internal.h"

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
    while (wb_kernel_now_ns() < time_ns)
        (void)wb_kernel_block(time_ns);
}

// A period, exactly: so many nanoseconds, and parts of one of which it has `rate`; 0: none.
struct period {
    uint64_t ns, parts, rate;
};

#define PARTS_OF_FRAMES                                                                            \
    ((uint64_t)1000000000000)  // a frame takes so many, by its rate in millihertz

static struct period period_of(const struct wb_task *task)
{
    const uint64_t now =
        task->follows_rate ? wb_word_load(&task->system->rate_millihz, WB_RELAXED) : 0;
    const uint64_t rate = now != 0 ? now : task->rate_millihz;

    return rate == 0 ? (struct period){ .ns = task->period_ns }
                     : (struct period){ PARTS_OF_FRAMES / rate, PARTS_OF_FRAMES % rate, rate };
}

// One period later; what is left over of another rate is not counted on.
static struct wb_release later(struct wb_release release, const struct period *period)
{
    const uint64_t rest = release.rate_millihz == period->rate ? release.rest : 0;
    const bool carries = period->rate != 0 && rest >= period->rate - period->parts;

    return (struct wb_release){ release.ns + period->ns + carries,
                                rest + period->parts - (carries ? period->rate : 0), period->rate };
}

// After its release, 0: none. A job of a task whose deadline is its period ends when the next is
// released; where the frame rate is another than at the start, deadlines are in proportion.
static uint64_t deadline_of(const struct wb_task *task, const struct period *period)
{
    if (task->period_ns == 0 || task->relative_deadline_ns == task->period_ns)
        return later(task->release, period).ns - task->release.ns;
    if (period->ns == task->period_ns)
        return task->relative_deadline_ns;
    return wb_part(period->ns, task->relative_deadline_ns * WB_PPM / task->period_ns);
}

static void arrive(struct wb_task *task, bool is_first)
{
    struct wb_arrival *arrival = &task->arrival;

    arrival->ready_ns = task->release.ns;
    if ((arrival->jitter_ns | arrival->gap_ns) != 0)
        wb_parts.arrivals->draw(task, is_first);
}

void wb_period_begin(struct wb_task *task, uint64_t start_ns)
{
    const struct period period = period_of(task);

    task->release =
        (struct wb_release){ start_ns + task->offset_ns, task->offset_rest, task->rate_millihz };
    arrive(task, true);
    task->job_deadline_ns = period.ns != 0 ? deadline_of(task, &period) : 0;
}

static void count_miss(struct wb_task *self, uint64_t late_ns, uint64_t now_ns)
{
    wb_counter_add(&self->stats.misses, 1);
    if (late_ns > wb_counter_get(&self->stats.worst_late_ns))
        wb_counter_set(&self->stats.worst_late_ns, late_ns);
    wb_record_event(wb_core_here(self->system), WB_EVENT_MISS, self->id, 0, late_ns, now_ns);
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
    wb_counter_add(&self->stats.jobs, 1);
    if (self->response != NULL && self->job_deadline_ns != 0)
        wb_parts.responses->count(self, self->release.ns, now_ns);
    if (!*met)
        count_miss(self, now_ns - deadline_ns, now_ns);
    if (self->job_deadline_ns == 0)
        self->release = (struct wb_release){ .ns = now_ns };  // its periods begin now, if they do
    self->release = later(self->release, &period);
    arrive(self, false);
    self->job_deadline_ns = period.ns != 0 ? deadline_of(self, &period) : 0;
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
