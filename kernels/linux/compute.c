// SPDX-License-Identifier: Apache-2.0
// Computing that is only modelled: so many cycles of this core, as processor time.
//
// Processor time, for a kernel that shares its processor is not to compute while another one does,
// and because it is what an emulated frequency stretches: cycles there take what they take on the
// core with the highest frequency of all, and frequency.c does the rest. Where the platform gives
// no frequency it is that of the processor's counter (clock_hz()).

#define _GNU_SOURCE
#include <time.h>

#include "arch.h"
#include "clock.h"
#include "private.h"

enum { NS_PER_S = 1000000000, READING_NS = 20000 };

uint64_t core_highest_hz(const struct wb_system *system)
{
    uint64_t hz = 0;

    for (uint32_t i = 0; i < system->n_cores; i++) {
        const struct wb_core *core = system->cores[i];
        if (core->n_points != 0 && core->points[core->n_points - 1].hz > hz)
            hz = core->points[core->n_points - 1].hz;
    }
    return hz;
}

static uint64_t hz_of(const struct wb_core *core)
{
    if (core->n_points == 0)
        return clock_hz();
    if (frequency_slows())
        return core_highest_hz(core->system);
    return core->points[wb_word_load(&core->point, WB_RELAXED)].hz;
}

// Whole seconds and the rest apart: neither product passes 64 bits below 18 GHz.
static uint64_t time_ns(uint64_t cycles, uint64_t hz)
{
    return cycles / hz * NS_PER_S + cycles % hz * NS_PER_S / hz;
}

// What reading the clock made it longer than it should have been is taken off the next one, so that
// firings of a microsecond take their time on average. An interruption that Linux charges to the
// task, as it does when a host stops a virtual processor, is not: it would make the next ones free.
void wb_kernel_compute(uint64_t cycles)
{
    static uint64_t too_long_ns;  // in this process
    const struct wb_system *system = kernel_system();

    if (!system->config.models_compute)
        return;
    const uint64_t need_ns = time_ns(cycles, hz_of(system->cores[wb_kernel_core()]));
    if (need_ns <= too_long_ns) {
        too_long_ns -= need_ns;
        return;
    }
    const uint64_t until_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + (need_ns - too_long_ns);
    uint64_t now_ns;
    while ((now_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID)) < until_ns)
        arch_relax();
    const uint64_t over_ns = now_ns - until_ns;
    too_long_ns = over_ns < READING_NS ? over_ns : 0;
}
