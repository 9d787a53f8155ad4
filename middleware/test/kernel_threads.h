// SPDX-License-Identifier: Apache-2.0
// A kernel of threads, to run the middleware's protocols for real in one process, under
// ThreadSanitizer and AddressSanitizer.
//
// Every core has a thread for its loop, every task one of its own; a core passes the turn between
// its loop and its tasks, so that one of them runs at a time. Cores share nothing but what the
// middleware shares: no lock and no doorbell of this kernel orders what one does after what another
// did, so a race in the middleware stays a race. Idle cores poll their inboxes.
#ifndef WB_KERNEL_THREADS_H
#define WB_KERNEL_THREADS_H

#include "build.h"

/// An empty system of `cores` cores in fresh memory.
struct wb_system *threads_open(uint32_t cores);

/// Runs the system until every task has ended. Ends the program if that takes four minutes.
void threads_run(void);

/// Whether the run has taken a second already. Tests that repeat something stop then: beside other
/// work, each change of threads may take milliseconds.
bool threads_are_late(void);

#endif
