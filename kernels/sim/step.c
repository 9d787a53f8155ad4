// SPDX-License-Identifier: Apache-2.0
// Steps in the place of tasks (wb_task.step): a task that is taken on so has no switch to its
// stack.

#include "private.h"

static enum turn compute_scaled(struct sim_core *c, uint64_t cycles)
{
    wb_agent_obey(c->core);
    c->irq_time_ps = sim_sum(c->irq_time_ps, c->overhead_ps);
    c->overhead_ps = 0;
    const uint64_t ps = engine_compute(sim.engine, c->core->index, cycles);
    if (c->irq_time_ps == 0 && ((ps == 0 && !sim.run.paused) || sim_passes(ps)))
        return TURN_TASK;
    sim_begin_computing(c, ps);
    return TURN_NOTHING;
}

static inline enum turn compute(struct sim_core *c, uint64_t cycles)
{
    if (c->scales || (c->has_agent && (c->overhead_ps | c->irq_time_ps) != 0))
        return compute_scaled(c, cycles);
    if (c->has_agent)
        sim_obey(c);
    const uint64_t ps = engine_compute(sim.engine, c->core->index, cycles);
    if ((ps == 0 && !sim.run.paused) || sim_passes(ps))
        return TURN_TASK;
    c->computing.event = c->has_agent ? UNTOLD : 0;
    if (sim_acts_at_once() || sim.run.paused) {
        sim_push_in(ps, EVENT_RESUME, c->core->index);
        return TURN_NOTHING;
    }
    sim.resume_ps = sim_in(ps);
    return TURN_LATER;
}

// What its kernel has to do first may take time: on the task's stack, as wherever one blocks.
static enum turn block(struct sim_core *c, uint64_t until_ns)
{
    struct wb_task *task = c->current;
    struct kernel_task *kt = kernel_task(task);

    if (sim_is_wanted(c) && !sim_serves())
        return TURN_STACK;
    if (kt->woken || (__builtin_expect(until_ns != WB_FOREVER, 0) && until_ns <= sim_now_ns())) {
        kt->woken = false;
        sim_keep_need_resched(c);
        return TURN_TASK;
    }
    sim_begin_wait(task, until_ns);
    if (sim_falls_asleep(c, task))
        return TURN_NOTHING;
    c->left = task;
    c->after = GO_BLOCKED;
    c->current = NULL;
    return TURN_WORK;
}

static enum turn take_step(struct sim_core *c)
{
    struct wb_task *task = c->current;
    uint64_t value;

    sim_end_wait(kernel_task(task));
    const enum wb_step step = task->step(task, &value);
    sim.counted.steps++;
    if (step == WB_STEP_COMPUTE)
        return compute(c, value);
    return step == WB_STEP_BLOCK ? block(c, value) : TURN_STACK;
}

enum turn sim_step(struct sim_core *c)
{
    const struct wb_task *task = c->current;

    // From here on it has the core, but its stack does not execute.
    sim.stepping = sim_takes_steps(c, task);
    const enum turn turn = sim.stepping ? take_step(c) : TURN_STACK;
    if (turn == TURN_STACK)
        sim.stepping = false;
    return turn;
}
