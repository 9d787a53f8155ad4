// SPDX-License-Identifier: Apache-2.0
// The agent and the coordinator, for each other.
#ifndef WB_DECIDE_H
#define WB_DECIDE_H

#include "../base/base.h"

/// Another operating point is asked for than the core's agent has obeyed last.
static inline bool wb_agent_is_asked(const struct wb_core *core)
{
    return wb_word_load(&core->wanted_point, WB_RELAXED) != core->report.obeyed_point;
}

/// Asks the policy, if that is the part of this core, and sends what it decides.
void wb_coordinator_tick(struct wb_core *core, uint64_t now_ns);

/// Gives the part of a dead coordinator to the next living core.
void wb_coordinator_replace(struct wb_system *system);

#endif
