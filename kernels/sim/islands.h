// SPDX-License-Identifier: Apache-2.0
// Independent islands of a run, on several processors.
#ifndef WB_SIM_ISLANDS_H
#define WB_SIM_ISLANDS_H

#include "helper.h"

enum islands_end {
    ISLANDS_OVER,    // the run is over, or has failed with its error told
    ISLANDS_AGAIN,   // it has to begin again, in one process: what went wrong is to be told there
    ISLANDS_UNABLE,  // nothing has happened: the machine has no room for processes
};

/// The islands of a plan are known from here on. `together`: they stay in one process.
void islands_begin(const struct helper *h, bool together);

/// There are several, with processors for them, and the simulation is where they can be parted.
bool islands_pay(void);

/// Simulates each in one of several processes, from now to the end of the run.
enum islands_end islands_run(struct helper *h);

/// What `stop` in a plan does to a run with islands.
void islands_stop(struct helper *h);

#endif
