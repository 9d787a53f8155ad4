// SPDX-License-Identifier: Apache-2.0
// What the launcher of a simulation can do besides host.h.
#ifndef WB_SIM_HOST_H
#define WB_SIM_HOST_H

#include "host.h"
#include "private.h"

/// Builds the hardware from a platform's description. After wb_host_open(), before anything else.
///
/// Returns: false with the reason in `error`.
bool sim_host_platform(struct wb_host *host, const char *json, char *error, size_t error_bytes);

/// The memory that holds all of a simulation but its engine.
const struct gvm *sim_host_memory(const struct wb_host *host);

/// Stops a kernel in the midst of whatever it does, and has its tasks taken over.
void sim_host_kill(struct wb_host *host, uint32_t core);

/// What there is to tell after the simulation has run to `end`.
struct wb_host_event sim_host_event(struct wb_host *host, enum sim_end end);

#endif
