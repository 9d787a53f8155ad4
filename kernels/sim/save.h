// SPDX-License-Identifier: Apache-2.0
// A simulation in a file, to go on from in another process.
//
// What is saved: globally visible memory (the system, stacks, heaps, the module's globals), the
// engine, and where the loop is. What is not: what an application has outside of that memory, as
// the content of a file that it has written. Both processes must have their code at the same
// addresses, which sim_fix_addresses() sees to, and have built the same system from the same plan.
#ifndef WB_SIM_SAVE_H
#define WB_SIM_SAVE_H

#include "sim_host.h"

/// Starts the program again without address randomisation, if it has that and it can be had.
///
/// Context: the first thing that main() does. Does not return if it starts again.
void sim_fix_addresses(char **argv);

/// Writes the simulation to a file, whole or not at all. `id`: what a plan has that can go on from
/// it.
///
/// Context: the launcher, while the loop does not run. Blocks.
/// Returns: NULL, or what is wrong.
const char *sim_save(struct wb_host *host, const char *path, const char *id);

/// Makes the simulation that was just started the one in the file.
///
/// Context: as sim_save().
/// Returns: NULL, or what is wrong; the simulation is then of no use any more.
const char *sim_restore(struct wb_host *host, const char *path, const char *id);

#endif
