// SPDX-License-Identifier: Apache-2.0
// As many cores as the serial line says work, each on data of its own: first on data that fit a
// cache, then on data that do not. Prints the cycles of both, for as much work in all.
#include "soc.h"

enum { MOST_CORES = 4, SMALL_WORDS = 256, LARGE_WORDS = 4096, ACCESSES = 48 * 1024 };

static volatile uint32_t data[MOST_CORES][LARGE_WORDS];
static volatile uint32_t cores, arrived[MOST_CORES];

__attribute__((interrupt)) void trap(void)
{
    soc_exit(1);
}

static void meet(uint32_t core)
{
    arrived[core]++;
    for (uint32_t other = 0; other < cores; other++)
        while (arrived[other] < arrived[core]) {}
}

static void work(uint32_t core, uint32_t words)
{
    const uint32_t share = ACCESSES / cores;
    uint32_t sum = 0, at = 0;
    for (uint32_t i = 0; i < share; i++) {
        sum += data[core][at];
        at = (at + 5) & (words - 1);  // another line each time
    }
    data[core][0] = sum;
}

static void measure(uint32_t core, uint32_t words)
{
    meet(core);
    const uint32_t begin = soc_cycles();
    work(core, words);
    meet(core);
    if (core == 0) {
        soc_put_number(soc_cycles() - begin);
        soc_put("\n");
    }
}

void core_main(uint32_t core)
{
    if (core == 0)
        cores = (uint32_t)(soc_get() - '0');
    while (cores == 0) {}
    if (core >= cores)
        return;
    measure(core, SMALL_WORDS);
    measure(core, LARGE_WORDS);
    if (core == 0)
        soc_exit(0);
}
