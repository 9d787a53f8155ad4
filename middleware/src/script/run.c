// SPDX-License-Identifier: Apache-2.0
// Scripts, as steps: where one is stands in `struct run`, nothing of it on the stack. So a kernel
// may take the next step in a task's place, without a switch to its stack (wb_task.step), and a
// task that starts at its entry again goes on where it was.

#include "run.h"

// What takes time in its midst, or acts on the task itself.
static enum stop perform_on_stack(struct run *run, const struct wb_script_event *event)
{
    switch (event->verb) {
    case WB_SCRIPT_MEMORY:
        return run_copy(run, event);
    case WB_SCRIPT_YIELD:
        return run_yield(run);
    case WB_SCRIPT_MIGRATE:
        return run_migrate(run, event);
    default:
        return run_prioritise(run, event);
    }
}

static enum stop perform(struct run *run, const struct wb_script_event *event)
{
    switch (event->verb) {
    case WB_SCRIPT_RUN:
        return run_compute(run, event);
    case WB_SCRIPT_RUNTIME:
        return run_compute_until(run, event);
    case WB_SCRIPT_SLEEP:
    case WB_SCRIPT_DELAY:
        return run_sleep(run, event);
    case WB_SCRIPT_TIMER:
        return run_timer(run, event);
    case WB_SCRIPT_LOCK:
    case WB_SCRIPT_UNLOCK:
    case WB_SCRIPT_WAIT:
    case WB_SCRIPT_SIGNAL:
    case WB_SCRIPT_BROADCAST:
    case WB_SCRIPT_BARRIER:
    case WB_SCRIPT_TAKE:
    case WB_SCRIPT_GIVE:
        return run_shared(run, event);
    case WB_SCRIPT_SEND:
    case WB_SCRIPT_RECEIVE:
        return run_pass(run, event);
    case WB_SCRIPT_CHECKPOINT:
        return run_done(run);
    case WB_SCRIPT_LOOP:
        return run_loop(run, event);
    case WB_SCRIPT_END:
        return run_end(run, event);
    case WB_SCRIPT_EXIT:
        return TO_END;
    default:
        return run->may_block ? perform_on_stack(run, event) : TO_STACK;
    }
}

// The events from here on, until something keeps the task from going on.
static enum stop advance(struct run *run)
{
    run->stamp_ns = 0;
    if (run->due)
        return TO_CHECKPOINT;
    for (;;) {
        const struct wb_script_event *event = run->spot.event;
        const enum stop stop = perform(run, event);
        if (stop != GO_ON)
            return stop;
        if (event->is_checkpoint && wb_word_load(&wb_kernel_need_resched, WB_RELAXED) != 0)
            break;
    }
    run->due = true;
    return TO_CHECKPOINT;
}

// By the kernel, or by the task on its own stack, which goes by `stop`. Nobody acts between an
// attempt that fails in a step and the block, so one attempt is enough.
static enum wb_step step(struct wb_task *self, uint64_t *value)
{
    struct run *run = self->state;
    struct wb_port *port;

    run->stop = advance(run);
    switch (run->stop) {
    case TO_COMPUTE:
        *value = run->cycles;
        return WB_STEP_COMPUTE;
    case TO_WAIT:
        port = run_port(run);
        if (run->may_block || passing_leaves(self) || passing_has_notify(port))
            break;
        run_note_position(run);
        port_begin_wait(port);
        *value = WB_FOREVER;
        return WB_STEP_BLOCK;
    case TO_SLEEP:
        *value = run->progress.until;
        if (passing_leaves(self))
            break;
        return WB_STEP_BLOCK;
    default:
        break;
    }
    return WB_STEP_STACK;
}

// ---- The task -----------------------------------------------------------------------------------
// Whatever returns here after a block or a computation, the kernel may have taken steps meanwhile.

static void rest(struct run *run, uint64_t value)
{
    const bool computes = run->stop == TO_COMPUTE;
    struct wb_task *self = run->self;

    run->may_block = false;
    self->step = step;
    if (computes)
        wb_kernel_compute(value);
    else
        (void)wb_kernel_block(value);
    self->step = NULL;
    run->may_block = true;
    if (!computes)
        wb_departure_at_wait(self);
}

int wb_script_run(struct wb_task *self, const struct wb_messages *messages)
{
    struct run *run = run_begin(self, messages);
    uint64_t value;

    for (;;) {
        (void)step(self, &value);
        switch (run->stop) {
        case TO_WAIT:
            run_note_position(run);
            if (passing_wait(&run->passing, run_port(run)))
                break;
            value = WB_FOREVER;
            // fall through
        case TO_SLEEP:
        case TO_COMPUTE:
            rest(run, value);
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
