// SPDX-License-Identifier: Apache-2.0
// Scripts, as steps: where one is stands in `struct run`, nothing of it on the stack. So a kernel
// may take the next step in a task's place, without a switch to its stack (wb_task.step), and a
// task that starts at its entry again goes on where it was.

#include "run.h"

static enum stop perform(struct wb_task *self, struct run *run, const struct wb_script_event *event,
                         struct way *way)
{
    switch (event->verb) {
    case WB_SCRIPT_RUN:
        return run_compute(self, run, event, way);
    case WB_SCRIPT_RUNTIME:
        return run_compute_until(self, run, event, way);
    case WB_SCRIPT_MEMORY:
        return run_copy(self, run, event, way);
    case WB_SCRIPT_SLEEP:
    case WB_SCRIPT_DELAY:
        return run_sleep(run, event);
    case WB_SCRIPT_TIMER:
        return run_timer(self, run, event, way);
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
        return run_pass(self, run, event);
    case WB_SCRIPT_YIELD:
        return run_yield(run, way);
    case WB_SCRIPT_CHECKPOINT:
        return done(run);
    case WB_SCRIPT_MIGRATE:
        return run_migrate(self, run, event, way);
    case WB_SCRIPT_PRIORITY:
        return run_prioritise(self, run, event, way);
    case WB_SCRIPT_LOOP:
        return run_loop(run, event, way);
    case WB_SCRIPT_END:
        return run_end(self, run, event, way);
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
        port = run_port(run);
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
    struct run *run = run_begin(self, messages);
    struct way way = { .may_block = true };

    for (;;) {
        switch (advance(self, run, &way)) {
        case TO_COMPUTE:
            self->step = step;
            wb_kernel_compute(way.cycles);
            self->step = NULL;
            break;
        case TO_WAIT:
            if (!passing_wait(&run->passing, run_port(run)))
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