// SPDX-License-Identifier: Apache-2.0
// The clock of a board whose frequencies are always the same.

#include "arm_board.h"
#include "mpcore_clock.h"

enum { NS_PER_COUNT = 1000000000 / MAP_TIMER_HZ };

void clock_begin(void) {}

uint32_t clock_hz(void)
{
    return MAP_TIMER_HZ;
}

uint64_t board_now_ns(void)
{
    return clock_counts() * NS_PER_COUNT;
}

uint64_t board_hz(void)
{
    return MAP_HZ;
}
