// SPDX-License-Identifier: Apache-2.0
// For a board on which any reset starts all cores at the same time: the others wait for a word of
// its system registers. Any reset clears this word; memory keeps its content.

#include "map.h"
#include "secondary.h"

#include <stdint.h>

enum { RELEASED = 1 };

static volatile uint32_t *const flags = (volatile uint32_t *)MAP_FLAGS;
static volatile uint32_t *const flags_clear = (volatile uint32_t *)MAP_FLAGS_CLEAR;

void secondary_hold(void)
{
    *flags_clear = ~0u;
}

void secondary_release(void)
{
    *flags = RELEASED;  // sets this bit
    __asm__ volatile("dsb\n sev");
}

void secondary_wait(void)
{
    while ((*flags & RELEASED) == 0)
        __asm__ volatile("wfe");
}
