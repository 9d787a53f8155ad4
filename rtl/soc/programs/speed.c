// SPDX-License-Identifier: Apache-2.0
// Keeps two cores busy for a million cycles or so: how fast is the model?
#include "soc.h"

enum { WORDS = 64, ROUNDS = 60000 };

static volatile uint32_t data[4][WORDS];

__attribute__((interrupt)) void trap(void)
{
    soc_exit(1);
}

void core_main(uint32_t core)
{
    uint32_t random = core + 1;
    for (int i = 0; i < ROUNDS || core > 0; i++) {
        random = random * 1103515245U + 12345;
        data[core][random >> 26] += random;
    }
    soc_exit(0);
}
