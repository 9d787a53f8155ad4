// SPDX-License-Identifier: Apache-2.0
// What tests share that damage bytes again and again, the same ones on every machine.
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/// A number below `most`, by Numerical Recipes' generator.
static inline uint32_t random_below(uint32_t most)
{
    static uint32_t state = 1;

    state = state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)state * most >> 32);
}

/// How often to try: what the environment says by `name`, or as usual.
static inline uint32_t fuzz_tries(const char *name, uint32_t usual)
{
    const char *wanted = getenv(name);

    return wanted ? (uint32_t)strtoul(wanted, NULL, 10) : usual;
}

/// A copy of which fewer than `most` bytes are others. Memory of its size, so that what is read
/// behind it is seen; the caller frees it.
static inline uint8_t *damaged(const void *whole, size_t bytes, uint32_t most)
{
    uint8_t *copy = malloc(bytes ? bytes : 1);

    CHECK(copy);
    memcpy(copy, whole, bytes);
    for (uint32_t n = bytes ? random_below(most) : 0; n > 0; n--)
        copy[random_below((uint32_t)bytes)] = (uint8_t)random_below(256);
    return copy;
}

#endif
