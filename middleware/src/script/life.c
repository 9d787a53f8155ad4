// SPDX-License-Identifier: Apache-2.0
// A task's way through its script, whatever cuts its life short.
//
// Where it is, and what the event there has done so far, lie in its heap, and each store leaves
// something that the next life can go on from: `of` says which event the progress is of. It is set
// after the progress has been cleared, and cleared after the task has gone on, so the progress of
// one event is never taken for that of another. A core that is killed has made its stores in their
// order, so the compiler's order is enough (wb_word_order()).

#include "run.h"
#include "wb/wb.h"

void *extent_alloc(struct wb_task *self, size_t count, size_t bytes)
{
    void *memory = wb_calloc(count != 0 ? count : 1, bytes);

    if (memory == NULL)
        wb_task_fail(self, "its heap has no room for its script: raise `heap`");
    return memory;
}

// ---- From event to event ------------------------------------------------------------------------

struct progress *run_progress(struct run *run)
{
    if (run->of != run->spot.event) {
        run->progress = (struct progress){ 0 };
        wb_word_order();
        run->of = run->spot.event;
    }
    return &run->progress;
}

static void arrive(struct run *run)
{
    wb_word_order();
    run->of = NULL;
}

enum stop run_go_to(struct run *run, const struct wb_script_event *next)
{
    wb_word_order();
    run->spot.event = next;
    arrive(run);
    return GO_ON;
}

// Where it is and how many turns are left change together: a life that is cut short in between
// leaves both to the next one (go_on()).
enum stop run_turn(struct run *run, const struct wb_script_event *next, uint64_t left)
{
    const struct wb_script_event *end = run->spot.event;

    run->turns = left;
    wb_word_order();
    run->of = end;
    wb_word_order();
    run->spot.event = next;
    wb_word_order();
    run->spot.left[end->object] = left;
    arrive(run);
    return GO_ON;
}

enum stop run_done(struct run *run)
{
    return run_go_to(run, run->spot.event + 1);
}

enum stop run_exit(struct run *run)
{
    return run_go_to(run, &run->events[run->script->config.n_events - 1]);
}

void run_note_position(struct run *run)
{
    const uint32_t at = (uint32_t)(run->spot.event - run->events);

    // Relaxed: it is read once nothing moves any more.
    wb_word_store(&run->of_task->waits_at, at, WB_RELAXED);
}

// ---- Lives --------------------------------------------------------------------------------------

static void find_ends(struct wb_task *self, struct run *run)
{
    const struct wb_script_config *config = &run->script->config;
    struct wb_port **end;
    uint32_t n = 0;

    for (const struct wb_port *port = self->ports; port != NULL; port = port->next_of_task) {
        run->has_input |= port->direction == WB_IN;
        n++;
    }
    end = extent_alloc(self, n, sizeof *end);
    run->reach = extent_alloc(self, config->n_ports, sizeof *run->reach);
    for (uint32_t i = 0; i < config->n_ports; i++) {
        run->reach[i] = (struct reach){ end, wb_port_count(self, config->ports[i]) };
        for (uint32_t element = 0; element < run->reach[i].n; element++)
            *end++ = wb_port_find_any(self, config->ports[i], element);
    }
}

// What is left to do of going from one event to another, by a life that was cut short there.
static void go_on(struct run *run)
{
    const struct wb_script_event *from = run->of;

    if (from->verb == WB_SCRIPT_END)
        run->spot.left[from->object] = run->turns;
    arrive(run);
}

// What was held is lost with the life that held it. It has arrived there before less is held, or a
// life that is cut short in between would take it for one that came from a loop's end.
static void return_to_safe(struct run *run)
{
    run->spot = run->safe;
    arrive(run);
    wb_word_order();
    run->held = 0;
}

static void begin_anew(struct run *run)
{
    run->begun = false;
    if (run->held != 0)
        return_to_safe(run);
    else if (run->of != NULL && run->of != run->spot.event)
        go_on(run);
}

struct run *run_begin(struct wb_task *self, const struct wb_messages *messages)
{
    const uint32_t life = wb_word_load(&self->incarnation, WB_RELAXED);
    struct run *run = self->state;

    if (run == NULL) {
        run = extent_alloc(self, 1, sizeof *run);
        run->self = self;
        run->of_task = self->scripted;
        run->script = self->scripted->script;
        run->events = run->spot.event = run->script->config.events;
        find_ends(self, run);
        run->timers = extent_alloc(self, run->script->config.n_timers, sizeof *run->timers);
        run->start_ns = wb_kernel_now_ns();
        self->state = run;
    } else if (run->life != life) {
        begin_anew(run);
    }
    run->life = life;
    run->may_block = true;
    run->passing = (struct passing){ .messages = messages };
    if (run->script->config.n_timers != 0)
        self->job_deadline_ns = WB_FOREVER / 2;  // until a timer has been set
    return run;
}
