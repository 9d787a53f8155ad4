// SPDX-License-Identifier: Apache-2.0
// Core 0 hands blocks to core 1, and both work on data of their own between. Prints the cycles.
#include "soc.h"

enum { WORDS = 64, OWN_WORDS = 256, ROUNDS = 100, PASSES = 2 };

#define SHARED __attribute__((section(".shared"), aligned(16)))

SHARED static volatile uint32_t block[WORDS];
SHARED static volatile uint32_t full, sum;
static volatile uint32_t own[2][OWN_WORDS];

__attribute__((interrupt)) void trap(void)
{
    soc_exit(1);
}

static void work(uint32_t core)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < OWN_WORDS; i++)
            own[core][i] += (uint32_t)i;
}

// Waits until the block is full, or empty, without filling the bus with looks at it.
static void wait_for(uint32_t state)
{
    for (;;) {
        soc_lock(&full);
        const uint32_t now = full;
        soc_unlock(&full);
        if (now == state)
            return;
    }
}

static void hand_over(uint32_t state)
{
    soc_lock(&full);
    full = state;
    soc_unlock(&full);
}

static void produce(void)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        work(0);
        wait_for(0);
        for (uint32_t i = 0; i < WORDS; i++)
            block[i] = round + i;
        hand_over(1);
    }
}

static void consume(void)
{
    uint32_t total = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        work(1);
        wait_for(1);
        for (uint32_t i = 0; i < WORDS; i++)
            total += block[i];
        sum = total;
        hand_over(0);
    }
}

void core_main(uint32_t core)
{
    if (core == 1)
        consume();
    if (core > 0)
        return;
    const uint32_t begin = soc_cycles();
    produce();
    wait_for(0);
    soc_put_number(soc_cycles() - begin);
    soc_put("\n");
    const uint32_t expected =
        ROUNDS * (WORDS * (WORDS - 1) / 2) + WORDS * (ROUNDS * (ROUNDS - 1) / 2);
    soc_exit(sum == expected ? 0 : 1);
}
