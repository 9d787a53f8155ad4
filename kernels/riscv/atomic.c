// SPDX-License-Identifier: Apache-2.0
// The compiler's functions for atomic operations on words, for cores without atomic instructions:
// a load and a store between which the core has the word's lock of the Lock Unit.
// It is held for a load and a store. In which order others see them: lock.h.

#include <stdbool.h>
#include <stdint.h>

#include "lock.h"

// The compiler knows these names, with types of its own.
#define UPDATE(name, next)                                                                         \
    uint32_t name(volatile uint32_t *at, uint32_t with,                                            \
                  int order) __asm__("__atomic_" #name "_4");                                      \
    uint32_t name(volatile uint32_t *at, uint32_t with, int order)                                 \
    {                                                                                              \
        const uint32_t state = lock(at), last = *at;                                               \
                                                                                                   \
        (void)order;                                                                               \
        *at = next;                                                                                \
        unlock(at, state);                                                                         \
        return last;                                                                               \
    }

UPDATE(exchange, with)
UPDATE(fetch_add, last + with)
UPDATE(fetch_sub, last - with)
UPDATE(fetch_and, last &with)
UPDATE(fetch_or, last | with)

bool compare_exchange(volatile uint32_t *at, uint32_t *expected, uint32_t next, bool weak, int yes,
                      int no) __asm__("__atomic_compare_exchange_4");

bool compare_exchange(volatile uint32_t *at, uint32_t *expected, uint32_t next, bool weak, int yes,
                      int no)
{
    const uint32_t state = lock(at), last = *at;
    const bool same = last == *expected;

    (void)weak;
    (void)yes;
    (void)no;
    if (same)
        *at = next;
    unlock(at, state);
    if (!same)
        *expected = last;
    return same;
}
