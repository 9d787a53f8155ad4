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

struct rhythm {
    uint64_t period_ns, deadline_ns;  // 0: none
};

// A task that follows the frame rate has the period and, in proportion, the deadline of a frame.
static struct rhythm next_rhythm(const struct wb_task *task)
{
    const uint64_t rate_millihz =
        task->follows_rate ? wb_word_load(&task->system->rate_millihz, WB_RELAXED) : 0;
    const uint64_t period_ns = rate_millihz != 0 ? 1000000000000 / rate_millihz : task->period_ns;

    if (task->period_ns == 0 || task->relative_deadline_ns == task->period_ns)
        return (struct rhythm){ period_ns, period_ns };
    if (period_ns == task->period_ns)
        return (struct rhythm){ period_ns, task->relative_deadline_ns };
    return (struct rhythm){ period_ns, wb_part(period_ns, task->relative_deadline_ns * WB_PPM /
                                                              task->period_ns) };
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
    const uint64_t deadline_ns = self->release_ns + self->job_deadline_ns;
    const struct rhythm next = next_rhythm(self);

    *met = self->job_deadline_ns == 0 || now_ns <= deadline_ns;
    wb_counter_add(&self->stats.jobs, 1);
    if (self->response != NULL && self->job_deadline_ns != 0)
        wb_parts.responses->count(self, self->release_ns, now_ns);
    if (!*met)
        count_miss(self, now_ns - deadline_ns, now_ns);
    if (self->job_deadline_ns == 0)
        self->release_ns = now_ns;  // its periods begin now, if they do
    self->job_deadline_ns = next.deadline_ns;
    self->release_ns += next.period_ns;
    return next.period_ns != 0;
}

bool wb_period_wait(struct wb_task *self)
{
    bool met;

    if (wb_period_end(self, &met))
        wb_sleep_until(self->release_ns);
    return met;
}

bool wb_task_is_periodic(const struct wb_task *self)
{
    return next_rhythm(self).period_ns != 0;
}
