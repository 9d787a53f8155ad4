// SPDX-License-Identifier: Apache-2.0
// Samples of what something costs on the SoC, in cycles, in a case of the conformance suite: a line
// `cost NAME CYCLES` or `cost NAME.NUMBER CYCLES` for each.
//
// They are printed when the case is over: printing one in between would empty the caches of what
// the next one is of.
#ifndef SAMPLES_H
#define SAMPLES_H

#include "soc_regs.h"
#include "suite.h"

enum { SAMPLES_NO_NUMBER = UINT32_MAX };

/// The clock of all cores. What is in memory is written before, and is loaded after.
static inline uint32_t samples_now(void)
{
    __asm__ volatile("" ::: "memory");
    const uint32_t cycles = *(volatile uint32_t *)(SOC_TIMER_BASE + TIMER_TIME);
    __asm__ volatile("" ::: "memory");
    return cycles;
}

/// Keeps a sample. One task at a time does. `name` stays.
///
/// Context: a task of the case. Never blocks.
void samples_keep(struct wb_task *self, const char *name, uint32_t number, uint32_t cycles);

/// Runs what has been laid out, as a run that is not recorded, then prints its samples.
void samples_run(struct harness *h);

#endif
