// SPDX-License-Identifier: Apache-2.0
// The frequency of this core, by sysfs or emulated.
//
// An emulated core would be done with what has run here at `until_ns`: processor time of its tasks
// times how much slower it is. While that lies ahead it runs no task. What passes by itself,
// because the core idles or because Linux runs somebody else, is not made up for twice.

#define _GNU_SOURCE
#include <time.h>

#include "clock.h"
#include "private.h"
#include "wb/system.h"

enum {
    PATIENCE_NS = 100000,  // less than this is not worth a sleep: it is owed on
    CREDIT_NS = 10000000,  // what Linux may keep from us, and we make good
    STEP_NS_MAX = 1000000000,
    SLOWDOWN_PPM_MAX = 1000 * WB_PPM,
};

// This process's own.
static struct {
    enum frequency_mode mode;
    uint64_t slowdown_ppm;  // how many times longer this core takes than this machine
    uint64_t until_ns, ran_ns;
    uint64_t entered_ns;  // when it last took a point
} f = { .slowdown_ppm = WB_PPM };

void frequency_use(enum frequency_mode mode)
{
    f.mode = mode;
}

bool frequency_slows(void)
{
    return __builtin_expect(f.slowdown_ppm > WB_PPM, 0);
}

// By processor time, for the clock on the wall also runs while Linux runs somebody else here.
void frequency_begin_run(void)
{
    if (frequency_slows())
        f.ran_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

void frequency_count_run(uint64_t now_ns)
{
    if (!frequency_slows())
        return;
    const uint64_t to_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t left_ns = to_ns - f.ran_ns;

    f.ran_ns = to_ns;
    // In steps, so that no product passes 64 bits.
    for (; left_ns > STEP_NS_MAX; left_ns -= STEP_NS_MAX)
        f.until_ns += STEP_NS_MAX / WB_PPM * f.slowdown_ppm;
    f.until_ns += left_ns * f.slowdown_ppm / WB_PPM;
    if (f.until_ns + CREDIT_NS < now_ns)
        f.until_ns = now_ns - CREDIT_NS;
}

// As if this process had run that much longer since it last counted.
void frequency_add_run(uint64_t ran_ns)
{
    f.ran_ns -= ran_ns;
}

uint64_t frequency_until_ns(void)
{
    return f.until_ns;
}

bool frequency_owes(uint64_t now_ns)
{
    return f.until_ns > now_ns + PATIENCE_NS;
}

uint64_t frequency_rest(uint64_t since_ns, uint64_t now_ns, bool idle)
{
    const uint64_t busy_to_ns = f.until_ns < now_ns ? f.until_ns : now_ns;

    // Nobody waited: what was not used is lost.
    if (idle && f.until_ns < now_ns)
        f.until_ns = now_ns;
    return busy_to_ns > since_ns ? busy_to_ns - since_ns : 0;
}

// The core with the highest frequency of all runs as fast as this machine.
static uint64_t slowdown_ppm(const struct wb_core *core, uint32_t point)
{
    const uint64_t hz = core->points[point].hz, most_hz = core_highest_hz(core->system);

    // A frequency in hertz times a million fits: 2^64 is 18 terahertz times that.
    const uint64_t ppm = most_hz * WB_PPM / hz;
    return ppm < SLOWDOWN_PPM_MAX ? ppm : SLOWDOWN_PPM_MAX;
}

static bool take_point(struct wb_core *core, uint32_t point)
{
    switch (f.mode) {
    case FREQUENCY_NONE:
        return false;
    case FREQUENCY_EMULATE:
        f.slowdown_ppm = slowdown_ppm(core, point);
        return true;
    case FREQUENCY_CPUFREQ:
        return cpufreq_set(core->index, core->points[point].hz);
    }
    return false;
}

void frequency_start(struct wb_core *core, uint64_t now_ns)
{
    f.until_ns = f.entered_ns = now_ns;
    if (core->n_points != 0)
        (void)take_point(core, wb_word_load(&core->point, WB_RELAXED));
}

// Sets each core's frequency to the operating point that was asked for last. Only the newest
// request counts: `wanted_point` holds one, and a later one overwrites it.
void frequency_follow(struct wb_system *system)
{
    for (uint32_t i = 0; f.mode == FREQUENCY_CPUFREQ && i < system->n_cores; i++) {
        struct wb_core *core = system->cores[i];
        struct linux_core *lc = linux_core(core);
        const uint32_t asked = wb_word_load(&core->wanted_point, WB_RELAXED);
        const uint32_t wanted = asked == WB_POINT_OFF ? 0 : asked;
        if (wanted >= core->n_points || cpufreq_is(i, core->points[wanted].hz) ||
            !cpufreq_set(i, core->points[wanted].hz))
            continue;
        wb_counter_set(&lc->point_ns, clock_now_ns());
        // Release: the kernel that sees the point sees when that was.
        wb_word_store(&lc->point, wanted, WB_RELEASE);
    }
}

// When this core has taken a point: since the launcher set it, if that was after its last one.
static uint64_t taken_ns(struct wb_core *core, uint32_t point, uint64_t now_ns)
{
    const struct linux_core *lc = linux_core(core);

    // Acquire: see frequency_follow().
    if (f.mode != FREQUENCY_CPUFREQ || wb_word_load(&lc->point, WB_ACQUIRE) != point)
        return now_ns;
    const uint64_t set_ns = wb_counter_get(&lc->point_ns);
    return set_ns > f.entered_ns && set_ns < now_ns ? set_ns : now_ns;
}

void wb_kernel_set_point(uint32_t point)
{
    struct wb_core *core = kernel_system()->cores[wb_kernel_core()];
    const uint64_t now_ns = clock_now_ns();
    const bool slowed = frequency_slows();

    if (point >= core->n_points)
        return;
    frequency_count_run(now_ns);
    if (!take_point(core, point))
        return;
    if (!slowed)
        f.until_ns = now_ns;
    frequency_begin_run();
    f.entered_ns = taken_ns(core, point, now_ns);
    wb_core_enter_point(core, point, f.entered_ns);
}
