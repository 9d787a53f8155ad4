// SPDX-License-Identifier: Apache-2.0
// Loops, and what is measured of those whose turns are firings.

#include "../measure/response.h"
#include "run.h"

static void begin_firing(struct run *run, uint64_t now_ns)
{
    run->began_ns = now_ns;
    run->run_ns = 0;
    run->timed = false;
}

static void end_firing(struct run *run, uint64_t now_ns)
{
    struct wb_script_stats *stats = &run->of_task->stats;
    struct wb_task *self = run->self;

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
    response_fired_at(self, now_ns);
}

enum stop run_loop(struct run *run, const struct wb_script_event *event)
{
    run->spot.left[event->object] = event->amount;
    if (event->is_firing)
        begin_firing(run, run_stamp(run));
    return run_done(run);
}

enum stop run_end(struct run *run, const struct wb_script_event *event)
{
    const struct wb_script_event *next = &run->events[event->other] + 1;
    const uint64_t left = run->spot.left[event->object];

    if (event->is_firing) {
        const uint64_t now_ns = run_stamp(run);
        end_firing(run, now_ns);
        begin_firing(run, now_ns);  // if there is another
        if (wb_stopping(run->self) && !run->has_input && run->held == 0)
            return run_exit(run);
    }
    if (left == 1)
        return run_done(run);
    return left == 0 ? run_go_to(run, next) : run_turn(run, next, left - 1);
}
