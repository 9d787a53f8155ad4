// SPDX-License-Identifier: Apache-2.0
#include "medium.h"

enum { MILLION = 1000000 };

// Numerical Recipes' generator, of which the upper bits are used.
static uint32_t random_below(uint32_t *state, uint32_t most)
{
    *state = *state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)*state * most >> 32);
}

void medium_pass(const struct medium *medium, uint32_t number, uint8_t *data, size_t bytes)
{
    const uint32_t bits = (uint32_t)bytes * 8;
    uint32_t state = medium->seed ^ (number + 1) * 2654435769;
    // Twice the average in parts of a million, of which a random share is taken.
    const uint64_t most = (uint64_t)bits * medium->errors * 2;

    (void)random_below(&state, 1);
    if (most == 0)
        return;
    const uint32_t share = random_below(&state, MILLION), rest = random_below(&state, MILLION);
    for (uint64_t n = (most / MILLION * share + most % MILLION * share / MILLION + rest) / MILLION;
         n > 0; n--) {
        const uint32_t at = random_below(&state, bits);

        data[at / 8] ^= (uint8_t)(1 << at % 8);
    }
}
