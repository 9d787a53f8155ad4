// SPDX-License-Identifier: Apache-2.0
// How a life of a scripted task begins: the first one, and another after a death, which goes on
// with the event that the one before was at.

#include "run.h"
#include "wb/memory.h"

void *run_alloc(struct wb_task *self, size_t count, size_t bytes)
{
    void *memory = wb_calloc(count != 0 ? count : 1, bytes);

    if (memory == NULL)
        wb_task_fail(self, "its heap has no room for its script: raise `heap`");
    return memory;
}

static void find_ends(struct wb_task *self, struct run *run)
{
    const struct wb_script_config *config = &run->script->config;
    struct wb_port **end;
    uint32_t n = 0;

    for (const struct wb_port *port = self->ports; port != NULL; port = port->next_of_task) {
        run->has_input |= port->direction == WB_IN;
        n++;
    }
    end = run_alloc(self, n, sizeof *end);
    run->reach = run_alloc(self, config->n_ports, sizeof *run->reach);
    for (uint32_t i = 0; i < config->n_ports; i++) {
        run->reach[i] = (struct reach){ end, wb_port_count(self, config->ports[i]) };
        for (uint32_t element = 0; element < run->reach[i].n; element++)
            *end++ = wb_port_find(self, config->ports[i], element);
    }
}

// What is left to do of going from one event to another, by a life that was cut short there.
static void arrive(struct run *run)
{
    const struct wb_script_event *from = run->of;

    if (from->verb == WB_SCRIPT_END && run->spot.event == &run->events[from->other] + 1)
        run->spot.left[from->object] = run->turns;
    begin_event(run);
}

// What was held is lost with the life that held it. The event there has begun before less is held,
// or a life that is cut short in between would take it for one that it came to by a loop's end.
static void return_to_safe(struct run *run)
{
    run->spot = run->safe;
    wb_word_order();
    begin_event(run);
    wb_word_order();
    run->held = 0;
}

static void begin_anew(struct run *run)
{
    run->begun = false;
    if (run->held != 0)
        return_to_safe(run);
    else if (run->of != run->spot.event)
        arrive(run);
}

struct run *run_begin(struct wb_task *self, const struct wb_messages *messages)
{
    const uint32_t life = wb_word_load(&self->lives, WB_RELAXED);
    struct run *run = self->state;

    if (run == NULL) {
        run = run_alloc(self, 1, sizeof *run);
        run->of_task = self->scripted;
        run->script = self->scripted->script;
        run->events = run->spot.event = run->of = run->script->config.events;
        find_ends(self, run);
        run->timers = run_alloc(self, run->script->config.n_timers, sizeof *run->timers);
        run->start_ns = wb_kernel_now_ns();
        self->state = run;
    } else if (run->life != life) {
        begin_anew(run);
    }
    run->life = life;
    run->passing = (struct passing){ .messages = messages };
    if (run->script->config.n_timers != 0)
        self->job_deadline_ns = WB_FOREVER / 2;  // until a timer has been set
    return run;
}
