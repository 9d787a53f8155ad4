// SPDX-License-Identifier: Apache-2.0
// What only the simulator knows to record: power, and the frequency that a core starts with.
//
// An idle core goes through its idle states without an event. The engine knows when it did, so
// that is recorded later, with the time at which it happened, before anything else of the core is.
#include "private.h"

static void record_power(struct sim_core *c, uint64_t at_ps)
{
    const uint32_t uw = engine_power_uw(sim.engine, c->core->index, at_ps);

    c->recording.until_ps = at_ps;
    if (uw == c->recording.uw)
        return;
    c->recording.uw = uw;
    wb_record_event(c->core, WB_EVENT_POWER, UINT32_MAX, 0, uw, at_ps / PS_PER_NS);
}

void sim_emit_power(struct sim_core *c)
{
    const struct engine *engine = sim.engine;
    const uint32_t core = c->core->index;
    uint64_t at_ps;

    while ((at_ps = engine_next_passage(engine, core, c->recording.until_ps)) < engine->now_ps)
        record_power(c, at_ps);
    record_power(c, engine->now_ps);
    c->recording.next_ps =
        at_ps > engine->now_ps ? at_ps : engine_next_passage(engine, core, engine->now_ps);
}

void sim_record_change(struct sim_core *c)
{
    c->recording.next_ps = 0;
    sim_record_power(c);
}

void sim_record_all_power(void)
{
    for (uint32_t i = 0; i < sim.system->n_cores; i++)
        sim_record_power(&sim.cores[i]);
}

void sim_record_start(struct sim_core *c)
{
    const struct wb_core *core = c->core;

    if (core->record.events.slots == 0)
        return;
    if (core->n_points != 0) {
        const uint32_t at = wb_word_load(&core->point, WB_RELAXED);
        wb_record_event(c->core, WB_EVENT_FREQUENCY, UINT32_MAX, 0, core->points[at].hz / 1000,
                        sim_now_ns());
    }
    c->recording.uw = UINT32_MAX;  // so that the first power is recorded, whatever it is
    record_power(c, sim.engine->now_ps);
}
