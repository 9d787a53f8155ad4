// SPDX-License-Identifier: Apache-2.0
// The cores' timers count at half of the cores' frequency, which U-Boot has set; in QEMU they count
// at 100 MHz. The first core measures that against a timer of the SoC, which counts at an eighth of
// the crystal's 24 MHz.

#include "mpcore_clock.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define CCGR1 REGISTER(MAP_CCM + 0x6c)  // gates of clocks
#define CONTROL REGISTER(MAP_GPT)       // registers of the General Purpose Timer
#define PRESCALER REGISTER(MAP_GPT + 4)
#define INTERRUPTS REGISTER(MAP_GPT + 0xc)
#define COUNT REGISTER(MAP_GPT + 0x24)

enum {
    OF_GPT = 0xf << 20,  // of CCGR1
    ENABLED = 1 << 0,    // of CONTROL
    FROM_ZERO = 1 << 1,
    CRYSTAL = 5 << 6,
    FREE_RUN = 1 << 9,
    REFERENCE_MHZ = 3,      // of COUNT
    LEAST_COUNTS = 3000,    // of the reference: a millisecond
    MOST_COUNTS = 1 << 30,  // of the clock, for as many: a second or more
    USUAL_MHZ = 396,        // at which U-Boot leaves it
    PRECISION = 2000,       // of the distance of two samples, in their widths
};

// The count of the reference at some time from `begin` to `end` of the clock.
struct sample {
    uint64_t begin, end;
    uint32_t count;
};

static struct sample take_sample(void)
{
    const uint64_t begin = clock_counts();
    const uint32_t count = COUNT;

    return (struct sample){ .begin = begin, .end = clock_counts(), .count = count };
}

static uint64_t width(const struct sample *sample)
{
    return sample->end - sample->begin;
}

// The narrowest of some: the host of an emulator may interrupt it in any.
static struct sample take_first(void)
{
    struct sample first = take_sample();

    for (uint32_t i = 0; i < 16; i++) {
        const struct sample next = take_sample();
        if (width(&next) < width(&first))
            first = next;
    }
    return first;
}

// To the nearest MHz: the samples are PRECISION times as far apart as they are wide. 0: the
// reference does not count.
static uint32_t measure_mhz(void)
{
    const struct sample first = take_first();
    struct sample last;
    uint32_t counts;

    do {
        last = take_sample();
        counts = last.count - first.count;
        if (counts < LEAST_COUNTS && last.begin - first.end >= MOST_COUNTS)
            return 0;
    } while (counts < LEAST_COUNTS ||
             last.begin - first.end < PRECISION * (width(&first) + width(&last)));
    const uint64_t passed = (last.begin - first.begin + last.end - first.end) / 2;
    return (uint32_t)((passed * REFERENCE_MHZ + counts / 2) / counts);
}

uint32_t clock_find_hz(const char **wrong)
{
    CCGR1 |= OF_GPT;
    CONTROL = 0;
    INTERRUPTS = 0;
    PRESCALER = 0;
    CONTROL = FREE_RUN | CRYSTAL | FROM_ZERO;
    CONTROL = FREE_RUN | CRYSTAL | FROM_ZERO | ENABLED;
    const uint32_t mhz = measure_mhz();
    CONTROL = 0;
    if (mhz == 0)
        *wrong = "the General Purpose Timer does not count, which the clock is measured against: "
                 "start the board by U-Boot";
    return (mhz != 0 ? mhz : USUAL_MHZ) * 1000000;
}
