// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "arch.h"
#include "wb/kernel.h"

// Inherited by the kernels.
static struct clock_rate the_clock;

uint64_t clock_read_ns(int id)
{
    struct timespec t = { 0 };

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Linux has checked the counter (constant rate, the same on every core) if its own clock uses it.
static bool linux_trusts_counter(void)
{
    char name[32] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

    if (f == NULL)
        return false;
    const bool read = fgets(name, sizeof name, f) != NULL;
    fclose(f);
    return read && (strcmp(name, "tsc\n") == 0 || strcmp(name, "arch_sys_counter\n") == 0);
}

struct instant {
    uint64_t ns, ticks;
};

// Both clocks at one time: of several pairs that which took least, so that an interruption between
// the two readings does not count.
static struct instant read_both(void)
{
    struct instant best = { 0 };
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 16; i++) {
        const uint64_t before = arch_ticks(), ns = clock_read_ns(CLOCK_MONOTONIC);
        const uint64_t after = arch_ticks();

        if (after - before >= least)
            continue;
        least = after - before;
        best = (struct instant){ ns, before + (after - before) / 2 };
    }
    return best;
}

static uint64_t measure_hz(void)
{
    const struct timespec wait = { .tv_nsec = 20000000 };
    const struct instant from = read_both();

    nanosleep(&wait, NULL);
    const struct instant to = read_both();
    return (uint64_t)((double)(to.ticks - from.ticks) * 1e9 / (double)(to.ns - from.ns));
}

void clock_init(bool is_common)
{
    the_clock = (struct clock_rate){ .hz = 1000000000 };
    the_clock.counter = !is_common && linux_trusts_counter();
    if (!the_clock.counter) {
        the_clock.start = clock_read_ns(CLOCK_MONOTONIC);
        return;
    }
    const uint64_t hz = arch_ticks_hz() != 0 ? arch_ticks_hz() : measure_hz();
    if (arch_ticks_hz() == 0)
        the_clock.hz = hz;
    double ns = 1e9 / (double)hz;
    for (; ns >= 1; ns /= 2)
        the_clock.shift++;
    the_clock.factor = (uint64_t)(ns * 0x1p64);
    the_clock.start = arch_ticks();
}

struct clock_rate clock_rate(void)
{
    return the_clock;
}

void clock_use(struct clock_rate rate)
{
    the_clock = rate;
}

// inline: what links it takes it into the paths that are to be short.
inline uint64_t clock_now_ns(void)
{
    __extension__ typedef unsigned __int128 wide;

    if (__builtin_expect(!the_clock.counter, 0))
        return clock_read_ns(CLOCK_MONOTONIC) - the_clock.start;
    const uint64_t ticks = (arch_ticks() - the_clock.start) << the_clock.shift;
    // Fixed point: what is wanted is the upper half of one product.
    return (uint64_t)((wide)ticks * the_clock.factor >> 64);
}

uint64_t wb_kernel_now_ns(void)
{
    return clock_now_ns();
}

uint64_t wb_kernel_stamp_ns(void)
{
    return clock_now_ns();
}

uint64_t clock_hz(void)
{
    return the_clock.hz;
}

const char *clock_name(void)
{
    return the_clock.counter ? "counter" : "monotonic";
}
