// SPDX-License-Identifier: Apache-2.0
// The boot ROM of a Zynq-7000 has the second core wait, with its caches off, for an event and an
// address (Zynq-7000 Technical Reference Manual, "Starting Code on CPU 1"). A reset of the chip
// puts it back there, a reset of the first core alone does not.

#include <stdint.h>

#include "map.h"
#include "secondary.h"

void _start(void);

void secondary_hold(void) {}

void secondary_release(void)
{
    *(volatile uint32_t *)MAP_RELEASE = (uint32_t)_start;
    __asm__ volatile("dsb\n sev");
}

// A core that runs has been released.
void secondary_wait(void) {}
