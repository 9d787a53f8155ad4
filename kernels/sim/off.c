// SPDX-License-Identifier: Apache-2.0
// Cores that are off: a row of a table has no task on them (WB_POINT_OFF), so they draw nothing,
// and their agents report nothing. Whatever rings such a core has it on again.
#include "private.h"

static bool has_coordinator(const struct wb_core *core)
{
    const struct wb_control *control = &core->system->control;

    return wb_word_load(&control->coordinator, WB_RELAXED) == core->index;
}

bool sim_may_be_off(const struct sim_core *c)
{
    return wb_core_is_let_off(c->core) && c->core->report.residents != NULL &&
           !wb_agent_has_residents(c->core) && !has_coordinator(c->core);
}

static void turn(struct sim_core *c, bool off)
{
    c->power.off = off;
    engine_turn_off(sim.engine, c->core->index, off);
    c->recording.next_ps = 0;
}

// A tick that is still planned would wake it: the core is silent after it (core.c).
void sim_turn_off(struct sim_core *c)
{
    if (sim_may_be_off(c))
        turn(c, true);
}

void sim_turn_on(struct sim_core *c)
{
    turn(c, false);
}

void sim_start_off(struct sim_core *c)
{
    wb_word_init(&c->core->wanted_point, WB_POINT_OFF);
    c->core->report.obeyed_point = WB_POINT_OFF;
    c->agent.tick_due = false;
    c->power.idle = c->agent.silent = c->power.off = true;
    sim_record_start(c);
}
