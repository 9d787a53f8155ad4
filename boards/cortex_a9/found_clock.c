// SPDX-License-Identifier: Apache-2.0
// The clock of a board whose boot loader sets the frequency. The cores' timers count at half of the
// cores' frequency.

#include "arm_board.h"
#include "mpcore_clock.h"

enum { SHIFT = 24, LEAST_HZ = 4000000 };  // of what has room in ns_per_count

// Globally visible; written by the first core while there is no kernel.
static struct {
    uint32_t hz;
    uint32_t ns_per_count;  // times 2^SHIFT
} rate __attribute__((section(".gvm")));

void clock_begin(void)
{
    if (rate.hz != 0)
        return;
    const char *wrong = NULL;
    rate.hz = clock_find_hz(&wrong);
    if (rate.hz < LEAST_HZ) {
        wrong = "the timers of the cores count at less than 4 MHz: raise their frequency in the "
                "boot loader";
        rate.hz = LEAST_HZ;
    }
    rate.ns_per_count = (uint32_t)((1000000000ull << SHIFT) / rate.hz);
    if (wrong != NULL)
        board_failed(WB_CORE_NONE, "", wrong);
}

uint32_t clock_hz(void)
{
    return rate.hz;
}

uint64_t board_now_ns(void)
{
    const uint64_t counts = clock_counts(), ns_per_count = rate.ns_per_count;

    return ((counts >> 32) * ns_per_count << (32 - SHIFT)) +
           ((uint32_t)counts * ns_per_count >> SHIFT);
}

uint64_t board_hz(void)
{
    return 2ull * clock_hz();
}
