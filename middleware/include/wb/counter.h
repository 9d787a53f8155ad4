// SPDX-License-Identifier: Apache-2.0
// Counter: 64 bits, one writer, any number of readers, on cores without 64-bit atomics.
//
// The high half is kept twice (Lamport, "Concurrent reading and writing", 1977): the writer stores
// it before and after the low half, readers load it in the opposite order and try again while the
// two differ.
#ifndef WB_COUNTER_H
#define WB_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

struct wb_counter {
    _Atomic uint32_t high;  // one writer: the kernel that owns what is counted
    _Atomic uint32_t low;
    _Atomic uint32_t high_again;
};

/// Context: the one writer. Never blocks.
static inline void wb_counter_set(struct wb_counter *c, uint64_t value)
{
    const uint32_t high = (uint32_t)(value >> 32);

    // Each release orders the store before it: a reader that sees the new low half also sees the
    // new high half, and one that sees the second copy sees the low half.
    if (high != atomic_load_explicit(&c->high, memory_order_relaxed)) {
        atomic_store_explicit(&c->high, high, memory_order_relaxed);
        atomic_store_explicit(&c->low, (uint32_t)value, memory_order_release);
        atomic_store_explicit(&c->high_again, high, memory_order_release);
        return;
    }
    atomic_store_explicit(&c->low, (uint32_t)value, memory_order_release);
}

/// Context: any core. Retries while the writer carries into the high half, but not for ever: a
/// writer that was killed there must not hang its readers.
static inline uint64_t wb_counter_get(const struct wb_counter *c)
{
    uint32_t high = 0, low = 0;

    for (int tries = 0; tries < 1000; tries++) {
        const uint32_t again = atomic_load_explicit(&c->high_again, memory_order_acquire);
        low = atomic_load_explicit(&c->low, memory_order_acquire);
        high = atomic_load_explicit(&c->high, memory_order_relaxed);
        if (high == again)
            break;
    }
    return (uint64_t)high << 32 | low;
}

/// Context: the one writer. Never blocks.
static inline void wb_counter_add(struct wb_counter *c, uint64_t n)
{
    wb_counter_set(c, wb_counter_get(c) + n);
}

#endif
