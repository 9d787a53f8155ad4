// SPDX-License-Identifier: Apache-2.0
// Counter: 64 bits, one writer, any number of readers.
//
// Where a pointer has 64 bits it is one word. On other cores the high half is kept twice (Lamport,
// "Concurrent reading and writing", 1977): the writer stores it before and after the low half,
// readers load it in the opposite order and try again while the two differ.
#ifndef WB_COUNTER_H
#define WB_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

// WB_COUNTER_HALVES, for tests: as where it has 32.
#if UINTPTR_MAX > UINT32_MAX && !defined WB_COUNTER_HALVES

struct wb_counter {
    _Atomic uint64_t value;  // one writer: the kernel that owns what is counted
};

/// Context: the one writer. Never blocks.
static inline void wb_counter_set(struct wb_counter *c, uint64_t value)
{
    // Release: whoever sees it sees what was counted.
    atomic_store_explicit(&c->value, value, memory_order_release);
}

/// Context: any core.
static inline uint64_t wb_counter_get(const struct wb_counter *c)
{
    return atomic_load_explicit(&c->value, memory_order_acquire);
}

/// Context: the one writer. Never blocks.
static inline void wb_counter_add(struct wb_counter *c, uint64_t n)
{
    wb_counter_set(c, atomic_load_explicit(&c->value, memory_order_relaxed) + n);
}

#else

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
    // The copies differ when the last writer was killed between them.
    if (high != atomic_load_explicit(&c->high, memory_order_relaxed) ||
        high != atomic_load_explicit(&c->high_again, memory_order_relaxed)) {
        atomic_store_explicit(&c->high, high, memory_order_relaxed);
        atomic_store_explicit(&c->low, (uint32_t)value, memory_order_release);
        atomic_store_explicit(&c->high_again, high, memory_order_release);
        return;
    }
    atomic_store_explicit(&c->low, (uint32_t)value, memory_order_release);
}

/// Context: any core. Looks again while the writer carries into the high half, but does not wait
/// for it: it may have been killed or preempted there. What has not changed between two looks is
/// how it stands, and then a low half in its upper half is the old one. That is exact for a counter
/// that goes up by less than 2^31 at a time.
static inline uint64_t wb_counter_get(const struct wb_counter *c)
{
    uint32_t high, low, again, last_high = 0, last_low = 0, last_again = 0;

    for (;;) {
        again = atomic_load_explicit(&c->high_again, memory_order_acquire);
        low = atomic_load_explicit(&c->low, memory_order_acquire);
        high = atomic_load_explicit(&c->high, memory_order_acquire);
        if (high == again || (high == last_high && low == last_low && again == last_again))
            break;
        last_high = high;
        last_low = low;
        last_again = again;
    }
    return (uint64_t)(low >> 31 != 0 ? again : high) << 32 | low;
}

// Out of the way of those who count: seldom is anything carried.
static __attribute__((cold, noinline, unused)) void wb_counter_carry(struct wb_counter *c,
                                                                     uint64_t n)
{
    wb_counter_set(c, wb_counter_get(c) + n);
}

/// Context: the one writer. Never blocks.
static inline void wb_counter_add(struct wb_counter *c, uint64_t n)
{
    const uint32_t low = atomic_load_explicit(&c->low, memory_order_relaxed);

    // Nearly always nothing is carried, and the last writer was not killed while it did.
    if (n <= UINT32_MAX - low && atomic_load_explicit(&c->high, memory_order_relaxed) ==
                                     atomic_load_explicit(&c->high_again, memory_order_relaxed))
        atomic_store_explicit(&c->low, low + (uint32_t)n, memory_order_release);
    else
        wb_counter_carry(c, n);
}

#endif

#endif
