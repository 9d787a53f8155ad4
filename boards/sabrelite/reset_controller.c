// SPDX-License-Identifier: Apache-2.0
// The i.MX6's System Reset Controller (SRC) keeps all cores except the first in reset. A core that
// it starts goes through the boot ROM to the address in that core's register of the SRC.

#include <stdint.h>

#include "map.h"
#include "secondary.h"

#define CONTROL (*(volatile uint32_t *)MAP_SRC)
#define ENTRY(core) (*(volatile uint32_t *)(MAP_SRC + 0x20 + (core)*8))
#define ARGUMENT(core) (*(volatile uint32_t *)(MAP_SRC + 0x24 + (core)*8))

// Of CONTROL, from the second core on.
enum { RESETS = 7 << 14, ENABLES = 7 << 22 };

void _start(void);

void secondary_hold(void)
{
    CONTROL = (CONTROL & ~(uint32_t)ENABLES) | RESETS;
}

void secondary_release(void)
{
    for (uint32_t core = 1; core < MAP_CORES; core++) {
        ENTRY(core) = (uint32_t)_start;
        ARGUMENT(core) = 0;
    }
    __asm__ volatile("dsb");
    CONTROL |= RESETS | ENABLES;
}

// A core that runs has been released.
void secondary_wait(void) {}
